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
``s * m`` among all ``m``, whatever `g` is. Only the two or three ranks that occur must be found::

    values    3  .  8  .  1  .  5        s = 1/2, the median of every window
    keys      3 -oo 8 oo  1 -oo 5
              [----------]               rank 0 of 3, 8    + 1 below = 1 of 4
                 [---------]             rank 0 of 8, 1    + 1 below = 1 of 4
                    [---------]          rank 0 of 8, 1    + 1 below = 1 of 4

State: the phase of the sequence. Invariant: among ``g`` consecutive missing values, the number below differs
from ``s * g`` by less than one. Observations equal to a sentinel (an infinity, the limits of the integers) do
no harm: equal values are interchangeable, and the rank counts exactly the observations. Cost: O(1) a row, no
branch on values. Source: own construction; the sequence is that of J. E. Bresenham's line,
doi:10.1147/sj.41.0025.

Narrow windows of long series: the network is compiled into a loop of its own, see
:mod:`rollstat.compile.simd.register_networks`. The last groups are computed from a copy, since every group
reads beyond its end.
"""

from typing import NamedTuple

import numpy as np

from rollstat.compile.jit import kernel
from rollstat.compile.simd.register_networks import (
    AT_RANK,
    MIDPOINT,
    group_rows,
    select_groups,
)
from rollstat.compile.simd.vectors import lanes_of, transpose_four
from rollstat.kernels.loops import copy, exchange, lower_of, upper_of
from rollstat.kernels.selection.quantiles import interpolate_constant

# Groups between two chances to stop at a NaN.
_GROUPS_OF_PART = 128

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
def place_sentinels(values, missing, share, lowest, highest, keys, low):
    """Write the values with sentinels for missing ones, and mark the sentinels below everything.

    Parameters
    ----------
    values, missing : ndarray, shape (length,)
    share : uint64
        Share of the sentinels that are below, times 2**64.
    lowest, highest : scalar of the dtype of the values
    keys : ndarray, shape (length,)
        Receives values and sentinels.
    low : ndarray of uint8, shape (length,)
        Receives 1 for a sentinel below, else 0.
    """
    phase = np.uint64(1) << np.uint64(63)
    for i in range(len(values)):
        # Arithmetic modulo 2**64 instead of branches, which random gaps would make unpredictable.
        gap = missing[i]
        step = share if gap else np.uint64(0)
        phase += step
        below = phase < step  # the sum wrapped around
        low[i] = below
        sentinel = lowest if below else highest
        keys[i] = sentinel if gap else values[i]


@kernel
def rank_in_all(rank, low, among):
    """Write the wanted ranks among observations and sentinels; return the smallest and the largest.

    Parameters
    ----------
    rank : ndarray of int64, shape (rows,)
        Rank among the observations of each window, negative where nothing is wanted.
    low : ndarray of uint8, shape (rows + width - 1,)
        1 for a sentinel below everything, else 0.
    among : ndarray of int64, shape (rows,)
        Receives the ranks, -1 where nothing is wanted.

    Returns
    -------
    first, last : int
        ``first > last`` if nothing is wanted.
    """
    width = len(low) - len(rank) + 1
    below = 0
    for i in range(width - 1):
        below += np.int64(low[i])
    entering = low[width - 1 :]
    first, last = width, -1
    for row in range(len(rank)):
        below += np.int64(entering[row])
        wanted = rank[row] >= 0
        found = rank[row] + below
        below -= np.int64(low[row])
        among[row] = found if wanted else -1
        first = min(first, found if wanted else width)
        last = max(last, found if wanted else -1)
    return first, last


@kernel
def pick(found, first, last, rank, lower, upper):
    """Copy, for every row with ``first <= rank[row] <= last``, the value found for that rank.

    ``found[r]`` holds the values of rank ``first + r``. Unless `upper` is empty it receives those of the
    next rank, where there is one.
    """
    pair = len(upper) > 0
    for i in range(len(rank)):
        if first <= rank[i] <= last:
            which = rank[i] - first
            lower[i] = found[which, i]
            if pair:
                upper[i] = found[min(which + 1, len(found) - 1), i]


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
    first = 0
    while first < rows:
        source, start, target, step = values, first, out, rows
        end = min(first + _GROUPS_OF_PART * group, inside)
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
