"""Selection in small windows of constant width, by selection networks over blocks of windows.

In addition to every selection algorithm's :func:`select`, :func:`select_points` writes points that have one
rank in all windows, or lie between two (the median of an even number) while both are in the cache.
"""

from collections.abc import Sequence
from functools import lru_cache, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rollstat import thresholds, tiers
from rollstat.blocks import Block, Kept, Point, Selection, read_only
from rollstat.compile.cache import host_levels
from rollstat.compile.simd.codegen import VECTOR_BYTES
from rollstat.compile.simd.register_networks import AT_RANK, LINEAR, MIDPOINT, RegisterNetwork
from rollstat.compile.simd.vectors import aligned_empty
from rollstat.kernels.selection.quantiles import wanted_ranks
from rollstat.kernels.selection.selection_network import (
    LONGEST_PART,
    SHARE_BITS,
    Lanes,
    LaneScratch,
    Network,
    Observed,
    Order,
    run_in_registers,
    run_network,
    write_observed,
)
from rollstat.statistics.selection.networks import register_network, selection_network

LARGEST_WIDTH = 512
"""Widest window served: comparisons grow with log^2 m, the time to build a network with m log^2 m."""

_ROW_BYTES = 2048  # of a group: with fewer, each instruction has more overhead; more exceed the cache
_LONGEST_KEPT = 1 << 14  # elements of scratch that a thread keeps: clearing new memory takes time
_BLOCK_BYTES = 1 << 20
_PART_ROWS = 1 << 10  # of results of a compiled network where values are missing: what the caches hold
MOST_COMPARISONS = 6400  # of a compiled network, which take some three seconds to compile
_SECONDS_A_ROW = 4e-9  # that a compiled network saves, about


def widest(width: int, rows: int, dtype: np.dtype[Any]) -> int:
    """Return the widest window for which networks are the fastest, over `rows` windows of values of `dtype`.

    They take fewer operations than any other algorithm up to some hundred rows a window, but building one
    takes O(width log^2 width), which only a long series makes up for.
    """
    if rows < thresholds.NETWORK_ROWS_A_ROW * width:
        return thresholds.NETWORK
    if dtype.itemsize == 8 and "x86-64-v4" not in host_levels():
        return thresholds.NETWORK_OF_FEW_LANES
    return thresholds.NETWORK_OF_LONG_SERIES if dtype == np.float64 else thresholds.NETWORK_OF_OTHER_DTYPES


def block_rows(itemsize: int, alone: bool) -> int:
    """Return the rows of a block: what the second cache holds, since each call of a kernel costs time.

    One thread takes longer blocks, which leave other threads fewer.
    """
    return (2 if alone else 1) * _BLOCK_BYTES // itemsize


def select_points(block: Block, points: Sequence[Point], results: Sequence[NDArray[Any]]) -> bool:
    """Write one point of every window for each of `points`.

    Parameters
    ----------
    block : Block
        Windows of one width, up to `LARGEST_WIDTH` rows, with no value missing.
    points : sequence of Point
        Between neighbouring ranks of windows of ``block.width`` values.
    results : sequence of ndarray, each of shape (rows,)
        Receive the points: float32 or float64, or the dtype of the values for a point at a rank. Points
        between two ranks are computed in float64.

    Returns
    -------
    bool
        True, since the points of any values are found. A block that has not been searched for NaN is served
        only if :func:`is_compiled`, and False then means that a value may be NaN.
    """
    if len(results) == 1 and results[0].flags.c_contiguous:
        stacked = results[0][None, :]
    else:
        stacked = np.empty((len(results), block.rows), results[0].dtype)
    if not run(read_only(block.values), block.width, tuple(points), stacked, block.searched):
        return False
    for row, result in zip(stacked, results):
        if not np.may_share_memory(row, result):
            result[...] = row
    return True


def is_compiled(block: Block, points: Sequence[Point]) -> bool:
    """Return whether the network for some points is compiled; it finds out itself whether a value is NaN."""
    return _in_registers(block.values, block.width, tuple(points), block.rows) is not None


# Widest windows, and how many of them share comparisons: more windows save comparisons, but need more
# scratch. Measured; neighbouring powers of two are close.
_SHARING = ((12, 4), (27, 8), (49, 16), (139, 32), (299, 64), (LARGEST_WIDTH, 128))
_SHARING_IN_REGISTERS = ((6, 2), (12, 4), (14, 8), (44, 16), (90, 32), (150, 64), (LARGEST_WIDTH, 128))
_SHARING_OF_MANY_LANES = 64  # at most in registers, for values of less than 8 bytes


