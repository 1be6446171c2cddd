"""Selection in bulk: rank a stretch of several windows once, then follow the windows over a bit set."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rollstat import thresholds
from rollstat.algorithms.ranking import NOTHING_MISSING, buckets, ranks, unsigned_keys, values_of
from rollstat.blocks import Block, Point, Selection
from rollstat.kernels.few_values import are_levels, select_few
from rollstat.kernels.monotone import direction
from rollstat.kernels.quantiles import interpolate_constant
from rollstat.kernels.rank_band import RECENT
from rollstat.kernels.rank_bits import slide_any
from rollstat.kernels.rank_slide import words_for
from rollstat.kernels.rank_stretches import select_fixed

__all__ = ["block_rows", "select", "select_points", "stretches"]

_SMALLEST_STRETCH = 4096
_SAMPLE = 32


def block_rows(width: int) -> int:
    """Rows a block that suit windows of `width` values: whole stretches, lest the last be a short one."""
    stretch = _stretch_rows(width)
    return stretch * max(1, round((1 << 17) / stretch))


def stretches(start: NDArray[np.int64], end: NDArray[np.int64], smallest: int) -> Iterator[tuple[int, int]]:
    """Cut rows so that the windows of each part cover at most max(`smallest`, four first windows).

    Every part but the last moves the end on by at least three quarters of what it covers, so that all
    but the last together cover at most 4/3 of the series, whatever the windows.

    Yields
    ------
    first, last : int
        Rows ``first, ..., last - 1`` are a part.
    """
    first = 0
    while first < len(start):
        size = max(smallest, 4 * int(end[first] - start[first]))
        last = max(first + 1, int(np.searchsorted(end, start[first] + size, side="right")))
        yield first, last
        first = last


def select(block: Block, request: Selection) -> None:
    """Answer the request, see :class:`rollstat.blocks.Selection`."""
    if block.width > 0 and request.position is None:
        _select_fixed(block, request)
        return
    for first, last in stretches(block.start, block.end, _SMALLEST_STRETCH):
        _select_any(block, request, first, last)


def select_points(block: Block, points: Sequence[Point], results: Sequence[NDArray[Any]]) -> bool:
    """Write one point of every window for each of `points`, if the values only rise or only fall.

    See :func:`rollstat.algorithms.small_window.select_points`. Returns whether they do.
    """
    values = block.values.view()
    values.flags.writeable = False  # one compiled version, not two
    rising = direction(values)
    for point, result in zip(points, results if rising else ()):
        rank = point.rank if rising > 0 else block.width - 1 - point.rank
        lower = values[rank : rank + block.rows]
        if point.midpoint or point.fraction > 0:
            upper = values[rank + rising : rank + rising + block.rows]
            interpolate_constant(lower, upper, point.fraction, point.midpoint, result)
        else:
            result[...] = lower
    return bool(rising)


def _select_any(block: Block, request: Selection, first: int, last: int) -> None:
    """Rows ``first, ..., last - 1``, whatever their windows and ranks."""
    low, high = int(block.start[first]), int(block.end[last - 1])
    values = block.values[low:high]
    missing = None if block.missing is None else block.missing[low:high]
    rank, row = ranks(values, missing)
    if len(row) == 0:
        return
    wanted = request.rank[:, first:last]
    lower = np.zeros(wanted.shape, np.int64)
    upper = np.zeros(wanted.shape if request.upper is not None else (0, 0), np.int64)
    slide_any(
        rank,
        block.start[first:last] - low,
        block.end[first:last] - low,
        wanted,
        request.upper is not None,
        *_bit_set(len(row)),
        np.zeros(len(wanted), np.int64),
        np.zeros(len(wanted), np.int64),
        lower,
        upper,
    )
    ordered = values[row]
    request.lower[:, first:last] = ordered[lower]
    if request.upper is not None:
        request.upper[:, first:last] = ordered[upper]
    if request.position is not None:
        request.position[:, first:last] = row[lower] + low


def _bit_set(ranks: int) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Empty set of ranks on whole entries of its coarsest level."""
    entries = (ranks >> 18) + 1
    return (
        np.zeros(min(entries << 12, (((ranks >> 12) + 1) << 6)), np.uint64),
        np.zeros(entries << 6, np.int64),
        np.zeros(entries, np.int64),
    )


