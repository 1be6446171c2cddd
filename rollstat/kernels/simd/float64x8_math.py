"""Functions of eight float64 values side by side, lane by lane and channel by channel.

::

    divide(lanes, spread(3.0), spread(1.0) / spread(3.0))     [x0 x1 ... x7] -> [x0/3 x1/3 ... x7/3]

They are to :mod:`rollstat.kernels.simd.float64x8`, which has loads, stores, shifts and sums, what ``math`` is
to Python, and act on arrays in the same way where ``NUMBA_DISABLE_JIT`` is set.
"""

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils

from rollstat._lowering import lowered
from rollstat.kernels.simd.float64x8 import (
    LANES,
    VECTOR,
    ZERO,
    LanesType,
    binary,
    lanes_type,
    pack,
    spread_scalar,
    take,
    unary,
)

__all__ = [
    "any_nan",
    "counts_before",
    "divide",
    "fill_lacking",
    "fill_nan",
    "limit",
    "mark_below",
    "nan_changes",
    "nan_to_zero",
    "negative_to_zero",
    "quotient",
    "square_root",
    "subtract_product",
]


_WORD = ir.IntType(64)
_BYTES = ir.VectorType(ir.IntType(8), LANES)
_ONES = 0x0101010101010101


def fill_nan(lanes, filling):
    """`lanes` with `filling` in place of every NaN."""
    return np.where(lanes == lanes, lanes, filling)


def fill_lacking(lanes, other, filling):
    """`lanes` with `filling` wherever they or `other` are NaN."""
    return np.where((lanes == lanes) & (other == other), lanes, filling)


def nan_to_zero(lanes):
    """`lanes` with 0 in place of every NaN."""
    return np.where(lanes == lanes, lanes, 0.0)


def negative_to_zero(lanes):
    """`lanes` with 0 in place of every negative value; NaN stays."""
    return np.where(lanes < 0.0, 0.0, lanes)


def limit(lanes, bound):
    """`lanes`, but no lane beyond `bound` on either side of 0; NaN stays."""
    return np.where(lanes > bound, bound, np.where(lanes < -bound, -bound, lanes))


def square_root(lanes):
    """Square root of each lane."""
    return np.sqrt(lanes)


def divide(lanes, divisor, inverse):
    """`lanes` over `divisor`, correctly rounded, given ``inverse == 1 / divisor``, in a third of the time.

    The quotient by the inverse is corrected by its exact remainder, which a fused multiply-add gives.
    """
    return lanes / divisor


def quotient(lanes, divisor, inverse):
    """As :func:`divide`, and quicker, but it may be NaN where the quotient is infinite."""
    return lanes / divisor


def subtract_product(lanes, left, right):
    """``lanes - left * right``, rounded once; twice where it is not compiled."""
    return lanes - left * right


def mark_below(lanes, count, least):
    """`lanes`, each channel of them, with NaN wherever `count` is less than `least`."""
    return np.where(count < least, np.nan, lanes)


def nan_changes(leaving, entering):
    """Eight numbers in the bytes of one: by how much there are fewer NaN after each lane, and 8 more.

    As many as in `leaving` up to there have gone, and as many as in `entering` have come. A lane of a
    bundle counts once, however many channels are NaN there.
    """
    gone, come = (np.isnan(lanes.reshape(-1, LANES)).any(axis=0) for lanes in (leaving, entering))
    change = np.cumsum(gone.astype(np.int64) - come)
    return int.from_bytes((change + 8).astype(np.uint8).tobytes(), "little")


def counts_before(changes, count):
    """`count` in the first lane, and in every other what :func:`nan_changes` made of it one lane before."""
    return np.array([8.0, *changes.to_bytes(8, "little")[:-1]]) + (count - 8)


def any_nan(lanes):
    """1 where some lane of some channel is NaN, else 0."""
    return int(bool((lanes != lanes).any()))


def _fill(builder, vector, filling):
    return builder.select(builder.fcmp_ordered("ord", vector, vector), vector, filling)


def _clip(builder, vector):
    return builder.select(builder.fcmp_ordered("<", vector, ZERO), ZERO, vector)


def _vector_function(builder, name, *arguments):
    """Call an LLVM intrinsic of as many vectors."""
    signature = ir.FunctionType(VECTOR, [VECTOR] * len(arguments))
    function = cgutils.get_or_insert_function(builder.module, signature, f"llvm.{name}.v{LANES}f64")
    return builder.call(function, arguments)


