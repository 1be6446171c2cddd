"""Selection in bulk: rank a stretch of several windows once, then follow the windows over a bit set."""

import threading
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rollstat import thresholds
from rollstat.algorithms.ranking import NOTHING_MISSING, buckets, ranks, unsigned_keys, values_of
from rollstat.blocks import Block, Point, Selection, read_only
from rollstat.kernels.selection.bitset_fixed import words_for
from rollstat.kernels.selection.bitset_variable import slide_any
from rollstat.kernels.selection.bulk_select import select_fixed
from rollstat.kernels.selection.prefix_counts import are_levels, select_few
from rollstat.kernels.selection.quantiles import interpolate_constant
from rollstat.kernels.selection.sortedness import direction
from rollstat.kernels.selection.value_band import RECENT

__all__ = ["at_run_time", "block_rows", "select", "select_points", "stretches"]

_SMALLEST_STRETCH = 4096
_LARGEST_KEPT = 1 << 19
_SAMPLE = 32


def block_rows(width: int) -> int:
    """Rows a block that suit windows of `width` values: whole stretches, lest the last be a short one."""
    stretch = _stretch_rows(width)
    return stretch * max(1, round((1 << 18) / stretch))


def at_run_time() -> tuple[tuple[str, str], ...]:
    """Return what runs for some values in place of ranking, and when."""
    levels = f"there are at most {thresholds.COUNTED_LEVELS} distinct values"
    return (("sortedness", "the values only rise or only fall"), ("prefix_counts", levels))


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
    """Write one point of every window for each of `points`, if the values are floats or only rise or fall.

    See :func:`rollstat.algorithms.small_window.select_points`. Returns whether they are.
    """
    values = read_only(block.values)
    rising = direction(values)
    if rising:
        for point, result in zip(points, results):
            _take_from_line(values, rising, block.width, point, result)
        return True
    if values.dtype.kind != "f":
        return False
    keys = next(_comparable(values))
    levels = _few_levels(keys)
    for point, result in zip(points, results):
        rows = _Points(keys, block, point, result)
        first = 0
        while first < block.rows:
            first = rows.by_counts(levels) if levels is not None else rows.by_ranks(first)
            if first < block.rows:  # what stopped it lies in the next stretch
                first = rows.by_any(first)
    return True


def _take_from_line(
    values: NDArray[Any], rising: int, width: int, point: Point, result: NDArray[Any]
) -> None:
    """Points of values that only rise or only fall."""
    rank = point.rank if rising > 0 else width - 1 - point.rank
    lower = values[rank : rank + len(result)]
    if point.midpoint or point.fraction > 0:
        upper = values[rank + rising : rank + rising + len(result)]
        interpolate_constant(lower, upper, point.fraction, point.midpoint, result)
    else:
        result[...] = lower


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
    least = max(thresholds.RANKED_ROWS, int(thresholds.RANKED_WINDOWS_AT_LEAST * width))
    return min(thresholds.RANKED_WINDOWS * width, least) - width + 1


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
        yield read_only(values.astype(np.float64, copy=False))
    yield read_only(unsigned_keys(values))


def _few_levels(values: NDArray[Any]) -> NDArray[Any] | None:
    """All distinct values, if they are few."""
    if len(set(values[:_SAMPLE].tolist())) > thresholds.COUNTED_LEVELS:
        return None
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


class _Scratch:
    """Memory for stretches of up to `size` rows of a dtype, with those before them."""

    def __init__(self, size: int, dtype: np.dtype[Any]) -> None:
        self.size = size
        self.dtype = dtype
        self.answers = np.empty((2, size), dtype)
        bits = np.empty(words_for(size), np.uint64)
        sample = np.empty(size, dtype)
        self.arrays = (
            *np.empty((2, size), np.uint64),
            buckets(size),
            np.empty(size, np.uint32),
            bits,
            np.zeros(64 * len(bits), dtype),
            np.zeros(64 * len(bits), np.uint32),
            sample,
            read_only(sample),
            np.empty(size, np.bool_),
            np.empty((2, RECENT), dtype),
            np.empty(2, dtype),
            np.empty(2, np.bool_),
            np.empty((2, 2), np.int64),
            np.empty(size, np.uint32),
        )


