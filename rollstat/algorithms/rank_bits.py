"""Selection in bulk: rank a stretch of several windows once, then follow the windows over a bit set."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rollstat.algorithms.ranking import NOTHING_MISSING, buckets, ranks, unsigned_keys, values_of
from rollstat.blocks import Block, Selection
from rollstat.kernels.rank_bits import slide_any
from rollstat.kernels.rank_slide import words_for
from rollstat.kernels.rank_stretches import RECENT, select_fixed

__all__ = ["block_rows", "select", "stretches"]

_SMALLEST_STRETCH = 4096


def block_rows(width: int) -> int:
    """Rows a block that suit windows of `width` values: several windows, lest values be sorted twice."""
    return max(1 << 17, 23 * width // 10)


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


def _stretch_rows(width: int, rows: int) -> int:
    """Rows to rank at a time: enough that few values are ranked twice, few enough for the caches.

    Windows much shorter than the stretch would leave set bits far apart.
    """
    covered = 16 * width
    if covered > 1 << 14:
        covered = max(1 << 14, 4 * width, min(8 * width, 1 << 17))
    return min(covered - width + 1, rows)


def _scratch(dtype: np.dtype[Any], width: int, stretch: int) -> tuple[NDArray[Any], ...]:
    """Arrays for :func:`select_fixed` to work on."""
    size = stretch + width
    bits = np.empty(words_for(size), np.uint64)
    return (
        *np.empty((2, size), np.uint64),
        buckets(size),
        np.empty(size, np.uint32),
        bits,
        np.zeros(64 * len(bits), dtype),
        np.empty((2, RECENT), dtype),
        np.empty(2, dtype),
        np.empty(2, np.bool_),
    )


def _select_fixed(block: Block, request: Selection) -> None:
    """Windows of equal width."""
    values = block.values
    done = [0] * len(request.rank)
    if values.dtype.kind == "f" or values.itemsize <= 4:  # float64 holds all of these
        floats = values.astype(np.float64, copy=False).view()
        done = [_run(floats, block, request, i, 0) for i in range(len(done))]
    if min(done) == block.rows:
        return
    keys = unsigned_keys(values)
    stretch = _stretch_rows(block.width, block.rows)
    for i, first in enumerate(done):
        while first < block.rows:
            first = _run(keys, block, request, i, first)
            if first < block.rows:
                last = min(first + stretch, block.rows)
                _select_any(block, _only(request, i), first, last)
                first = last


def _only(request: Selection, i: int) -> Selection:
    """One of the requests."""
    one = slice(i, i + 1)
    upper = None if request.upper is None else request.upper[one]
    return Selection(request.rank[one], None, request.lower[one], upper)


def _run(keys: NDArray[Any], block: Block, request: Selection, i: int, first: int) -> int:
    """Answer request `i` from row `first` on, by values or keys; return the row up to which it is done."""
    width = block.width
    stretch = _stretch_rows(width, block.rows - first)
    target, targets = 0, None
    if request.constant is not None:
        target = request.constant[i]
    else:
        targets = request.rank[i, first:]
    want_upper = request.upper is not None and target + 1 < width
    missing = NOTHING_MISSING if block.missing is None else block.missing[first:]
    keys.flags.writeable = False  # one compiled version, not two
    results = [request.lower[i, first:]]
    if want_upper:
        assert request.upper is not None
        results.append(request.upper[i, first:])
    same = keys.dtype == block.values.dtype and all(result.flags.c_contiguous for result in results)
    found = results if same else [np.full(len(result), keys[first]) for result in results]
    with np.errstate(over="ignore"):  # the kernels reckon modulo 2**64, which only plain Python minds
        done = select_fixed(
            keys[first:],
            missing,
            keys.dtype.kind == "f",
            width,
            target,
            targets,
            want_upper,
            stretch,
            *_scratch(keys.dtype, width, stretch),
            found[0],
            found[-1],
        )
    if not same:
        for result, values in zip(results, found):
            result[:done] = values_of(values[:done], result.dtype)
    return first + int(done)