def _limit(builder, vector, bound):
    lower = builder.fneg(bound)
    vector = builder.select(builder.fcmp_ordered(">", vector, bound), bound, vector)
    return builder.select(builder.fcmp_ordered("<", vector, lower), lower, vector)


binary(fill_nan, _fill)
binary(limit, _limit)
unary(square_root, lambda builder, vector: _vector_function(builder, "sqrt", vector))
unary(nan_to_zero, lambda builder, vector: _fill(builder, vector, ZERO))
unary(negative_to_zero, _clip)


def _corrected(builder, value, divisor, inverse):
    """Quotient by the inverse, and that quotient less its remainder; where it is infinite, that is none."""
    first = builder.fmul(value, inverse)
    remainder = _vector_function(builder, "fma", builder.fneg(divisor), first, value)
    return first, _vector_function(builder, "fma", remainder, inverse, first)


@lowered(fill_lacking)
def _fill_lacking(lanes, other, filling):
    def generate(context, builder, signature, arguments):
        both = builder.fcmp_ordered("ord", *arguments[:2])
        return builder.select(both, arguments[0], arguments[2])

    if lanes == other == filling == lanes_type:
        return lanes_type(lanes_type, lanes_type, lanes_type), generate


@lowered(divide)
def _divide(lanes, divisor, inverse):
    def generate(context, builder, signature, arguments):
        first, corrected = _corrected(builder, *arguments)
        return _fill(builder, corrected, first)

    if lanes == divisor == inverse == lanes_type:
        return lanes_type(lanes_type, lanes_type, lanes_type), generate


@lowered(quotient)
def _quotient(lanes, divisor, inverse):
    def generate(context, builder, signature, arguments):
        return _corrected(builder, *arguments)[1]

    if lanes == divisor == inverse == lanes_type:
        return lanes_type(lanes_type, lanes_type, lanes_type), generate


@lowered(subtract_product)
def _subtract_product(lanes, left, right):
    def generate(context, builder, signature, arguments):
        value, first, second = arguments
        return _vector_function(builder, "fma", builder.fneg(first), second, value)

    if lanes == left == right == lanes_type:
        return lanes_type(lanes_type, lanes_type, lanes_type), generate


@lowered(mark_below)
def _mark_below(lanes, count, least):
    def generate(context, builder, signature, arguments):
        few = builder.fcmp_ordered("<", *arguments[1:])
        nan = ir.Constant(VECTOR, [float("nan")] * LANES)
        return pack(builder, [builder.select(few, nan, v) for v in take(builder, arguments[0], lanes)])

    if isinstance(lanes, LanesType) and count == least == lanes_type:
        return lanes(lanes, count, least), generate


def _lacking(builder, vectors):
    """Lanes in which the first or the last of at most two vectors is NaN."""
    return builder.fcmp_unordered("uno", vectors[0], vectors[-1])


@lowered(nan_changes)
def _nan_changes(leaving, entering):
    def generate(context, builder, signature, arguments):
        single = [_lacking(builder, take(builder, lanes, leaving)) for lanes in arguments]
        gone, come = (builder.bitcast(builder.zext(bits, _BYTES), _WORD) for bits in single)
        # A product with 1 in every byte has the running sums of bytes in its bytes.
        return builder.add(builder.mul(builder.sub(gone, come), _WORD(_ONES)), _WORD(8 * _ONES))

    if isinstance(leaving, LanesType) and leaving == entering and leaving.count <= 2:
        return types.int64(leaving, entering), generate


@lowered(counts_before)
def _counts_before(changes, count):
    def generate(context, builder, signature, arguments):
        before = builder.or_(builder.shl(arguments[0], _WORD(8)), _WORD(8))
        whole = ir.VectorType(_WORD, LANES)
        relative = builder.zext(builder.bitcast(before, _BYTES), whole)
        first = builder.sub(arguments[1], _WORD(8))
        return builder.sitofp(builder.add(relative, spread_scalar(builder, first, whole)), VECTOR)

    if changes == types.int64:
        return lanes_type(types.int64, types.int64), generate


@lowered(any_nan)
def _any_nan(lanes):
    def generate(context, builder, signature, arguments):
        found = ir.IntType(LANES)(0)
        for vector in take(builder, arguments[0], lanes):
            unordered = builder.fcmp_unordered("uno", vector, vector)
            found = builder.or_(found, builder.bitcast(unordered, found.type))
        return builder.zext(builder.icmp_unsigned("!=", found, found.type(0)), ir.IntType(64))

    if isinstance(lanes, LanesType):
        return types.int64(lanes), generate