def _sharing(width: int, measured: tuple[tuple[int, int], ...]) -> int:
    """Return how many windows of a width share comparisons."""
    return next(windows for largest, windows in measured if width <= largest)


_Pairs = tuple[tuple[int, int], ...]


def outputs_of(points: tuple[Point, ...]) -> tuple[_Pairs, _Pairs, NDArray[np.float64]]:
    """Return the ranges of ranks that points need, what a kernel writes for each point, and the fractions."""
    ranges: list[tuple[int, int]] = []
    outputs, found = [], 0
    for point in points:
        first, last = point.rank, point.rank + point.between
        low, high = ranges.pop() if ranges else (first, first - 1)
        if low <= first <= high + 1:  # neighbours are found together
            found -= high + 1 - low
            last = max(high, last)
        else:
            ranges.append((low, high))
            low = first
        outputs.append(
            (found + first - low, MIDPOINT if point.midpoint else LINEAR if point.between else AT_RANK)
        )
        ranges.append((low, last))
        found += last + 1 - low
    return tuple(ranges), tuple(outputs), np.array([point.fraction for point in points])


@lru_cache(maxsize=64)
def _prepare(
    width: int, points: tuple[Point, ...], rows: int, itemsize: int
) -> tuple[Network, int, int, NDArray[np.int64], NDArray[np.float64]]:
    """Return the network, the lanes and the stride of its scratch, and what it writes for each point."""
    ranges, outputs, fractions = outputs_of(points)
    network = selection_network(width, ranges, _sharing(width, _SHARING))
    vector_lanes = VECTOR_BYTES // itemsize
    blocks = -(-rows // network.results.shape[1])
    lanes = min(_ROW_BYTES // itemsize, -(-blocks // vector_lanes) * vector_lanes)
    stride = lanes + (network.reach // vector_lanes + 2) * vector_lanes
    return network, lanes, stride, np.array(outputs, np.int64), fractions


@lru_cache(maxsize=64)
def _prepare_registers(
    width: int, points: tuple[Point, ...], itemsize: int
) -> tuple[RegisterNetwork | None, NDArray[np.float64]]:
    """Return a network to be compiled, None if it is too large, and the fractions of points."""
    ranges, outputs, fractions = outputs_of(points)
    windows = _sharing(width, _SHARING_IN_REGISTERS)
    if itemsize < 8:
        windows = min(windows, _SHARING_OF_MANY_LANES)
    build = partial(register_network, width, ranges, outputs, most=MOST_COMPARISONS)
    return build(windows) or build(windows // 2), fractions


def _in_registers(
    values: NDArray[Any], width: int, points: tuple[Point, ...], rows: int
) -> tuple[RegisterNetwork, NDArray[np.float64]] | None:
    """Return a network and fractions, if to compile the network pays."""
    if width > thresholds.COMPILED_NETWORK or rows < thresholds.COMPILED_NETWORK_ROWS:
        return None
    network, fractions = _prepare_registers(width, points, values.itemsize)
    if network is None:
        return None
    variant = network.name, values.dtype.char
    if not tiers.pays(run_in_registers, variant, _SECONDS_A_ROW * len(points) * rows):
        return None
    return network, fractions


def _new_scratch(rows: int, lanes: int, stride: int, values: Any, points: Any) -> LaneScratch:
    """Return aligned memory: vectors across cache lines cost half more."""
    return LaneScratch(aligned_empty(rows * stride, values), aligned_empty(4 * lanes, points), lanes, stride)


_scratch = Kept()


def run(
    values: NDArray[Any],
    width: int,
    points: tuple[Point, ...],
    results: NDArray[Any],
    searched: bool = True,
) -> bool:
    """Write the points of every window of `values`, one row of `results` for each of `points`.

    The values have been `searched` for NaN, or it may be called by :func:`is_compiled`. Return whether the
    points are written.
    """
    compiled = _in_registers(values, width, points, results.shape[1])
    if compiled is not None:
        written = _run_in_registers(values, *compiled, results)
        if written or not searched:
            return written
    lanes = _lanes(values, width, points, results.shape[1], results.dtype)
    run_network(values, *lanes, results)
    return True


def _lanes(
    values: NDArray[Any], width: int, points: tuple[Point, ...], rows: int, dtype: np.dtype[Any]
) -> Lanes:
    """Return a network as a list of instructions, with memory for points of a dtype."""
    network, lanes, stride, *outputs = _prepare(width, points, rows, values.itemsize)
    key = network.rows, lanes, stride, values.dtype, dtype
    scratch = _scratch.get(key, partial(_new_scratch, *key), network.rows * stride <= _LONGEST_KEPT)
    return Lanes(network, scratch, *outputs)


def _run_in_registers(
    values: NDArray[Any], network: RegisterNetwork, fractions: NDArray[np.float64], results: NDArray[Any]
) -> bool:
    """Do what :func:`run` does by a compiled network, unless there is NaN, or a point between infinities."""

    def allocate() -> tuple[int, NDArray[Any], NDArray[Any], NDArray[Any]]:
        group = network.group_rows(values.dtype)
        rest, last = np.empty(3 * group, values.dtype), np.empty(2 * group * len(fractions), results.dtype)
        return group, rest, read_only(rest), last

    group, rest, shown, last = _scratch.get((network, values.dtype, results.dtype), allocate)
    values_left = values[max(len(values) // group - 1, 0) * group :]
    rest[: len(values_left)], rest[len(values_left) :] = values_left, values_left[-1]
    return run_in_registers(network, values, shown, fractions, results.reshape(-1), last)


def select(block: Block, request: Selection) -> None:
    """Answer the request, which has no positions; see :class:`rollstat.blocks.Selection`.

    The windows have one width, up to `LARGEST_WIDTH` rows, and no value is missing, so a rank is the same in
    all of them.
    """
    values = read_only(block.values)
    for i, rank in enumerate(request.rank[:, 0].tolist()):
        if rank < 0:
            continue
        following = min(rank + (request.upper is not None), block.width - 1)
        found = np.empty((following + 1 - rank, block.rows), values.dtype)
        run(values, block.width, tuple(map(Point, range(rank, following + 1))), found)
        request.lower[i] = found[0]
        if request.upper is not None:
            request.upper[i] = found[-1]


@lru_cache(maxsize=64)
def _share_below(width: int, k: int, q: float, least: int) -> tuple[int, int, int]:
    """Return the share of missing values to put below, and the first and the last rank that then occur.

    The share is in units of ``2**-SHARE_BITS``. With about q, or 0 or 1 for a k-th from either end, the
    fewest ranks occur. They are those of windows with `least` observations or more, and the next ones.
    """
    share = round((float(k < 0) if k else q) * 2**SHARE_BITS)
    count = np.arange(max(least, 1), width + 1)
    rank = np.empty(len(count), np.int64)
    wanted_ranks(count, k, q, 0, rank)
    below = share * (width - count) / 2**SHARE_BITS
    upper = (q * (count - 1) > rank) & (k == 0)
    first, last = (rank + np.floor(below)).min(), (rank + upper + np.ceil(below)).max()
    return share, int(first), min(int(last), width - 1)


def select_observed(
    block: Block, k: int, q: float, interpolation: int, least: int, mark: float, result: NDArray[Any]
) -> None:
    """Write the k-th observation or, if `k` is 0, the q-quantile of windows in which values are missing.

    Parameters
    ----------
    block : Block
        Windows of one width, up to `LARGEST_WIDTH` rows, of values that float64 holds.
    k, q, interpolation
        As of :func:`rollstat.kernels.selection.quantiles.wanted_ranks`, and how to interpolate.
    least : int
        Fewest observations of a result, at least the absolute value of `k`.
    mark : float
        What is written below that.
    result : ndarray, shape (rows,)
        Receives the results, computed in float64.
    """
    values, width = read_only(block.values), block.width
    if least > width:
        result[...] = mark
        return
    share, first, last = _share_below(width, k, q, least)
    order = Order(k, q, interpolation, least, mark, share, first)
    finder, memory = _finder(values, width, tuple(map(Point, range(first, last + 1))), block.rows)
    write_observed(finder, memory, values, read_only(block.mask), order, result)


def _finder(
    values: NDArray[Any], width: int, points: tuple[Point, ...], rows: int
) -> tuple[Lanes | RegisterNetwork, Observed]:
    """Return what finds ranks of a part of a series, and the memory for the part."""
    compiled = _in_registers(values, width, points, rows)
    if compiled is not None:
        finder: Lanes | RegisterNetwork = compiled[0]
        group = beyond = compiled[0].group_rows(values.dtype)
        part = min(_PART_ROWS // group + 1, -(-rows // group)) * group
    else:
        finder = lanes = _lanes(values, width, points, rows, values.dtype)
        group = lanes.network.results.shape[1] * lanes.scratch.lanes
        part, beyond = min(group, rows, LONGEST_PART), width - 1
    found = np.empty((len(points), part), values.dtype)
    keys, counts = np.zeros(part + beyond, values.dtype), np.empty((2, part + width), np.int32)
    return finder, Observed(keys, counts[0], counts[1], found)
