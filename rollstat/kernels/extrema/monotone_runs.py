"""Extrema of a fixed number of rows, and their positions, where the data rises and falls in long runs.

::

    values     1  4  6  9  7  5  2  3  8          runs of the least:  1 4 6 9 | 9 7 5 2 | 2 3 8
    window of 3 within a run         oldest, or newest            (1 4 6), (9 7 5)
                over a turn away     the better of both ends      (6 9 7)
                over a turn towards  the turn                     (5 2 3)

In a run every value keeps its window against the next, or each next one takes over, by the order and the
rule of ties: of two neighbours exactly one of these holds unless one is NaN, so NaN ends every run. A
window over one turn, whatever its width, is answered by its ends or by the turn. Over a turn away the
oldest row is the better one at first and the newest later, as each comes nearer to the turn or farther
from it. What is best by the other order is found at the same time: a turn away from one is towards the other.

State: the last value known of the run. Invariant: the rows before ``row`` are written. Cost: a load, a
comparison and a store for each vector of each result, as long as windows hold one turn at most; data of
another kind is left at its first short run.

Source: own construction.
"""

from rollstat._jit import kernel
from rollstat._lowering import prefetch_to_write
from rollstat.kernels.extrema.nan_policy import YES
from rollstat.kernels.simd.comparator import all_newer_win, all_older_win, better, choose
from rollstat.kernels.simd.fill_copy import copy, copy_ahead, count_up, fill, fill_ahead, put_ahead
from rollstat.kernels.simd.vectors import lanes_of, load, put, store, unaligned

__all__ = ["answer", "copy_run", "trend"]

# Shorter runs, and fewer rows, are left to others, who answer many rows at once.
_LEAST = 64
# So many positions are written together.
_PIECE = 256
# From so many rows of a run on, the rest of it may be written past the caches.
_FAR = 512


@kernel(forceinline=True)
def _goes(order, ties, stays, values, i):
    """Whether the pairs of neighbours that begin with the vector at `i` all go the way of the run."""
    older, newer = load(values, i), load(values, i + 1)
    return all_older_win(order, ties, older, newer) if stays else all_newer_win(order, ties, older, newer)


@kernel(forceinline=True)
def _steps(order, ties, stays, older, newer):
    """Whether one pair of neighbours goes the way of the run."""
    takes_over = choose(order, ties, older, newer, False, True)
    return older == older and newer == newer and takes_over != stays


@kernel
def _reach(order, ties, stays, values, begin, limit):
    """The last value of the run from `begin` on, but not beyond `limit`."""
    lanes = lanes_of(values)
    end = begin
    while end + lanes <= limit and _goes(order, ties, stays, values, end):
        end += lanes
    while end < limit and _steps(order, ties, stays, values[end], values[end + 1]):
        end += 1
    return end


@kernel
def trend(order, ties, values):
    """1 if every value keeps its window against the next, -1 if each next one takes over, else 0."""
    last = len(values) - 1
    if last < 1:
        return 0
    stays = _steps(order, ties, True, values[0], values[1])
    return (1 if stays else -1) if _reach(order, ties, stays, values, 0, last) == last else 0


@kernel
def copy_run(order, ties, stays, values, out, coming, past):
    """Write `values`, two or more, to `out` as long as they are one run; return whether all are.

    Every value keeps its window against the next if that `stays`, else each next one takes over. What is
    `coming` and `past` the caches is as in :func:`rollstat.kernels.simd.fill_copy.copy_ahead`, from the first
    vector on.
    """
    lanes, last, i = lanes_of(values), len(values) - 1, 0
    while i + lanes <= last and _goes(order, ties, stays, values, i):
        put_ahead(load(values, i), out, i, coming, past)
        i += lanes
    if last < 1 or i + lanes <= last:
        return False
    for j in range(i, last):
        if not _steps(order, ties, stays, values[j], values[j + 1]):
            return False
    if i + lanes == len(values):
        put(load(values, i), out, i, past)
    else:
        copy(values[i:], out[i : len(values)])
    return True


@kernel
def _follow_far(order, ties, stays, values, end, wins, loses, row, best, other):
    """As :func:`_follow` from `row` on, for values alone, written past the caches; return what is known."""
    lanes, lead = lanes_of(values), unaligned(best[row:])
    while lead > 0 and end + 1 < len(values) and _steps(order, ties, stays, values[end], values[end + 1]):
        best[row], other[row] = values[row + wins], values[row + loses]
        end, row, lead = end + 1, row + 1, lead - 1
    while lead == 0 and end + lanes < len(values) and _goes(order, ties, stays, values, end):
        put(load(values, row + wins), best, row, YES)
        put(load(values, row + loses), other, row, YES)
        end, row = end + lanes, row + lanes
    return end


