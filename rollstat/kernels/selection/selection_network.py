"""Run a selection network over all windows of a series, one block of windows in each lane.

::

    values   0 1 2 3 4 5 6 7 8 9 ...         rows of lanes, blocks of T = 4:    row 0   0 4  8 ...
             `-----' `-----' `---                                               row 1   1 5  9 ...
             block 0 block 1                                                    row 2   2 6 10 ...
                                                                                row 3   3 7 11 ...

The rows are transposed in, the instructions of the network
(:mod:`rollstat.statistics.selection.networks`) work on whole rows,
and the rows of the results, or of points between two of them, are transposed out; then the next group of
blocks follows.

State: `LaneScratch`, and nothing that outlives a group. Invariant: a lane depends only on that lane and the
`reach` next ones, so lanes past the end of the data may hold anything. Cost: the same for all data, since no
instruction depends on a value: O(log^2 m) operations a window, amortised over the block; the worst case is
the average.

Source: Batcher, doi:10.1145/1468075.1468121; Adams, doi:10.1145/3450626.3459773.

Missing values in windows of constant width: sentinels that make the wanted rank nearly constant.

A network finds the same ranks in every window, but with missing values both the number of observations
and the rank differ from row to row. So missing values are replaced by sentinels, below or above everything,
in a regular sequence with a share ``s`` of them below. A window with ``g`` missing values then has ``s * g``
sentinels below its observations, give or take one, and an observation of rank ``s * count`` has rank about
``s * m`` among all ``m``, whatever `g` is. Only the few ranks that can occur must be found::

    values    3  .  8  .  1  .  5        s = 1/2, the median of every window
    keys      3  oo 8 -oo 1  oo 5
              [----------]               rank 0 of 3, 8    + 1 below = 1 of 4
                 [---------]             rank 0 of 8, 1    + 1 below = 1 of 4
                    [---------]          rank 0 of 8, 1    + 1 below = 1 of 4

State: `Observed`. Invariant: ``floor(s * g + 1/2)`` of the first ``g`` missing values are below, so in a
window it is ``s * g`` rounded down or up. Observations equal to a sentinel (an infinity, the limits of the
integers) do no harm: equal values are interchangeable, and the rank counts exactly the observations. Cost:
O(1) a row, no branch on values. Source: own construction; the sequence is from J. E. Bresenham's line,
doi:10.1147/sj.41.0025.

Narrow windows of long series: the network is compiled into a loop of its own, see
:mod:`rollstat.compile.simd.register_networks`. The last groups are computed from a copy, since every group
reads beyond its end.

Boxes over rows and columns of an image: a lane has some boxes below one another, and rows of lanes are rows
of the image, so nothing is transposed. In a compiled loop the last vector of a row overlaps others.
"""

from typing import NamedTuple

import numpy as np

from rollstat.compile.jit import kernel
from rollstat.compile.lowering import class_of, dispatching
from rollstat.compile.simd.register_networks import (
    AT_RANK,
    MIDPOINT,
    group_rows,
    select_boxes,
    select_groups,
)
from rollstat.compile.simd.vectors import lanes_of, transpose_four
from rollstat.kernels.comparator import Greatest, Least, worst_of
from rollstat.kernels.loops import copy, exchange, lower_of, upper_of
from rollstat.kernels.selection.extended_image import copy_row
from rollstat.kernels.selection.quantiles import LINEAR as LINEAR_QUANTILE
from rollstat.kernels.selection.quantiles import interpolate_constant, quantile_point

# Rows between two chances to stop at a NaN, at least.
_ROWS_OF_PART = 1 << 11

SHARE_BITS = 15
"""Shares are multiples of 2 to the power of minus this; int32 holds their products with `LONGEST_PART`."""

LONGEST_PART = 1 << 15
"""Results of a part of a series at most, where values are missing."""

# Operations of a network.
EXCHANGE, MINIMUM, MAXIMUM = range(3)


class Network(NamedTuple):
    """A selection network as a list of instructions over rows of lanes.

    Attributes
    ----------
    instructions : ndarray of int32, shape (instructions, 8)
        Operation, lanes beyond the last one to compute, row for the lower value, row for the upper
        value, row and lane shift of the first operand, row and lane shift of the second operand. No
        operand is read at a smaller lane than is being written, so rows may be overwritten in place.
    results : ndarray of int32, shape (ranks, block, 2)
        Row and lane shift where each rank of each window of the block is found.
    reach : int
        Number of lanes beyond the last one that must be filled with input.
    rows : int
        Number of rows needed; the first ones, as many as a block has windows, hold the input.
    """

    instructions: np.ndarray
    results: np.ndarray
    reach: int
    rows: int