def _stretch_rows(width: int) -> int:
    """Rows to rank at a time: enough that few values are ranked twice, few enough for the caches.

    Windows much shorter than the stretch would leave set bits far apart.
    """
    covered = 16 * width
    if covered > 1 << 14:
        covered = max(1 << 14, 33 * width // 10, min(8 * width, 1 << 17))
    return covered - width + 1


def _select_fixed(block: Block, request: Selection) -> None:
    """Windows of equal width."""
    done = [0] * len(request.rank)
    for keys in _comparable(block.values):
        levels = None
        if block.missing is None and request.constant is not None and not any(done):
            levels = _few_levels(keys)
        for i, first in enumerate(done):
            if first == block.rows:
                continue
            rows = _Rows(keys, block, request, i, first)
            done[i] = rows.by_counts(levels) if levels is not None else rows.by_ranks()
        if min(done) == block.rows:
            return
    stretch = _stretch_rows(block.width)
    for i, first in enumerate(done):
        while first < block.rows:
            # What stopped the others lies in the next stretch.
            last = min(first + stretch, block.rows)
            _select_any(block, _only(request, i), first, last)
            first = last
            if first < block.rows:
                first = _Rows(keys, block, request, i, first).by_ranks()


def _comparable(values: NDArray[Any]) -> Iterator[NDArray[Any]]:
    """Yield the values in forms that kernels are compiled for: float64 where it holds them all, then keys."""
    if values.dtype.kind == "f" or values.itemsize <= 4:
        floats = values.astype(np.float64, copy=False).view()
        floats.flags.writeable = False  # one compiled version, not two
        yield floats
    keys = unsigned_keys(values)
    keys.flags.writeable = False
    yield keys


def _few_levels(values: NDArray[Any]) -> NDArray[Any] | None:
    """All distinct values, if they are few."""
    step = len(values) // _SAMPLE + 1
    levels = np.unique(np.append(values[:_SAMPLE], values[:: step | 1]))
    if len(levels) > thresholds.COUNTED_LEVELS or not are_levels(values, levels):
        return None
    return levels


def _only(request: Selection, i: int) -> Selection:
    """One of the requests."""
    one = slice(i, i + 1)
    upper = None if request.upper is None else request.upper[one]
    return Selection(request.rank[one], None, request.lower[one], upper)


class _Rows:
    """The rows of one request from `first` on, over values or keys in their place."""

    def __init__(self, keys: NDArray[Any], block: Block, request: Selection, i: int, first: int) -> None:
        self.first = first
        self.width = block.width
        self.keys = keys[first:]
        self.missing = NOTHING_MISSING if block.missing is None else block.missing[first:]
        self.target = 0 if request.constant is None else request.constant[i]
        self.targets = request.rank[i, first:] if request.constant is None else None
        self.results = [request.lower[i, first:]]
        if request.upper is not None and self.target + 1 < block.width:
            self.results.append(request.upper[i, first:])
        self.found = self.results
        same = keys.dtype == block.values.dtype
        if not same or not all(result.flags.c_contiguous for result in self.results):
            self.found = [np.full(len(result), keys[first]) for result in self.results]

    def by_counts(self, levels: NDArray[Any]) -> int:
        """Select among a few distinct values; return the row up to which answers are written."""
        counts = np.empty(len(self.keys) + 1, np.int32)
        want_upper = len(self.found) > 1
        select_few(
            self.keys, levels, self.width, self.target, want_upper, counts, self.found[0], self.found[-1]
        )
        return self._write(len(self.found[0]))

    def by_ranks(self) -> int:
        """Select by ranks; return the row up to which answers are written."""
        dtype = self.keys.dtype
        stretch = min(_stretch_rows(self.width), len(self.found[0]))
        size = stretch + self.width
        bits = np.empty(words_for(size), np.uint64)
        sample = np.empty(size, dtype)
        drawn = sample.view()
        drawn.flags.writeable = False
        with np.errstate(over="ignore"):  # the kernels reckon modulo 2**64, which only plain Python minds
            done = select_fixed(
                self.keys,
                self.missing,
                dtype.kind == "f",
                self.width,
                self.target,
                self.targets,
                len(self.found) > 1,
                stretch,
                *np.empty((2, size), np.uint64),
                buckets(size),
                np.empty(size, np.uint32),
                bits,
                np.zeros(64 * len(bits), dtype),
                sample,
                drawn,
                np.empty(size, np.bool_),
                np.empty((2, RECENT), dtype),
                np.empty(2, dtype),
                np.empty(2, np.bool_),
                self.found[0],
                self.found[-1],
            )
        return self._write(int(done))

    def _write(self, done: int) -> int:
        if self.found is not self.results:
            for result, keys in zip(self.results, self.found):
                result[:done] = values_of(keys[:done], result.dtype)
        return self.first + done
