"""Extrema along one axis of an image or a volume, edges extended by rule.

::

    rows      . . . . . . . .   suffix[k]: best of rows k ... width - 1 of a block, upwards
              . . . . . . . .   running:   best of the rows after the block, downwards
    one step  v v v v v v v v   result of the window that begins at row k: better of the two

A window along the last axis slides within lines, by doubling. Along any other axis the rows across it are
read in memory order: each step of van Herk's and Gil and Werman's scan is done in vectors for a group of
columns, and nothing is transposed.

State: scratch memory. ``source[p]`` is the row at index p of the extended axis, -1 for the constant.
Invariant: as in :mod:`rollstat.kernels.aggregate.van_herk`, for every column. Cost: 3 vector
comparisons for each vector of results along rows, whatever the window; along lines, the cost of doubling.

Source: J. Gil and M. Werman, Computing 2-D min, median, and max filters, IEEE TPAMI 15 (1993) 504-507,
doi:10.1109/34.211471; separability is from the same paper.
"""

from rollstat.compile.jit import kernel
from rollstat.compile.simd.vectors import lanes_of, load, store
from rollstat.kernels.comparator import prefer, worst_of
from rollstat.kernels.extrema import blockwise, doubling


@kernel
def _fold(order, values, first, older, newer):
    """Write the better of a row of `values` and `older` to `newer`."""
    lanes = lanes_of(newer)
    for i in range(0, len(newer), lanes):
        j = min(i, len(newer) - lanes)
        store(prefer(order, load(values, first + j), load(older, j)), newer, j)


@kernel
def _fold_constant(order, constant, older, newer):
    """Write the better of `constant` and `older` to `newer`."""
    for j in range(len(newer)):
        newer[j] = prefer(order, constant, older[j])


@kernel
def _merge(order, suffix, running, out, first):
    """Write the better of two rows to a row of `out`."""
    lanes = lanes_of(running)
    for i in range(0, len(running), lanes):
        j = min(i, len(running) - lanes)
        store(prefer(order, load(suffix, j), load(running, j)), out, first + j)


@kernel
def scan_rows(order, values, across, source, constant, width, columns, scratch, out):
    """Write the best of `width` rows of the extended axis to every row of `out`.

    `values` and `out` are different arrays of rows of `across` elements, at least one vector, laid flat.
    `columns`, a multiple of the lanes, is the number of columns scanned at once, and `scratch` has
    ``(width + 2) * columns`` elements.
    """
    lanes = lanes_of(out)
    rows = len(out) // across
    for column in range(0, across, columns):
        left = min(column, across - lanes)
        wide = min(columns, across - left)
        running = scratch[:wide]
        for block in range(0, rows, width):
            below = scratch[columns : columns + wide]
            below[:] = worst_of(order, out)
            for k in range(width - 1, -1, -1):
                suffix = scratch[(k + 2) * columns : (k + 2) * columns + wide]
                row = source[block + k]
                if row >= 0:
                    _fold(order, values, row * across + left, below, suffix)
                else:
                    _fold_constant(order, constant, below, suffix)
                below = suffix
            running[:] = worst_of(order, out)
            for i in range(block, min(block + width, rows)):
                suffix = scratch[(i - block + 2) * columns : (i - block + 2) * columns + wide]
                if i > block:
                    row = source[i + width - 1]
                    if row >= 0:
                        _fold(order, values, row * across + left, running, running)
                    else:
                        _fold_constant(order, constant, running, running)
                _merge(order, suffix, running, out, i * across + left)


@kernel
def _slide(order, values, width, size, scratch, out):
    """Write the best of every ``values[i:i + width]`` to ``out[i]``."""
    if width <= doubling.WIDEST:
        doubling.rolling(order, values, width, size, scratch, 0, out)
    else:
        blockwise.rolling(order, values, width, size, scratch, 0, out)


@kernel
def scan_lines(order, values, stride, before, source, constant, width, size, memory, scratch, out):
    """Write the best of `width` elements of the extended axis to every element of every line of `out`.

    The elements of a line are `stride` apart; `values` and `out` may be the same array. `before` elements of
    the extended axis precede the first one of a line. `memory` has room for an extended line and a line of
    results; `size` and `scratch` are as in :mod:`rollstat.kernels.extrema.doubling` or `blockwise`.
    """
    extended, results = memory[: len(source)], memory[len(source) :]
    length = len(results)
    for line in range(len(out) // length):
        first = line // stride * stride * length + line % stride
        for begin, end in ((0, before), (before + length, len(source))):
            for p in range(begin, end):
                extended[p] = values[first + source[p] * stride] if source[p] >= 0 else constant
        inside = extended[before : before + length]
        if stride == 1:
            read = values[first : first + length]
            for j in range(length):
                inside[j] = read[j]
            _slide(order, extended, width, size, scratch, out[first : first + length])
        else:
            for j in range(length):
                inside[j] = values[first + j * stride]
            _slide(order, extended, width, size, scratch, results)
            for j in range(length):
                out[first + j * stride] = results[j]
