"""Functions of vectors of eight float64 values.

::

    divide(x, broadcast(3.0), broadcast(1.0 / 3.0))     [x0 x1 ... x7] -> [x0/3 x1/3 ... x7/3]

This module is to :mod:`rollstat.compile.simd.vectors` what ``math`` is to Python. Loads, stores, shifts and
arithmetic are in `vectors`. Where kernels are not compiled, the functions act on arrays.
"""

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils

from rollstat.compile.lowering import lowered
from rollstat.compile.simd.codegen import (
    Vector,
    elementwise,
    join_channels,
    load_lanes,
    splat,
    split_channels,
    store_lanes,
)

LANES = 8

_FLOATS = Vector(types.float64)
_LLVM_FLOATS = ir.VectorType(ir.DoubleType(), LANES)
_ZERO = ir.Constant(_LLVM_FLOATS, None)
_WORD = ir.IntType(64)
_BYTES = ir.VectorType(ir.IntType(8), LANES)
_ONES = 0x0101010101010101


def _call(builder, name, *arguments):
    """Call an LLVM intrinsic of vectors."""
    signature = ir.FunctionType(_LLVM_FLOATS, [_LLVM_FLOATS] * len(arguments))
    function = cgutils.get_or_insert_function(builder.module, signature, f"llvm.{name}.v{LANES}f64")
    return builder.call(function, arguments)


def square_root(lanes):
    """Return the square root of each lane."""
    return np.sqrt(lanes)


def negative_to_zero(lanes):
    """Return `lanes` with 0 in place of negative values; NaN stays."""
    return np.where(lanes < 0.0, 0.0, lanes)


def clip(lanes, bound):
    """Return `lanes` limited to ``[-bound, bound]``; NaN stays."""
    return np.where(lanes > bound, bound, np.where(lanes < -bound, -bound, lanes))


def _generate_clip(builder, dtype, lanes, bound):
    lower = builder.fneg(bound)
    lanes = builder.select(builder.fcmp_ordered(">", lanes, bound), bound, lanes)
    return builder.select(builder.fcmp_ordered("<", lanes, lower), lower, lanes)


def _generate_negative_to_zero(builder, dtype, lanes):
    return builder.select(builder.fcmp_ordered("<", lanes, _ZERO), _ZERO, lanes)


elementwise(square_root, lambda builder, dtype, lanes: _call(builder, "sqrt", lanes), 1)
elementwise(negative_to_zero, _generate_negative_to_zero, 1)
elementwise(clip, _generate_clip, 2)


def divide(lanes, divisor, inverse):
    """Return ``lanes / divisor``, correctly rounded, given ``inverse == 1 / divisor``.

    The product with the inverse is corrected by its exact remainder, computed by a fused multiply-add. This
    takes a third of the time of a division.
    """
    return lanes / divisor


def divide_finite(lanes, divisor, inverse):
    """Like :func:`divide` and faster, but NaN is possible where the quotient is infinite."""
    return lanes / divisor


def subtract_product(lanes, left, right):
    """Return ``lanes - left * right``, rounded once; rounded twice where kernels are not compiled."""
    return lanes - left * right


def replace_unobserved(lanes, other, replacement):
    """Return `lanes` with `replacement` wherever they or `other` are NaN."""
    return np.where((lanes == lanes) & (other == other), lanes, replacement)


def _generate_divide_finite(builder, dtype, lanes, divisor, inverse):
    return _corrected_quotient(builder, lanes, divisor, inverse)[1]


def _corrected_quotient(builder, lanes, divisor, inverse):
    """Return the product with the inverse, and the same corrected; the correction of infinity is NaN."""
    first = builder.fmul(lanes, inverse)
    remainder = _call(builder, "fma", builder.fneg(divisor), first, lanes)
    return first, _call(builder, "fma", remainder, inverse, first)


def _generate_divide(builder, dtype, lanes, divisor, inverse):
    first, corrected = _corrected_quotient(builder, lanes, divisor, inverse)
    return builder.select(builder.fcmp_ordered("ord", corrected, corrected), corrected, first)


def _generate_subtract_product(builder, dtype, lanes, left, right):
    return _call(builder, "fma", builder.fneg(left), right, lanes)


def _generate_replace_unobserved(builder, dtype, lanes, other, replacement):
    return builder.select(builder.fcmp_ordered("ord", lanes, other), lanes, replacement)


elementwise(divide, _generate_divide, 3)
elementwise(divide_finite, _generate_divide_finite, 3)
elementwise(subtract_product, _generate_subtract_product, 3)
elementwise(replace_unobserved, _generate_replace_unobserved, 3)


