"""Minimum and maximum of rows of lanes, and their transposition, as vector instructions.

::

    work    [ . . a a a a . . b b b b . . l l l l . . u u u u . . ]
                  |first      |second     |lower      |upper           lower = min(a, b), upper = max(a, b)

Loops over slices would do, but the rows lie in one array and are overwritten in place: LLVM cannot know
that this is harmless and would vectorise behind run-time tests of overlap, which fail just then.

State: one scratch array. Invariant: vectors are read before they are written, in rising order, so a
target may be an operand, or the same row at smaller lanes. Cost: O(count), no branches on data; whole vectors
of :mod:`rollstat.kernels.simd.vectors`, so counts of lanes must be a multiple of what they hold.
Values that compare equal are interchangeable (-0.0 and 0.0 too), but both are kept; there must be no NaN.
"""

from llvmlite import ir
from numba import types

from rollstat._jit import kernel
from rollstat.kernels.simd.comparator import Greatest, Least, prefer
from rollstat.kernels.simd.vectors import lanes_of, load, operation, store

__all__ = ["exchange", "lower_of", "transpose_four", "upper_of"]


@kernel(forceinline=True)
def exchange(work, count, lower, upper, first, second):
    """Write the smaller and the larger of two rows that start at `first` and `second`."""
    for lane in range(0, count, lanes_of(work)):
        one, two = load(work, first + lane), load(work, second + lane)
        store(prefer(Least(), one, two), work, lower + lane)
        store(prefer(Greatest(), two, one), work, upper + lane)


@kernel(forceinline=True)
def lower_of(work, count, lower, first, second):
    """Write the smaller of two rows."""
    for lane in range(0, count, lanes_of(work)):
        store(prefer(Least(), load(work, first + lane), load(work, second + lane)), work, lower + lane)


@kernel(forceinline=True)
def upper_of(work, count, upper, first, second):
    """Write the larger of two rows."""
    for lane in range(0, count, lanes_of(work)):
        store(prefer(Greatest(), load(work, second + lane), load(work, first + lane)), work, upper + lane)


def _plain_transpose_four(source, one, two, three, four, target, place, step):
    """Transpose four stretches of four values into stretches at `place` and every `step` after it."""
    rows = [source[start : start + 4].copy() for start in (one, two, three, four)]
    for i, column in enumerate(zip(*rows)):
        target[place + i * step : place + i * step + 4] = column


@operation(_plain_transpose_four)
def transpose_four(context, source, one, two, three, four, target, place, step):
    def generate(context, builder, signature, arguments):
        data = context.make_array(source)(context, builder, arguments[0]).data
        out = context.make_array(target)(context, builder, arguments[5]).data
        element = context.get_data_type(source.dtype)
        size = context.get_abi_sizeof(element)
        vector = ir.VectorType(element, 4)

        def at(start, array):
            return builder.bitcast(builder.gep(array, [start]), vector.as_pointer())

        def shuffle(first, second, *lanes):
            return builder.shuffle_vector(first, second, ir.Constant(ir.VectorType(ir.IntType(32), 4), lanes))

        a, b, c, d = (builder.load(at(start, data), align=size) for start in arguments[1:5])
        pairs = [
            (shuffle(a, b, i, 4 + i, 2 + i, 6 + i), shuffle(c, d, i, 4 + i, 2 + i, 6 + i)) for i in (0, 1)
        ]
        columns = [shuffle(*pairs[i % 2], i & 2, 1 + (i & 2), 4 + (i & 2), 5 + (i & 2)) for i in range(4)]
        start = arguments[6]
        for column in columns:
            builder.store(column, at(start, out), align=size)
            start = builder.add(start, arguments[7])
        return context.get_dummy_value()

    if source.dtype != target.dtype:
        return None
    return types.void(source, *[types.intp] * 4, target, types.intp, types.intp), generate
