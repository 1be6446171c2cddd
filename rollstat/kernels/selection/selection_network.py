"""Running a selection network over all windows of a series, one tile of windows a lane.

::

    values   0 1 2 3 4 5 6 7 8 9 ...         rows of lanes, T = 4:    row 0   0 4  8 ...
             `-----' `-----' `---                                     row 1   1 5  9 ...
             tile 0  tile 1                                           row 2   2 6 10 ...
                                                                      row 3   3 7 11 ...

The rows are transposed in, the network's instructions (:mod:`rollstat.networks`) work on whole rows, and
the rows that hold results, or points between two of them, are transposed out; then the next group of tiles.

State: ``work``, rows of ``stride`` values, and nothing that outlives a group. Invariant: a lane depends on
that lane and the `reach` next ones only, so lanes past the end of the data may hold anything. Cost: the
same for all data, as no instruction depends on a value: O(log^2 m) operations a window, amortised over the
tile, and the worst case is the average.

Source: Batcher, doi:10.1145/1468075.1468121; Adams, doi:10.1145/3450626.3459773.
"""

from rollstat._jit import kernel
from rollstat.kernels.selection.quantiles import interpolate_constant
from rollstat.kernels.simd.compare_exchange import exchange, lower_of, transpose_four, upper_of

__all__ = ["LINEAR", "LOWER", "MIDPOINT", "UPPER", "select_in_tiles"]

LOWER, UPPER, LINEAR, MIDPOINT = 0, 1, 2, 3  # what becomes of a result: where it goes, or what is made of it


@kernel
def _copy_row(row, points):
    for lane in range(len(points)):
        points[lane] = row[lane]


@kernel
def _transpose_in(values, tile, lanes, work, stride):
    """Fill lanes of the input rows, as far as there are values."""
    whole = min(lanes, len(values) // tile) // 4 * 4
    for lane in range(0, whole, 4):
        for j in range(0, tile, 4):
            i = lane * tile + j
            transpose_four(values, i, i + tile, i + 2 * tile, i + 3 * tile, work, j * stride + lane, stride)
    for i in range(whole * tile, min(lanes * tile, len(values))):
        work[i % tile * stride + i // tile] = values[i]


@kernel
def _transpose_out(points, stride, lanes, tile, first, target):
    """Write the rows of four neighbouring windows of each tile, the first of them window `first`."""
    whole = min(lanes, len(target) // tile) // 4 * 4
    for lane in range(0, whole, 4):
        place = lane * tile + first
        transpose_four(points, lane, lane + stride, lane + 2 * stride, lane + 3 * stride, target, place, tile)
    for lane in range(whole, lanes):
        for j in range(4):
            if lane * tile + first + j < len(target):
                target[lane * tile + first + j] = points[j * stride + lane]


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
        if operation == 0:
            exchange(work, count, lower, upper, first, second)
        elif operation == 1:
            lower_of(work, count, lower, first, second)
        else:
            upper_of(work, count, upper, first, second)


@kernel(inline="always")
def _result_row(work, stride, result, lanes):
    start = result[0] * stride + result[1]
    return work[start : start + lanes]


@kernel
def _write_output(work, stride, results, output, fraction, lanes, points, target):
    """Write one output of a group of tiles."""
    tile = results.shape[1]
    room = len(points) // 4
    which, kind = output[0], output[1]
    for j in range(tile):
        row = _result_row(work, stride, results[which, j], lanes)
        out = points[j % 4 * room : j % 4 * room + lanes]
        if kind < LINEAR:
            _copy_row(row, out)
        else:
            above = _result_row(work, stride, results[which + 1, j], lanes)
            interpolate_constant(row, above, fraction, kind == MIDPOINT, out)
        if j % 4 == 3:
            _transpose_out(points, room, lanes, tile, j - 3, target)


@kernel
def select_in_tiles(
    values,
    instructions,
    results,
    reach,
    lanes,
    vector_lanes,
    work,
    stride,
    points,
    outputs,
    fractions,
    lower,
    upper,
):
    """Find ranks in every window of `values`, or points between neighbouring ranks.

    Parameters
    ----------
    values : ndarray, shape (rows + m - 1,)
    instructions, results, reach
        The network, see :class:`rollstat.networks.Network`; its tile must be a multiple of 4.
    lanes, vector_lanes : int
        Tiles a group, a multiple of the lanes of a vector.
    work, stride : ndarray of the dtype of the values, int
        Rows of lanes, ``stride >= lanes + reach + 2 * vector_lanes`` as whole vectors are computed.
    points : ndarray of the dtype of the outputs, shape (4 * lanes,)
        Scratch.
    outputs : ndarray of int64, shape (outputs, 3)
        Number of a result; what becomes of it: ``LOWER`` or ``UPPER`` to say where it goes, ``LINEAR`` or
        ``MIDPOINT`` to put a point between it and the next result into `lower`; and the row to write.
    fractions : ndarray of float64, shape (outputs,)
        Where between the two results a ``LINEAR`` output lies.
    lower, upper : ndarray, shape (any, rows)
        Receive the outputs.
    """
    tile = results.shape[1]
    rows = lower.shape[1]
    for start in range(0, rows, tile * lanes):
        group = min(lanes, (rows - start + tile - 1) // tile)
        _transpose_in(values[start:], tile, group + reach, work, stride)
        _execute(instructions, group, vector_lanes, work, stride)
        for i in range(len(outputs)):
            row = outputs[i, 2]
            target = upper[row, start:] if outputs[i, 1] == UPPER else lower[row, start:]
            _write_output(work, stride, results, outputs[i], fractions[i], group, points, target)
