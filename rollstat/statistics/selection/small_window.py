"""Selection in small windows of constant width, by selection networks over blocks of windows.

Besides :func:`select`, which every selection algorithm has, :func:`select_points` writes points between
two ranks (quantiles, the median of an even number) while both ranks are in the cache.
"""

from collections.abc import Sequence
from functools import lru_cache, partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rollstat import thresholds
from rollstat.blocks import Block, Kept, Point, Selection, read_only
from rollstat.compile.simd.vectors import VECTOR_BYTES
from rollstat.kernels.selection.network_five import point_of_five
from rollstat.kernels.selection.quantiles import interpolate_constant
from rollstat.kernels.selection.selection_network import (
    LINEAR,
    LOWER,
    MIDPOINT,
    UPPER,
    LaneScratch,
    Network,
    pick,
    place_sentinels,
    rank_in_all,
    run_network,
)
from rollstat.kernels.selection.series_order import direction
from rollstat.statistics.selection.networks import selection_network

__all__ = [
    "LARGEST_WIDTH",
    "block_rows",
    "select",
    "select_points",
    "select_points_of_five",
    "serves",
    "serves_points",
    "widest",
]

LARGEST_WIDTH = 512
"""Widest window served: comparisons grow with log^2 m, the time to build a network with m log^2 m."""

_ROW_BYTES = 2048  # of a group: with fewer, each instruction has more overhead; more exceed the cache
_LONGEST_KEPT = 1 << 14  # elements of scratch that a thread keeps: clearing new memory takes time
_RANKS_AT_ONCE = 4  # if ranks vary: one network finds them all, and its results fit in the cache


class _Asked(NamedTuple):
    """Ranges of ranks that are wanted, and the outputs and fractions of :func:`run_network`."""

    ranges: tuple[tuple[int, int], ...]
    outputs: tuple[tuple[int, int, int], ...]
    fractions: tuple[float, ...]


def serves(block: Block, request: Selection) -> bool:
    """Whether :func:`select` can answer the request: windows of one small width; no positions."""
    return 0 < block.width <= LARGEST_WIDTH and request.position is None


def serves_points(block: Block) -> bool:
    """Whether :func:`select_points` serves the block: windows of one small width; none missing."""
    return 0 < block.width <= LARGEST_WIDTH and block.missing is None


def widest(width: int, rows: int, dtype: np.dtype[Any]) -> int:
    """Return the widest window for which networks are the fastest, over `rows` windows of values of `dtype`.

    They take fewer operations than any other algorithm up to some hundred rows a window, but building one
    takes O(width log^2 width), which only a long series makes up for.
    """
    if rows < thresholds.NETWORK_ROWS_A_ROW * width:
        return thresholds.NETWORK
    return thresholds.NETWORK_OF_LONG_SERIES if dtype == np.float64 else thresholds.NETWORK_OF_OTHER_DTYPES


def block_rows(width: int) -> int:
    """Return the rows of a block: many, since the overhead of a call matters where windows are narrow."""
    return 1 << 17


def select(block: Block, request: Selection) -> None:
    """Answer the request, see :class:`rollstat.blocks.Selection`."""
    if not serves(block, request):
        raise ValueError(
            f"small_window supports only windows of constant width, 1 to {LARGEST_WIDTH} values, "
            "and no positions"
        )
    if block.rows == 0:
        return
    if block.missing is None and request.constant is not None:
        _select_constant(block, request)
    else:
        for i in range(len(request.rank)):
            _select_varying(block, request, i)


def select_points(block: Block, points: Sequence[Point], results: Sequence[NDArray[Any]]) -> bool:
    """Write one point of every window for each of `points`.

    Parameters
    ----------
    block : Block
        One that :func:`serves_points` is true for.
    points : sequence of Point
        Between neighbouring ranks of windows of ``block.width`` values.
    results : sequence of ndarray, each of shape (rows,)
        Receive the points: float32 or float64, or the dtype of the values for a point at a rank. Points
        between two ranks are computed in float64.

    Returns
    -------
    bool
        True, since the points of any values are found.
    """
    if not serves_points(block):
        raise ValueError(
            f"points are supported only for windows of constant width, 1 to {LARGEST_WIDTH}, none missing"
        )
    if select_points_of_five(block, points, results):
        return True
    if len(results) == 1 and results[0].flags.c_contiguous:
        stacked = results[0][None, :]
    else:
        stacked = np.empty((len(results), block.rows), results[0].dtype)
    _find(block.values, block.width, _asked(points), stacked, stacked)
    for row, result in zip(stacked, results):
        if not np.may_share_memory(row, result):
            result[...] = row
    return True