class LaneScratch(NamedTuple):
    """Memory for a group of blocks.

    Attributes
    ----------
    work : ndarray of the dtype of the values, shape (rows * stride,)
        Rows of lanes.
    points : ndarray of the dtype of the outputs, shape (4 * lanes,)
        Four rows of outputs.
    lanes : int
        Blocks of a group, a multiple of the lanes of a vector.
    stride : int
        Length of a row, at least `lanes`, the network's reach and two vectors: whole vectors are computed.
    """

    work: np.ndarray
    points: np.ndarray
    lanes: int
    stride: int


@kernel
def _transpose_in(values, block, lanes, work, stride):
    """Fill lanes of the input rows, as far as there are values."""
    whole = min(lanes, len(values) // block) // 4 * 4
    for lane in range(0, whole, 4):
        for j in range(0, block, 4):
            i = lane * block + j
            transpose_four(
                values, i, i + block, i + 2 * block, i + 3 * block, work, j * stride + lane, stride
            )
    for i in range(whole * block, min(lanes * block, len(values))):
        work[i % block * stride + i // block] = values[i]


@kernel
def _transpose_out(points, stride, lanes, block, first, target):
    """Write the rows of four neighbouring windows of each block, starting with window `first`."""
    whole = min(lanes, len(target) // block) // 4 * 4
    for lane in range(0, whole, 4):
        place = lane * block + first
        transpose_four(
            points, lane, lane + stride, lane + 2 * stride, lane + 3 * stride, target, place, block
        )
    for lane in range(whole, lanes):
        for j in range(4):
            if lane * block + first + j < len(target):
                target[lane * block + first + j] = points[j * stride + lane]


@kernel
def _execute(instructions, lanes, vector_lanes, work, stride):
    """Apply every instruction to its rows."""
    for i in range(len(instructions)):
        operation = instructions[i, 0]
        steps = (lanes + instructions[i, 1] + vector_lanes - 1) // vector_lanes
        count = steps * vector_lanes
        lower, upper = instructions[i, 2] * stride, instructions[i, 3] * stride
        first = instructions[i, 4] * stride + instructions[i, 5]
        second = instructions[i, 6] * stride + instructions[i, 7]
        if operation == EXCHANGE:
            exchange(work, count, lower, upper, first, second)
        elif operation == MINIMUM:
            lower_of(work, count, lower, first, second)
        else:
            upper_of(work, count, upper, first, second)


@kernel(inline="always")
def _result_row(work, stride, result, lanes):
    start = result[0] * stride + result[1]
    return work[start : start + lanes]


@kernel
def _write_output(scratch, results, output, fraction, lanes, target):
    """Write one output of a group of blocks."""
    work, points, stride = scratch.work, scratch.points, scratch.stride
    block = results.shape[1]
    room = len(points) // 4
    which, kind = output[0], output[1]
    for j in range(block):
        row = _result_row(work, stride, results[which, j], lanes)
        out = points[j % 4 * room : j % 4 * room + lanes]
        if kind == AT_RANK:
            copy(row, out)
        else:
            above = _result_row(work, stride, results[which + 1, j], lanes)
            interpolate_constant(row, above, fraction, kind == MIDPOINT, out)
        if j % 4 == 3:
            _transpose_out(points, room, lanes, block, j - 3, target)


@kernel
def run_network(values, network, scratch, outputs, fractions, out):
    """Write ranks of every window of `values`, or points between neighbouring ranks.

    Parameters
    ----------
    values : ndarray, shape (rows + m - 1,)
    network : Network
        Its blocks must have a multiple of 4 windows.
    scratch : LaneScratch
    outputs : ndarray of int64, shape (outputs, 2)
        Number of a result, and the kind: ``AT_RANK`` for the result itself, ``LINEAR`` or ``MIDPOINT`` for a
        point between it and the next result.
    fractions : ndarray of float64, shape (outputs,)
        Where between the two results a ``LINEAR`` output lies.
    out : ndarray, shape (outputs, rows)
        Receives the outputs.
    """
    results, lanes = network.results, scratch.lanes
    block = results.shape[1]
    rows = out.shape[1]
    for start in range(0, rows, block * lanes):
        group = min(lanes, (rows - start + block - 1) // block)
        _transpose_in(values[start:], block, group + network.reach, scratch.work, scratch.stride)
        _execute(network.instructions, group, lanes_of(values), scratch.work, scratch.stride)
        for i in range(len(outputs)):
            _write_output(scratch, results, outputs[i], fractions[i], group, out[i, start:])


@kernel
def run_box_network(image, edges, network, scratch, outputs, fractions, out):
    """Write ranks of every box of an extended image, or points between neighbouring ranks.

    Parameters
    ----------
    image : ndarray of two dimensions
    edges : Edges
    network : Network
        Its blocks have T rows of boxes of m rows, and its inputs ``m + T - 1`` rows of the image.
    scratch, outputs, fractions
        As for :func:`run_network`; rows of outputs are not needed.
    out : ndarray, shape (outputs, rows, columns)
        Receives the outputs: a row and a column for each box inside of the extended image.
    """
    work, stride, results, block = scratch.work, scratch.stride, network.results, network.results.shape[1]
    rows, columns = out.shape[1], out.shape[2]
    for top in range(0, rows, block):
        covered = min(block, rows - top) + len(edges.rows) - rows
        for left in range(0, columns, scratch.lanes):
            lanes = min(scratch.lanes, columns - left)
            count = min(lanes + network.reach, len(edges.columns) - left)
            for j in range(covered):
                copy_row(image, edges, top + j, left, work[j * stride : j * stride + count])
            _execute(network.instructions, lanes, lanes_of(work), work, stride)
            for i in range(len(outputs)):
                which, kind = outputs[i, 0], outputs[i, 1]
                for j in range(min(block, rows - top)):
                    row = _result_row(work, stride, results[which, j], lanes)
                    target = out[i, top + j, left : left + lanes]
                    if kind == AT_RANK:
                        copy(row, target)
                    else:
                        above = _result_row(work, stride, results[which + 1, j], lanes)
                        interpolate_constant(row, above, fractions[i], kind == MIDPOINT, target)


@kernel
def run_box_in_registers(network, block, image, edges, work, stride, columns, out):
    """Do what :func:`run_box_network` does for ranks, by a network that is compiled into the loop.

    Parameters
    ----------
    network : RegisterNetwork
    block : int
        Boxes of a block, one below another.
    image, edges
        As for :func:`run_box_network`.
    work : ndarray of the dtype of the image
        Memory for the rows that a block covers, `stride` elements apart.
    columns : int
        Columns of boxes, at least a vector.
    out : ndarray of the dtype of the image, shape (outputs, rows * columns)
        Receives the ranks; there are at least as many rows as in a block.
    """
    rows, lanes, flat = out.shape[1] // columns, lanes_of(work), out.reshape(-1)
    for first in range(0, rows, block):
        top = min(first, rows - block)
        for j in range(block + len(edges.rows) - rows):
            copy_row(image, edges, top + j, 0, work[j * stride : j * stride + len(edges.columns)])
        for left in range(0, columns, lanes):
            start = min(left, columns - lanes)
            select_boxes(network, work, stride, start, flat, top * columns + start, columns, out.shape[1])


@kernel
def run_in_registers(network, values, rest, fractions, out, last):
    """Do what :func:`run_network` does, by a network that is compiled into the loop.

    Parameters
    ----------
    network : RegisterNetwork
        It knows the outputs.
    values : ndarray, shape (rows + m - 1,)
    rest : ndarray of the dtype of the values, shape (three groups,)
        The values from the last group on that is not followed by a whole one, and then any of the values.
    fractions : ndarray of float64, shape (outputs,)
        Where between two ranks a ``LINEAR`` output lies.
    out : ndarray, shape (outputs * rows,)
        Receives the outputs.
    last : ndarray of the dtype of `out`, shape (outputs * two groups,)
        Scratch for the last outputs.

    Returns
    -------
    bool
        Whether no value is NaN, and every point between two ranks finite; otherwise the outputs are
        meaningless.
    """
    group = group_rows(network, values)
    room = len(last) // len(fractions)
    rows, inside = len(out) // len(fractions), len(values) // group * group - group
    first, part = 0, (_ROWS_OF_PART // group + 1) * group
    while first < rows:
        source, start, target, step = values, first, out, rows
        end = min(first + part, inside)
        if first >= inside:
            source, start, target, step, end = rest, 0, last, room, rows
        groups = (end - first + group - 1) // group
        if not select_groups(network, source, start, groups, fractions, target, start, step):
            return False
        first = end
    left = rows - max(inside, 0)
    for i in range(len(fractions)):
        copy(last[i * room :], out[(i + 1) * rows - left : (i + 1) * rows])
    return True


class Lanes(NamedTuple):
    """A network as a list of instructions, and what else :func:`run_network` needs to find its ranks."""

    network: Network
    scratch: LaneScratch
    outputs: np.ndarray
    fractions: np.ndarray


class Observed(NamedTuple):
    """Memory for the windows of a part of a series in which values are missing.

    Attributes
    ----------
    keys : ndarray of the dtype of the values, shape (at least rows + width - 1,)
        Values and sentinels.
    gaps, lows : ndarray of int32, shape (at least rows + width,)
        Number of missing values before each row, and of all; how many of these are below.
    found : ndarray of the dtype of the values, shape (ranks, rows)
        The ranks among values and sentinels; only the first four are read.
    """

    keys: np.ndarray
    gaps: np.ndarray
    lows: np.ndarray
    found: np.ndarray


class Order(NamedTuple):
    """Which observation of every window is wanted, and how sentinels are placed for that.

    Attributes
    ----------
    k, q, interpolation
        The k-th observation or, if `k` is 0, a quantile, see :mod:`rollstat.kernels.selection.quantiles`.
    least : int
        Fewest observations of a result.
    mark : float
        What is written below that.
    share : int
        Share of the sentinels that are below, in units of ``2**-SHARE_BITS``.
    first : int
        First of the ranks that are found.
    """

    k: int
    q: float
    interpolation: int
    least: int
    mark: float
    share: int
    first: int


_NO_FRACTIONS = np.empty(0)


@kernel
def _by_lanes(finder, keys, found):
    run_network(keys, finder.network, finder.scratch, finder.outputs, finder.fractions, found)


@kernel
def _by_registers(finder, keys, found):
    groups = found.shape[1] // group_rows(finder, keys)
    select_groups(finder, keys, 0, groups, _NO_FRACTIONS, found.reshape(-1), 0, found.shape[1])


@dispatching
def _find_ranks(finder, keys, found):
    """Write ranks of all windows of `keys` to `found`."""
    return _by_lanes if class_of(finder) is Lanes else _by_registers


@kernel
def _place_sentinels(values, missing, share, keys, gaps, lows):
    """Write the values with sentinels for missing ones, and count these."""
    count = np.int32(0)
    for i in range(len(values)):
        gaps[i] = count
        count += np.int32(missing[i])
    gaps[len(values)] = count
    lowest, highest = worst_of(Greatest(), values), worst_of(Least(), values)
    whole, half = 1 << SHARE_BITS, 1 << (SHARE_BITS - 1)
    for i in range(len(values)):
        scaled = np.int32(gaps[i] * share + half)  # Numba computes in int64: half as many lanes
        lows[i] = scaled >> SHARE_BITS
        sentinel = lowest if np.int32(scaled & (whole - 1)) >= whole - share else highest
        keys[i] = sentinel if missing[i] else values[i]
    lows[len(values)] = (count * share + half) >> SHARE_BITS


# `exact` is a literal in every call: each is compiled to a loop of its own.
@kernel(forceinline=True)
def _write_points(found, gaps, lows, width, order, exact, out):
    """Write the results of a part, given the ranks among values and sentinels.

    Unless `exact`, only order statistics and linear interpolation are written, and infinite results may be
    wrong; return how many are infinite or NaN.
    """
    k, q, interpolation, least, mark, _, first = order
    last = len(found) - 1
    one, two, three, four = found[0], found[min(1, last)], found[min(2, last)], found[min(3, last)]
    ends, low_ends = gaps[width:], lows[width:]
    width, first = np.int32(width), np.int32(first)
    unsure = 0
    for i in range(len(out)):
        count = np.float64(np.int32(width - (ends[i] - gaps[i])))
        below = np.float64(np.int32(low_ends[i] - lows[i] - first))
        position = q * (count - 1.0)
        whole = np.floor(position)
        rank = whole if k == 0 else k - 1.0 if k > 0 else count + k
        place = rank + below
        a, b, c, d = np.float64(one[i]), np.float64(two[i]), np.float64(three[i]), np.float64(four[i])
        lower = a if place < 0.5 else b if place < 1.5 else c if place < 2.5 else d
        upper = b if place < 0.5 else c if place < 1.5 else d
        if exact:
            point = quantile_point(lower, upper, count, q, interpolation)
        else:
            point = lower + (upper - lower) * (position - whole)
            point = lower if position == whole else point
        sufficient = count >= least
        unsure += (point - point != 0.0) & sufficient
        out[i] = point if sufficient else mark
    return unsure


@kernel
def write_observed(finder, memory, values, missing, order, out):
    """Write an order statistic of the observations of every window, or a mark where there are too few.

    Parameters
    ----------
    finder : Lanes or RegisterNetwork
        Finds the ranks that occur among values and sentinels.
    memory : Observed
    values, missing : ndarray, shape (rows + width - 1,)
    order : Order
    out : ndarray, shape (rows,)
        Receives the results, computed in float64.
    """
    keys, gaps, lows, found = memory
    rows, part, width = len(out), found.shape[1], len(values) - len(out) + 1
    for first in range(0, rows, part):
        last = min(first + part, rows)
        covered = slice(first, last + width - 1)
        _place_sentinels(values[covered], missing[covered], order.share, keys, gaps, lows)
        _find_ranks(finder, keys, found)
        part_out = out[first:last]
        plain = order.k != 0 or order.interpolation == LINEAR_QUANTILE
        if not plain or _write_points(found, gaps, lows, width, order, False, part_out) > 0:
            _write_points(found, gaps, lows, width, order, True, part_out)