_kept = threading.local()


def _scratch(size: int, dtype: np.dtype[Any]) -> _Scratch:
    """Memory for a stretch, kept by the thread: to have the system clear it anew costs more than its use."""
    scratch: _Scratch | None = getattr(_kept, "scratch", None)
    if scratch is None or scratch.size < size or scratch.dtype != dtype:
        scratch = _Scratch(size, dtype)
        if size <= _LARGEST_KEPT:
            _kept.scratch = scratch
    return scratch


class _Points:
    """One point of every window of a block of floats, over `keys`, the same values as float64."""

    def __init__(self, keys: NDArray[Any], block: Block, point: Point, result: NDArray[Any]) -> None:
        self.keys = keys
        self.block = block
        self.point = point
        self.result = result
        self.between = point.midpoint or point.fraction > 0
        direct = result.dtype == keys.dtype and result.flags.c_contiguous
        self.found = result if direct else np.empty(len(result), keys.dtype)

    def _blend(self, lower: NDArray[Any], upper: NDArray[Any], first: int, last: int) -> None:
        part = self.found[first:last]
        if self.between:
            interpolate_constant(lower, upper, self.point.fraction, self.point.midpoint, part)
        else:
            part[...] = lower

    def by_counts(self, levels: NDArray[Any]) -> int:
        """Select among a few distinct values; return the row up to which answers are written."""
        rows, width = self.block.rows, self.block.width
        lower, upper = np.empty((2, rows), self.keys.dtype)
        counts = np.empty(len(self.keys) + 1, np.int32)
        select_few(self.keys, levels, width, self.point.rank, self.between, counts, lower, upper)
        self._blend(lower, upper, 0, rows)
        return self._write(0, rows)

    def by_ranks(self, first: int) -> int:
        """Select by ranks from row `first` on; return the row up to which answers are written."""
        width = self.block.width
        stretch = min(_stretch_rows(width), self.block.rows - first)
        scratch = _scratch(stretch + width, self.keys.dtype)
        lower, upper = scratch.answers
        found = self.found[first:]
        with np.errstate(over="ignore"):  # the kernels reckon modulo 2**64, which only plain Python minds
            done = select_fixed(
                self.keys[first:],
                NOTHING_MISSING,
                True,
                width,
                self.point.rank,
                None,
                stretch,
                width >= thresholds.SAMPLED,
                *scratch.arrays,
                self.point.fraction,
                self.point.midpoint,
                lower,
                upper if self.between else upper[:0],
                found,
            )
        return self._write(first, first + int(done))

    def by_any(self, first: int) -> int:
        """Select in a stretch that no scale suits; return the row up to which answers are written."""
        block, rank = self.block, self.point.rank
        last = min(first + _stretch_rows(block.width), block.rows)
        lower, upper = np.empty((2, 1, block.rows), block.values.dtype)
        request = Selection(np.full((1, block.rows), rank), (rank,), lower, upper if self.between else None)
        _select_any(block, request, first, last)
        self._blend(lower[0, first:last], upper[0, first:last], first, last)
        return self._write(first, last)

    def _write(self, first: int, last: int) -> int:
        if self.found is not self.result:
            self.result[first:last] = self.found[first:last]
        return last


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
        lower = self.found[0]
        with np.errstate(over="ignore"):  # the kernels reckon modulo 2**64, which only plain Python minds
            done = select_fixed(
                self.keys,
                self.missing,
                dtype.kind == "f",
                self.width,
                self.target,
                self.targets,
                stretch,
                self.width >= thresholds.SAMPLED,
                *_scratch(stretch + self.width, dtype).arrays,
                None,
                False,
                lower,
                self.found[1] if len(self.found) > 1 else lower[:0],
                lower,
            )
        return self._write(int(done))

    def _write(self, done: int) -> int:
        if self.found is not self.results:
            for result, keys in zip(self.results, self.found):
                result[:done] = values_of(keys[:done], result.dtype)
        return self.first + done
