"""Running a selection network over all windows of a series, one tile of windows a lane.

::

    values   0 1 2 3 4 5 6 7 8 9 ...         rows of lanes, T = 4:    row 0   0 4  8 ...
             `-----' `-----' `---                                     row 1   1 5  9 ...
             tile 0  tile 1                                           row 2   2 6 10 ...
                                                                      row 3   3 7 11 ...

The rows are transposed in, the network's instructions (:mod:`rollstat.networks`) work on whole rows, and
the rows that hold results are transposed out; then the next group of tiles.

State: ``work``, rows of ``stride`` values, and nothing that outlives a group. Invariant: a lane depends on
that lane and the `reach` next ones only, so lanes past the end of the data may hold anything. Cost: the
same for all data, as no instruction depends on a value: O(log^2 m) operations a window, amortised over the
tile, and the worst case is the average.

Source: Batcher, doi:10.1145/1468075.1468121; Adams, doi:10.1145/3450626.3459773.
"""

from rollstat._jit import kernel
from rollstat.kernels.lanes import exchange, lower_of, upper_of

__all__ = ["select_in_tiles"]


@kernel
def _transpose_in(values, tile, lanes, work, stride):
    """Fill lanes of the input rows, as far as there are values."""
    for j in range(min(tile, len(values))):
        source = values[j:]
        row = work[j * stride : (j + 1) * stride]
        for lane in range(min(lanes, (len(source) + tile - 1) // tile)):
            row[lane] = source[lane * tile]


@kernel
def _transpose_out(work, stride, result, lanes, target):
    """Write the rows of one result to the windows that they stand for."""
    tile = len(result)
    for j in range(min(tile, len(target))):
        start = result[j, 0] * stride + result[j, 1]
        row = work[start : start + lanes]
        out = target[j:]
        for lane in range(min(lanes, (len(out) + tile - 1) // tile)):
            out[lane * tile] = row[lane]


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


@kernel
def select_in_tiles(values, instructions, results, reach, lanes, vector_lanes, work, stride, targets):
    """Find ranks in every window of `values`.

    Parameters
    ----------
    values : ndarray, shape (rows + m - 1,)
    instructions, results, reach
        The network, see :class:`rollstat.networks.Network`.
    lanes : int
        Tiles a group: a multiple of `vector_lanes`.
    work, stride : ndarray of the dtype of the values, int
        Rows of lanes: ``stride >= lanes + reach + 2 * vector_lanes``, as whole vectors are computed.
    targets : ndarray, shape (ranks, rows)
        Receives the values.
    """
    tile = results.shape[1]
    rows = targets.shape[1]
    for start in range(0, rows, tile * lanes):
        group = min(lanes, (rows - start + tile - 1) // tile)
        _transpose_in(values[start:], tile, group + reach, work, stride)
        _execute(instructions, group, vector_lanes, work, stride)
        for rank in range(len(results)):
            _transpose_out(work, stride, results[rank], group, targets[rank, start:])