def nan_where_below(lanes, count, minimum):
    """Return `lanes`, all channels of them, with NaN wherever `count` is less than `minimum`."""
    return np.where(count < minimum, np.nan, lanes)


def zero_where_below(lanes, count, minimum):
    """Return `lanes`, all channels of them, with 0 wherever `count` is less than `minimum`."""
    return np.where(count < minimum, 0.0, lanes)


def _compile_where_below(function, value):
    constant = ir.Constant(_LLVM_FLOATS, [value] * LANES)

    @lowered(function)
    def _where_below(lanes, count, minimum):
        def generate(context, builder, signature, arguments):
            below = builder.fcmp_ordered("<", *arguments[1:])
            channels = split_channels(builder, arguments[0], lanes)
            return join_channels(builder, [builder.select(below, constant, channel) for channel in channels])

        if isinstance(lanes, Vector) and lanes.dtype == types.float64 and count == minimum == _FLOATS:
            return lanes(lanes, count, minimum), generate


_compile_where_below(nan_where_below, float("nan"))
_compile_where_below(zero_where_below, 0.0)


def nan_changes(leaving, entering):
    """Return eight numbers in the bytes of one integer: the change of the number of observations, plus 8.

    Byte k counts the NaN in lanes 0 to k of `leaving` minus the NaN in the same lanes of `entering`. With two
    channels, a lane counts once if either of them is NaN.
    """
    left, entered = (np.isnan(lanes.reshape(-1, LANES)).any(axis=0) for lanes in (leaving, entering))
    return _running_sums(left, entered)


def mark_changes(marks, i, j):
    """Return the same as :func:`nan_changes`: eight rows leave from `i` on, and eight enter from `j` on.

    `marks` are of uint8, 1 for missing and 0 for observed.
    """
    return _running_sums(marks[i : i + LANES], marks[j : j + LANES])


def _running_sums(left, entered):
    change = np.cumsum(left.astype(np.int64) - entered)
    return int.from_bytes((change + 8).astype(np.uint8).tobytes(), "little")


def _generate_running_sums(builder, left, entered):
    # Multiplying by 1 in every byte makes each byte the sum of the bytes up to it. The 8 keeps bytes
    # positive, so that none borrows from the next one.
    left, entered = (builder.bitcast(lanes, _WORD) for lanes in (left, entered))
    return builder.add(builder.mul(builder.sub(left, entered), _WORD(_ONES)), _WORD(8 * _ONES))


@lowered(nan_changes)
def _nan_changes(leaving, entering):
    def is_nan(builder, channels):
        return builder.fcmp_unordered("uno", channels[0], channels[-1])

    def generate(context, builder, signature, arguments):
        masks = [is_nan(builder, split_channels(builder, lanes, leaving)) for lanes in arguments]
        return _generate_running_sums(builder, *(builder.zext(mask, _BYTES) for mask in masks))

    if isinstance(leaving, Vector) and leaving == entering and leaving.channels <= 2:
        return types.int64(leaving, entering), generate


@lowered(mark_changes)
def _mark_changes(marks, i, j):
    def generate(context, builder, signature, arguments):
        array, *places = arguments
        bytes_ = [load_lanes(context, builder, marks, array, place, LANES) for place in places]
        return _generate_running_sums(builder, *bytes_)

    if marks.dtype == types.uint8:
        return types.int64(marks, types.intp, types.intp), generate


def store_counts(changes, observed, count, i):
    """Write `observed` plus the change before each lane to `count` from `i` on.

    `changes` are those of :func:`nan_changes`; `count` is of float64 or int64.
    """
    count[i : i + LANES] = np.array([8, *changes.to_bytes(8, "little")[:-1]]) + (observed - 8)


@lowered(store_counts)
def _store_counts(changes, observed, count, i):
    def generate(context, builder, signature, arguments):
        before = builder.or_(builder.shl(arguments[0], _WORD(8)), _WORD(8))
        first = builder.sub(arguments[1], _WORD(8))
        # CPUs without AVX-512 convert 32-bit integers in vectors, and 64-bit ones one by one.
        integers = ir.VectorType(_WORD if count.dtype == types.int64 else ir.IntType(32), LANES)
        lanes = builder.zext(builder.bitcast(before, _BYTES), integers)
        if count.dtype == types.int64:
            lanes = builder.add(lanes, splat(builder, first, integers))
        else:
            first = builder.sitofp(first, ir.DoubleType())
            lanes = builder.fadd(builder.sitofp(lanes, _LLVM_FLOATS), splat(builder, first, _LLVM_FLOATS))
        store_lanes(context, builder, [lanes], count, *arguments[2:])
        return context.get_dummy_value()

    if changes == types.int64 and count.dtype in (types.int64, types.float64):
        return types.void(types.int64, types.int64, count, types.intp), generate
