"""Extrema of a fixed number of rows, and their positions, where the data rises and falls in long runs.

::

    values     1  4  6  9  7  5  2  3  8          monotone runs:  1 4 6 9 | 9 7 5 2 | 2 3 8
    minimum of a window of 3 rows
      within a run                the first or the last value          (1 4 6), (9 7 5)
      over a peak                 the better of both ends              (6 9 7)
      over a trough               the trough                           (5 2 3)

In a run either every older value wins against the next one, or every newer one does, under the order and its
rule of ties. Of two neighbours exactly one wins unless one is NaN, so NaN ends every run. Two runs meet at a
local extremum: a *trough*, which is the best value of its windows, or a *peak*, the worst of them; for a
maximum the two are exchanged. A window over one of them, whatever its width, is answered by that extremum
or by its two ends. Over a peak the oldest row is the better end at first and the newest later, since one end
comes nearer to the peak and the other moves away.

State: the last known value of the run. Invariant: the rows before ``row`` are written. Cost: a load, a
comparison and a store for each vector of results, as long as no window holds two local extrema; the
kernel stops at the first short run, and leaves the rest to others.

Source: own construction.
"""

from typing import NamedTuple

from numpy.typing import NDArray

from rollstat.compile.jit import kernel
from rollstat.compile.lowering import prefetch_to_write
from rollstat.compile.simd.vectors import lanes_of, load, store
from rollstat.kernels.simd.comparator import Oldest, all_newer_win, all_older_win, choose
from rollstat.kernels.simd.fill_copy import copy, count_up, fill, store_and_prefetch
from rollstat.thresholds import MONOTONE_RUN

__all__ = ["Results", "answer", "answer_values", "copy_run"]

# Positions are written in groups of this many rows.
_GROUP = 256
# Results are requested from the cache this many vectors before they are written.
_AHEAD = 16


class Results(NamedTuple):
    """Outputs; those without a length are not wanted."""

    position: NDArray
    best: NDArray


@kernel(forceinline=True)
def _continues(order, ties, older_wins, values, i):
    """Return whether all pairs of neighbours that begin with the vector at `i` belong to the run."""
    older, newer = load(values, i), load(values, i + 1)
    return (
        all_older_win(order, ties, older, newer) if older_wins else all_newer_win(order, ties, older, newer)
    )


@kernel(forceinline=True)
def _pair_continues(order, ties, older_wins, older, newer):
    """Return whether one pair of neighbours belongs to the run."""
    newer_wins = choose(order, ties, older, newer, False, True)
    return older == older and newer == newer and newer_wins != older_wins


@kernel
def _end_of_run(order, ties, older_wins, values, begin, limit):
    """Return the last row of the run from `begin` on, but not beyond `limit`."""
    lanes = lanes_of(values)
    end = begin
    while end + lanes <= limit and _continues(order, ties, older_wins, values, end):
        end += lanes
    while end < limit and _pair_continues(order, ties, older_wins, values[end], values[end + 1]):
        end += 1
    return end


@kernel
def copy_run(order, ties, older_wins, values, out, prefetch_source):
    """Copy `values` to `out` up to the end of the run; return whether they are two or more and all one run.

    In the run every older value wins against the next one if `older_wins`, else every newer one. Meanwhile
    the cache fetches as many elements of `prefetch_source`.
    """
    lanes, last, i = lanes_of(values), len(values) - 1, 0
    while i + lanes <= last and _continues(order, ties, older_wins, values, i):
        store_and_prefetch(load(values, i), out, i, prefetch_source)
        i += lanes
    if last < 1 or i + lanes <= last:
        return False
    for j in range(i, last):
        if not _pair_continues(order, ties, older_wins, values[j], values[j + 1]):
            return False
    copy(values[i:], out[i : len(values)])
    return True


@kernel
def _within_run(order, ties, older_wins, values, width, shift, end, results):
    """Answer the windows within a run that is known up to `end`; return the last row of the run.

    The windows that end up to `end` are answered already.
    """
    position, best = results
    lanes = lanes_of(values)
    winner = 0 if older_wins else width - 1
    row, origin = end - width + 2, shift + winner
    written = row
    while end + lanes < len(values) and _continues(order, ties, older_wins, values, end):
        if len(position) > 0:
            prefetch_to_write(position, row + _AHEAD * lanes)
            if row - written >= _GROUP:
                count_up(origin + written, position[written:row])
                written = row
        if len(best) > 0:
            prefetch_to_write(best, row + _AHEAD * lanes)
            store(load(values, row + winner), best, row)
        end += lanes
        row += lanes
    if len(position) > 0:
        count_up(origin + written, position[written:row])
    while end + 1 < len(values) and _pair_continues(order, ties, older_wins, values[end], values[end + 1]):
        if len(position) > 0:
            position[row] = origin + row
        if len(best) > 0:
            best[row] = values[row + winner]
        end += 1
        row += 1
    return end


@kernel
def _first_with_better_newest(order, ties, values, width, first, last):
    """Return the first of the windows ``first, ..., last - 1`` that its newest row answers, else `last`.

    The windows lie over one peak.
    """
    while first < last:
        middle = (first + last) // 2
        if choose(order, ties, values[middle], values[middle + width - 1], True, False):
            first = middle + 1
        else:
            last = middle
    return first


@kernel
def _over_extremum(order, ties, is_peak, values, width, shift, first, last, extremum, results):
    """Answer the windows ``first, ..., last - 1`` over one local extremum, at row `extremum`."""
    position, best = results
    if is_peak:
        crossing = _first_with_better_newest(order, ties, values, width, first, last)
        if len(position) > 0:
            count_up(shift + first, position[first:crossing])
            count_up(shift + crossing + width - 1, position[crossing:last])
        if len(best) > 0:
            copy(values[first:], best[first:crossing])
            copy(values[crossing + width - 1 :], best[crossing:last])
        return
    if len(position) > 0:
        fill(shift + extremum, position[first:last])
    if len(best) > 0:
        fill(values[extremum], best[first:last])


@kernel
def answer(order, ties, values, width, shift, results):
    """Answer windows with at most one local extremum as long as runs are long; return how many, 0 if few.

    ``position[i]`` of the results receives the position of the best of ``values[i:i + width]``, counted from
    `shift`, and ``best[i]`` that value.
    """
    rows = len(values) - width + 1
    if width < 2 or rows < 1 or len(values) <= lanes_of(values):
        return 0
    if not (_continues(order, ties, True, values, 0) or _continues(order, ties, False, values, 0)):
        return 0
    older_wins = _pair_continues(order, ties, True, values[0], values[1])
    extremum = row = 0  # the first row of the data serves as a local extremum
    long = True
    while row < rows and long:
        limit = min(extremum + width, len(values)) - 1
        end = _end_of_run(order, ties, older_wins, values, extremum, limit)
        after = max(min(extremum, end - width + 1) + 1, row)
        _over_extremum(order, ties, not older_wins, values, width, shift, row, after, extremum, results)
        row = after
        long = False
        if row >= extremum and row == end - width + 2:  # no window holds this extremum and the next
            end = _within_run(order, ties, older_wins, values, width, shift, end, results)
            row = end - width + 2
            long = end - extremum >= MONOTONE_RUN
            extremum, older_wins = end, not older_wins
    return row if row >= MONOTONE_RUN or row == rows else 0


@kernel
def answer_values(order, values, width, out):
    """As :func:`answer`, for values alone."""
    return answer(order, Oldest(), values, width, 0, Results(out[:0], out))