@kernel
def _follow(order, ties, stays, values, width, shift, end, position, best, other, past):
    """Answer the windows within a run that is known up to `end`; return the last value of the run.

    Those that end up to `end` are answered.
    """
    lanes = lanes_of(values)
    wins, loses = (0, width - 1) if stays else (width - 1, 0)
    row, place = end - width + 2, shift + wins
    written = begin = row
    while end + lanes < len(values) and _goes(order, ties, stays, values, end):
        if past and row - begin >= _FAR:
            break
        if len(position) > 0:
            prefetch_to_write(position, row + 16 * lanes)
            if row - written >= _PIECE:
                count_up(place + written, position[written:row])
                written = row
        if len(best) > 0:
            prefetch_to_write(best, row + 16 * lanes)
            store(load(values, row + wins), best, row)
        if len(other) > 0:
            prefetch_to_write(other, row + 16 * lanes)
            store(load(values, row + loses), other, row)
        end += lanes
        row += lanes
    if len(position) > 0:
        count_up(place + written, position[written:row])
    if past and row - begin >= _FAR:
        end = _follow_far(order, ties, stays, values, end, wins, loses, row, best, other)
        row = end - width + 2
    while end + 1 < len(values) and _steps(order, ties, stays, values[end], values[end + 1]):
        if len(position) > 0:
            position[row] = place + row
        if len(best) > 0:
            best[row] = values[row + wins]
        if len(other) > 0:
            other[row] = values[row + loses]
        end += 1
        row += 1
    return end


@kernel
def _crossing(order, ties, away, values, width, first, last):
    """Of the windows that begin at ``first, ..., last - 1``, the first whose newest row is farther off.

    Farther from the turn, in value; `last` if there is none.
    """
    while first < last:
        middle = (first + last) // 2
        oldest, newest = values[middle], values[middle + width - 1]
        if choose(order, ties, oldest, newest, True, False) if away else not better(order, oldest, newest):
            first = middle + 1
        else:
            last = middle
    return first


@kernel
def _copy(values, out, past):
    """Write the first of `values` to the whole of `out`."""
    if past and len(out) >= _FAR:
        copy_ahead(values, out, values, YES)
    else:
        copy(values, out)


@kernel
def _over_turn(order, ties, away, values, width, shift, first, last, turn, position, best, other, past):
    """Answer the windows that begin at ``first, ..., last - 1``, over one turn, at `turn`."""
    crossing = _crossing(order, ties, away, values, width, first, last)
    if len(position) > 0 and away:
        count_up(shift + first, position[first:crossing])
        count_up(shift + crossing + width - 1, position[crossing:last])
    elif len(position) > 0:
        fill(shift + turn, position[first:last])
    ends, turns = (best, other) if away else (other, best)
    if len(ends) > 0:
        _copy(values[first:], ends[first:crossing], past)
        _copy(values[crossing + width - 1 :], ends[crossing:last], past)
    if len(turns) > 0:
        if past and last - first >= _FAR:
            fill_ahead(values[turn], turns[first:last], values, YES)
        else:
            fill(values[turn], turns[first:last])


@kernel
def answer(order, ties, values, width, shift, position, best, other, past):
    """Answer windows with one turn at most, as long as runs are long; return how many, 0 if few.

    ``position[i]`` receives where the best of ``values[i:i + width]`` stands, counted from `shift`, and
    ``best[i]`` what stands there; ``other[i]`` the best by the other order. Outputs that are not wanted have
    no length. Both values, without positions, may be written `past` the caches if they stand alike to lines.
    """
    rows = len(values) - width + 1
    if width < 2 or rows < 1 or len(values) <= lanes_of(values):
        return 0
    if not (_goes(order, ties, True, values, 0) or _goes(order, ties, False, values, 0)):
        return 0
    stays = _steps(order, ties, True, values[0], values[1])
    outputs = position, best, other, past
    turn = row = 0  # where the first run begins is no worse than a turn
    long = True
    while row < rows and long:
        end = _reach(order, ties, stays, values, turn, min(turn + width, len(values)) - 1)
        after = max(min(turn, end - width + 1) + 1, row)
        _over_turn(order, ties, not stays, values, width, shift, row, after, turn, *outputs)
        row = after
        long = False
        if row >= turn and row == end - width + 2:  # no window over this turn and the next is passed over
            end = _follow(order, ties, stays, values, width, shift, end, *outputs)
            row = end - width + 2
            long = end - turn >= _LEAST
            turn, stays = end, not stays
    return row if row >= _LEAST or row == rows else 0
