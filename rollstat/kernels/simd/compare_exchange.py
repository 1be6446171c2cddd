"""Minimum and maximum of rows of lanes, and their transposition, as vector instructions.

::

    work    [ . . a a a a . . b b b b . . l l l l . . u u u u . . ]
                  |first      |second     |lower      |upper           lower = min(a, b), upper = max(a, b)

The rows are in one array and are overwritten in place. LLVM cannot prove that this is safe and would
vectorise loops over slices behind run-time tests of overlap, which fail here; explicit vectors avoid them.

State: one scratch array. Invariant: vectors are read before they are written, in ascending order, so a
target may be an operand, or the same row at smaller lanes. Cost: O(count), without branches on data; counts
of lanes must be multiples of the vector length.
Values that compare equal are interchangeable (also -0.0 and 0.0), and both are kept; there must be no NaN.
"""

from llvmlite import ir
from numba import types

from rollstat._jit import kernel
from rollstat._lowering import lowered
from rollstat.kernels.simd.codegen import load_lanes, store_lanes
from rollstat.kernels.simd.comparator import Greatest, Least, prefer
from rollstat.kernels.simd.vectors import lanes_of, load, store

__all__ = ["exchange", "lower_of", "transpose_four", "upper_of"]


@kernel(forceinline=True)
def exchange(work, count, lower, upper, first, second):
    """Write the smaller and the larger values of the rows that start at `first` and `second`."""
    for lane in range(0, count, lanes_of(work)):
        one, two = load(work, first + lane), load(work, second + lane)
        store(prefer(Least(), one, two), work, lower + lane)
        store(prefer(Greatest(), two, one), work, upper + lane)


@kernel(forceinline=True)
def lower_of(work, count, lower, first, second):
    """Write the smaller values of two rows."""
    for lane in range(0, count, lanes_of(work)):
        store(prefer(Least(), load(work, first + lane), load(work, second + lane)), work, lower + lane)


@kernel(forceinline=True)
def upper_of(work, count, upper, first, second):
    """Write the larger values of two rows."""
    for lane in range(0, count, lanes_of(work)):
        store(prefer(Greatest(), load(work, second + lane), load(work, first + lane)), work, upper + lane)


def transpose_four(source, one, two, three, four, target, place, step):
    """Transpose the 4 x 4 values that start at four indices of `source`.

    Column k goes to the four elements of `target` from ``place + k * step`` on.
    """
    rows = [source[start : start + 4].copy() for start in (one, two, three, four)]
    for i, column in enumerate(zip(*rows)):
        target[place + i * step : place + i * step + 4] = column


@lowered(transpose_four)
def _transpose_four(source, one, two, three, four, target, place, step):
    def generate(context, builder, signature, arguments):
        def shuffle(first, second, *lanes):
            return builder.shuffle_vector(first, second, ir.Constant(ir.VectorType(ir.IntType(32), 4), lanes))

        values, out, start, distance = arguments[0], *arguments[5:]
        a, b, c, d = (load_lanes(context, builder, source, values, row, 4) for row in arguments[1:5])
        pairs = [
            (shuffle(a, b, i, 4 + i, 2 + i, 6 + i), shuffle(c, d, i, 4 + i, 2 + i, 6 + i)) for i in (0, 1)
        ]
        columns = [shuffle(*pairs[i % 2], i & 2, 1 + (i & 2), 4 + (i & 2), 5 + (i & 2)) for i in range(4)]
        for column in columns:
            store_lanes(context, builder, [column], target, out, start)
            start = builder.add(start, distance)
        return context.get_dummy_value()

    if source.dtype != target.dtype:
        return None
    return types.void(source, *[types.intp] * 4, target, types.intp, types.intp), generate