def _asked(points: Sequence[Point]) -> _Asked:
    """Return what :func:`_find` is asked to write points."""
    ranges, outputs, first = [], [], 0
    for i, point in enumerate(points):
        above = int(point.between)
        ranges.append((point.rank, point.rank + above))
        outputs.append((first, MIDPOINT if point.midpoint else LINEAR if above else LOWER, i))
        first += 1 + above
    return _Asked(tuple(ranges), tuple(outputs), tuple(point.fraction for point in points))


def select_points_of_five(block: Block, points: Sequence[Point], results: Sequence[NDArray[Any]]) -> bool:
    """Write points of windows of five, unless one is a midpoint; return whether they are written.

    Unlike :func:`select_points`, it may be called before the values are searched for NaN: if it returns True,
    no value is NaN.
    """
    if block.width != 5 or any(point.midpoint for point in points):
        return False
    values = read_only(block.values)
    return all(
        point_of_five(values, point.rank, point.fraction, result) for point, result in zip(points, results)
    )


def _windows_per_lane(width: int) -> int:
    """Return how many windows share comparisons: more windows save comparisons, but need more scratch.

    Measured; neighbouring powers of two are close.
    """
    for largest, windows in ((12, 4), (27, 8), (49, 16), (139, 32), (299, 64)):
        if width <= largest:
            return windows
    return 128


