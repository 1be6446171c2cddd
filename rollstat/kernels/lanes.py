"""Minimum and maximum of rows of lanes, and their transposition, as vector instructions.

::

    work    [ . . a a a a . . b b b b . . l l l l . . u u u u . . ]
                  |first      |second     |lower      |upper           lower = min(a, b), upper = max(a, b)

Loops over slices would do, but the rows lie in one array and are overwritten in place: LLVM cannot know
that this is harmless and would vectorise behind run-time tests of overlap, which fail just then.

State: one scratch array. Invariant: vectors are read before they are written, in rising order, so a
target may be an operand, or the same row at smaller lanes. Cost: O(count), no branches on data; 64 bytes
a step, whatever the machine's vectors are, so counts of lanes must be a multiple of what they hold.
Values that compare equal are interchangeable (-0.0 and 0.0 too); there must be no NaN.
"""

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, overload

__all__ = ["VECTOR_BYTES", "exchange", "lower_of", "transpose_four", "upper_of"]

VECTOR_BYTES = 64


def exchange(work, count, lower, upper, first, second):
    """Write the smaller and the larger of two rows that start at `first` and `second`."""
    one, two = work[first : first + count], work[second : second + count]
    work[lower : lower + count], work[upper : upper + count] = np.minimum(one, two), np.maximum(one, two)


def lower_of(work, count, lower, first, second):
    """Write the smaller of two rows."""
    np.minimum(work[first : first + count], work[second : second + count], out=work[lower : lower + count])


def upper_of(work, count, upper, first, second):
    """Write the larger of two rows."""
    np.maximum(work[first : first + count], work[second : second + count], out=work[upper : upper + count])


def transpose_four(source, one, two, three, four, target, place, step):
    """Transpose four stretches of four values into stretches at `place` and every `step` after it."""
    rows = [source[start : start + 4].copy() for start in (one, two, three, four)]
    for i, column in enumerate(zip(*rows)):
        target[place + i * step : place + i * step + 4] = column


def _vector_at(builder, data, start, vector):
    return builder.bitcast(builder.gep(data, [start]), vector.as_pointer())


def _vector_operation(wanted):
    """Make an intrinsic that writes the smaller (0) and the larger (1) lanes, as far as `wanted`."""

    def generate(context, builder, signature, arguments):
        work = context.make_array(signature.args[0])(context, builder, arguments[0])
        scalar = signature.args[0].dtype
        element = context.get_data_type(scalar)
        size = context.get_abi_sizeof(element)
        vector = ir.VectorType(element, VECTOR_BYTES // size)
        count, *targets, first, second = arguments[1:]
        if isinstance(scalar, types.Float):
            compare = builder.fcmp_ordered
        else:
            compare = builder.icmp_signed if scalar.signed else builder.icmp_unsigned

        def place(start, lane):
            return _vector_at(builder, work.data, builder.add(start, lane), vector)

        zero, step = ir.Constant(count.type, 0), ir.Constant(count.type, vector.count)
        with cgutils.for_range_slice(builder, zero, count, step, count.type) as (lane, _):
            one = builder.load(place(first, lane), align=size)
            two = builder.load(place(second, lane), align=size)
            less = compare("<", one, two)
            both = builder.select(less, one, two), builder.select(less, two, one)
            for which, target in zip(wanted, targets):
                builder.store(both[which], place(target, lane), align=size)
        return context.get_dummy_value()

    def typing(arguments):
        return types.void(arguments[0], *[types.intp] * (len(arguments) - 1)), generate

    if len(wanted) == 2:

        @intrinsic
        def operation(typing_context, work, count, lower, upper, first, second):
            return typing((work, count, lower, upper, first, second))
    else:

        @intrinsic
        def operation(typing_context, work, count, target, first, second):
            return typing((work, count, target, first, second))

    return operation


_exchange = _vector_operation((0, 1))
_lower_of = _vector_operation((0,))
_upper_of = _vector_operation((1,))


@intrinsic
def _transpose_four(typing_context, source, one, two, three, four, target, place, step):
    def generate(context, builder, signature, arguments):
        data = context.make_array(source)(context, builder, arguments[0]).data
        out = context.make_array(target)(context, builder, arguments[5]).data
        element = context.get_data_type(source.dtype)
        size = context.get_abi_sizeof(element)
        vector = ir.VectorType(element, 4)

        def shuffle(first, second, *lanes):
            return builder.shuffle_vector(first, second, ir.Constant(ir.VectorType(ir.IntType(32), 4), lanes))

        a, b, c, d = (builder.load(_vector_at(builder, data, i, vector), align=size) for i in arguments[1:5])
        pairs = [
            (shuffle(a, b, i, 4 + i, 2 + i, 6 + i), shuffle(c, d, i, 4 + i, 2 + i, 6 + i)) for i in (0, 1)
        ]
        columns = [shuffle(*pairs[i % 2], i & 2, 1 + (i & 2), 4 + (i & 2), 5 + (i & 2)) for i in range(4)]
        start = arguments[6]
        for column in columns:
            builder.store(column, _vector_at(builder, out, start, vector), align=size)
            start = builder.add(start, arguments[7])
        return context.get_dummy_value()

    if source.dtype != target.dtype:
        return None
    return types.void(source, *[types.intp] * 4, target, types.intp, types.intp), generate


@overload(exchange, inline="always")
def _exchange_lanes(work, count, lower, upper, first, second):
    def compiled(work, count, lower, upper, first, second):
        _exchange(work, count, lower, upper, first, second)

    return compiled


@overload(lower_of, inline="always")
def _lower_lanes(work, count, lower, first, second):
    def compiled(work, count, lower, first, second):
        _lower_of(work, count, lower, first, second)

    return compiled


@overload(upper_of, inline="always")
def _upper_lanes(work, count, upper, first, second):
    def compiled(work, count, upper, first, second):
        _upper_of(work, count, upper, first, second)

    return compiled


@overload(transpose_four, inline="always")
def _transpose_lanes(source, one, two, three, four, target, place, step):
    def compiled(source, one, two, three, four, target, place, step):
        _transpose_four(source, one, two, three, four, target, place, step)

    return compiled
