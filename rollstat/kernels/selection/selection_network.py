"""Run a selection network over all windows of a series, one block of windows in each lane.

::

    values   0 1 2 3 4 5 6 7 8 9 ...         rows of lanes, blocks of T = 4:    row 0   0 4  8 ...
             `-----' `-----' `---                                               row 1   1 5  9 ...
             block 0 block 1                                                    row 2   2 6 10 ...
                                                                                row 3   3 7 11 ...

The rows are transposed in, the instructions of the network (:mod:`rollstat.networks`) work on whole rows,
and the rows of the results, or of points between two of them, are transposed out; then the next group of
blocks follows.

State: `LaneScratch`, and nothing that outlives a group. Invariant: a lane depends only on that lane and the
`reach` next ones, so lanes past the end of the data may hold anything. Cost: the same for all data, since no
instruction depends on a value: O(log^2 m) operations a window, amortised over the block; the worst case is
the average.

Source: Batcher, doi:10.1145/1468075.1468121; Adams, doi:10.1145/3450626.3459773.
"""

from typing import NamedTuple

import numpy as np

from rollstat.compile.jit import kernel
from rollstat.compile.simd.vectors import lanes_of, transpose_four
from rollstat.kernels.selection.quantiles import interpolate_constant
from rollstat.kernels.simd.compare_exchange import exchange, lower_of, upper_of

__all__ = [
    "EXCHANGE",
    "LINEAR",
    "LOWER",
    "MAXIMUM",
    "MIDPOINT",
    "MINIMUM",
    "UPPER",
    "LaneScratch",
    "Network",
    "run_network",
]

# Operations of a network.
EXCHANGE, MINIMUM, MAXIMUM = range(3)

# Kinds of output: a result that goes to `lower` or to `upper`, or a point between a result and the next one.
LOWER, UPPER, LINEAR, MIDPOINT = range(4)


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
def _copy_row(row, points):
    for lane in range(len(points)):
        points[lane] = row[lane]


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
        if kind < LINEAR:
            _copy_row(row, out)
        else:
            above = _result_row(work, stride, results[which + 1, j], lanes)
            interpolate_constant(row, above, fraction, kind == MIDPOINT, out)
        if j % 4 == 3:
            _transpose_out(points, room, lanes, block, j - 3, target)


@kernel
def run_network(values, network, scratch, outputs, fractions, lower, upper):
    """Write ranks of every window of `values`, or points between neighbouring ranks.

    Parameters
    ----------
    values : ndarray, shape (rows + m - 1,)
    network : Network
        Its blocks must have a multiple of 4 windows.
    scratch : LaneScratch
    outputs : ndarray of int64, shape (outputs, 3)
        Number of a result; kind: ``LOWER`` or ``UPPER`` says where the result goes, ``LINEAR`` or
        ``MIDPOINT`` writes a point between it and the next result to `lower`; and the row to write.
    fractions : ndarray of float64, shape (outputs,)
        Where between the two results a ``LINEAR`` output lies.
    lower, upper : ndarray, shape (any, rows)
        Receive the outputs.
    """
    results, lanes = network.results, scratch.lanes
    block = results.shape[1]
    rows = lower.shape[1]
    for start in range(0, rows, block * lanes):
        group = min(lanes, (rows - start + block - 1) // block)
        _transpose_in(values[start:], block, group + network.reach, scratch.work, scratch.stride)
        _execute(network.instructions, group, lanes_of(values), scratch.work, scratch.stride)
        for i in range(len(outputs)):
            row = outputs[i, 2]
            target = upper[row, start:] if outputs[i, 1] == UPPER else lower[row, start:]
            _write_output(scratch, results, outputs[i], fractions[i], group, target)