def _aligned_zeros(size: int, dtype: np.dtype[Any]) -> NDArray[Any]:
    """Return zeros that start at a multiple of a vector: vectors across cache lines cost half more."""
    extra = VECTOR_BYTES // dtype.itemsize
    array = np.zeros(size + extra, dtype)
    return array[-array.ctypes.data % VECTOR_BYTES // dtype.itemsize :]


def _find(
    values: NDArray[Any],
    width: int,
    asked: _Asked,
    lower: NDArray[Any],
    upper: NDArray[Any],
) -> None:
    """Find ranges of ranks in every window of `values` and write the `outputs` of :func:`run_network`."""
    rows = lower.shape[1]
    values = read_only(values)
    rising = direction(values)
    if rising:
        ranks = [rank for low, high in asked.ranges for rank in range(low, high + 1)]
        first = ranks if rising > 0 else [width - 1 - rank for rank in ranks]
        found = [values[i : i + rows] for i in first]
        for (which, kind, row), fraction in zip(asked.outputs, asked.fractions):
            if kind < LINEAR:
                (upper if kind == UPPER else lower)[row] = found[which]
            else:
                interpolate_constant(found[which], found[which + 1], fraction, kind == MIDPOINT, lower[row])
        return
    run_network(*_arguments(values, width, asked, lower, upper))


@lru_cache(maxsize=64)
def _prepare(
    width: int, asked: _Asked, rows: int, itemsize: int
) -> tuple[Network, int, int, NDArray[np.int64], NDArray[np.float64]]:
    """Return the network, the lanes and the stride of its scratch, the outputs and the fractions."""
    network = selection_network(width, asked.ranges, _windows_per_lane(width))
    vector_lanes = VECTOR_BYTES // itemsize
    blocks = -(-rows // network.results.shape[1])
    lanes = min(_ROW_BYTES // itemsize, -(-blocks // vector_lanes) * vector_lanes)
    stride = lanes + (network.reach // vector_lanes + 2) * vector_lanes
    return network, lanes, stride, np.array(asked.outputs, np.int64), np.array(asked.fractions, np.float64)


def _new_scratch(rows: int, lanes: int, stride: int, values: Any, points: Any) -> LaneScratch:
    return LaneScratch(
        _aligned_zeros(rows * stride, values), _aligned_zeros(4 * lanes, points), lanes, stride
    )


_scratch = Kept()


def _arguments(
    values: NDArray[Any],
    width: int,
    asked: _Asked,
    lower: NDArray[Any],
    upper: NDArray[Any],
) -> tuple[Any, ...]:
    """Return the arguments of :func:`run_network`."""
    rows = lower.shape[1]
    network, lanes, stride, *rest = _prepare(width, asked, rows, values.itemsize)
    key = network.rows, lanes, stride, values.dtype, lower.dtype
    scratch = _scratch.get(key, partial(_new_scratch, *key), network.rows * stride <= _LONGEST_KEPT)
    return values, network, scratch, *rest, lower, upper


def _select_constant(block: Block, request: Selection) -> None:
    """Answer requests with constant ranks and no missing values, all in one pass."""
    assert request.constant is not None
    last = block.width - 1
    pair = request.upper is not None
    ranges = tuple((rank, min(rank + pair, last)) for rank in request.constant)
    outputs, first = [], 0
    for i, (low, high) in enumerate(ranges):
        outputs.append((first, LOWER, i))
        if high > low:
            outputs.append((first + 1, UPPER, i))
        first += high + 1 - low
    lower = _contiguous(request.lower)
    upper = lower if request.upper is None else _contiguous(request.upper)
    asked = _Asked(ranges, tuple(outputs), (0.0,) * len(outputs))
    _find(block.values, block.width, asked, lower, upper)
    if lower is not request.lower:
        request.lower[...] = lower
    if request.upper is not None and upper is not request.upper:
        request.upper[...] = upper


def _contiguous(array: NDArray[Any]) -> NDArray[Any]:
    """Return the array, or a new one of its shape where it is not contiguous."""
    return array if array.flags.c_contiguous else np.empty(array.shape, array.dtype)


def _select_varying(block: Block, request: Selection, i: int) -> None:
    """Answer a request with varying ranks or missing values: find each rank that occurs, pick by row."""
    keys, rank = block.values, request.rank[i]
    if block.missing is not None:
        keys, rank, first, top = _rank_in_all(block, rank)
    else:
        first, top = int(rank.min(where=rank >= 0, initial=block.width)), int(rank.max())
    pair = request.upper is not None
    upper = np.empty(0, keys.dtype) if request.upper is None else request.upper[i]
    for low in range(first, top + 1, _RANKS_AT_ONCE):
        high = min(low + _RANKS_AT_ONCE - 1, top)
        found = np.empty((min(high + pair, block.width - 1) - low + 1, block.rows), keys.dtype)
        outputs = tuple((number, LOWER, number) for number in range(len(found)))
        ranges = ((low, low + len(found) - 1),)
        _find(keys, block.width, _Asked(ranges, outputs, (0.0,) * len(found)), found, found)
        pick(found, low, high, rank, request.lower[i], upper)


def _rank_in_all(block: Block, rank: NDArray[np.int64]) -> tuple[NDArray[Any], NDArray[np.int64], int, int]:
    """Return values with sentinels for missing ones, ranks among all of them, and their range."""
    keys, among = np.empty_like(block.values), np.empty_like(rank)
    low = np.empty(len(keys), np.uint8)
    if keys.dtype.kind == "f":
        limits = -np.inf, np.inf
    else:
        limits = np.iinfo(keys.dtype).min, np.iinfo(keys.dtype).max
    share = _share(rank, block.count)
    place_sentinels(block.values, block.missing, share, *map(keys.dtype.type, limits), keys, low)
    return keys, among, *rank_in_all(rank, low, among)


def _share(rank: NDArray[np.int64], count: NDArray[np.int64]) -> np.uint64:
    """Return the share of missing values to put below, times 2**64, for which ranks among all differ least.

    That is the slope of rank by count: q for quantiles, 0 or 1 for a k-th from either end. A sample is
    enough, because any share gives the right values.
    """
    step = max(len(rank) // 1024, 1)
    wanted = rank[::step] >= 0
    rank, count = rank[::step][wanted], count[::step][wanted]
    centered = count - count.mean() if len(count) else np.zeros(1)
    square = float(centered @ centered)
    slope = float(centered @ rank) / square if square > 0 else 0.0
    return np.uint64(min(max(round(100 * slope), 0), 100) * (2**64 // 100))
