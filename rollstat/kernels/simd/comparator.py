"""Which of two values an extremum keeps, as a type, so that one kernel serves minimum and maximum.

::

    prefer(Least(), 3, 5)     3        prefer(Greatest(), 3, 5)     5
    reject(Least(), 3, 5)     5        reject(Greatest(), 3, 5)     3

State: none; an order is an empty named tuple, resolved when a kernel is compiled. Invariant: the second
operand is kept where the two are equal or not comparable, so a NaN that stands first is dropped. Cost:
one comparison, and one instruction for a vector.
"""

from typing import NamedTuple

import numpy as np
from llvmlite import ir
from numba import types
from numba.np.numpy_support import as_dtype

from rollstat.kernels.simd.vectors import Vector, compare, operation

__all__ = [
    "Greatest",
    "Least",
    "Newest",
    "Oldest",
    "admit",
    "all_stay",
    "all_take_over",
    "best_of",
    "better",
    "choose",
    "missing_of",
    "prefer",
    "reject",
    "where_equal",
    "worst",
    "worst_of",
]


class Least(NamedTuple):
    """The order in which the smaller value wins."""


class Greatest(NamedTuple):
    """The order in which the larger value wins."""


class Oldest(NamedTuple):
    """The rule by which a position is that of the oldest of equal values."""


class Newest(NamedTuple):
    """The rule by which a position is that of the newest of equal values."""


def _comparison(order, reverse=False):
    """The comparison by which a value wins, for an order or for Numba's type of it."""
    least = isinstance(order, Least) or getattr(order, "instance_class", None) is Least
    return "<" if least != reverse else ">"


def _plain_prefer(order, first, second):
    """The winner of two scalars or two vectors; `second` where neither wins."""
    wins = first < second if isinstance(order, Least) else first > second
    return np.where(wins, first, second) if isinstance(first, np.ndarray) else first if wins else second


def _plain_reject(order, first, second):
    """The loser of two scalars or two vectors; `second` where neither wins."""
    return _plain_prefer(Greatest() if isinstance(order, Least) else Least(), first, second)


def _selection(comparison, operand):
    """Signature's type and code of the choice between two operands."""
    dtype = operand.dtype if isinstance(operand, Vector) else operand

    def generate(context, builder, signature, arguments):
        wins = compare(builder, dtype, comparison, *arguments[1:])
        return builder.select(wins, *arguments[1:])  # machines have one instruction for both

    return generate


@operation(_plain_prefer)
def prefer(context, order, first, second):
    return first(order, first, first), _selection(_comparison(order), first)


@operation(_plain_reject)
def reject(context, order, first, second):
    return first(order, first, first), _selection(_comparison(order, reverse=True), first)


def _plain_better(order, first, second):
    """Whether the scalar `first` wins against `second`."""
    return first < second if isinstance(order, Least) else first > second


@operation(_plain_better)
def better(context, order, first, second):
    def generate(context, builder, signature, arguments):
        return compare(builder, first, _comparison(order), *arguments[1:])

    return types.boolean(order, first, first), generate


def _plain_admit(value, stand_in):
    """`value`, or `stand_in` where it is NaN; scalars or vectors."""
    return np.where(value == value, value, stand_in)[()]


@operation(_plain_admit)
def admit(context, value, stand_in):
    floating = isinstance(getattr(value, "dtype", value), types.Float)

    def generate(context, builder, signature, arguments):
        there = builder.fcmp_ordered("ord", arguments[0], arguments[0]) if floating else None
        return builder.select(there, *arguments) if floating else arguments[0]

    return value(value, value), generate


def _plain_where_equal(value, sought, first, second):
    """`first`, or in lanes where `value` is not `sought`, `second`; vectors or scalars."""
    return np.where(value == sought, first, second)[()]


@operation(_plain_where_equal)
def where_equal(context, value, sought, first, second):
    dtype = value.dtype if isinstance(value, Vector) else value

    def generate(context, builder, signature, arguments):
        value, sought, first, second = arguments
        return builder.select(compare(builder, dtype, "==", value, sought), first, second)

    return value(value, value, value, value), generate


def _plain_choose(order, ties, older, newer, first, second):
    """`first`, or in lanes where `newer` takes over from `older`, `second`; vectors or scalars.

    Of equal values `ties`, :class:`Oldest` or :class:`Newest`, says which one counts.
    """
    if isinstance(ties, Oldest):
        takes_over = _plain_better(order, newer, older)
    else:
        takes_over = np.logical_not(_plain_better(order, older, newer))
    return np.where(takes_over, second, first)[()]


@operation(_plain_choose)
def choose(context, order, ties, older, newer, first, second):
    dtype = older.dtype if isinstance(older, Vector) else older
    by_oldest = ties.instance_class is Oldest

    def generate(context, builder, signature, arguments):
        _, _, older, newer, first, second = arguments
        if by_oldest:
            return builder.select(compare(builder, dtype, _comparison(order), newer, older), second, first)
        return builder.select(compare(builder, dtype, _comparison(order), older, newer), first, second)

    return first(order, ties, older, older, first, first), generate


def _all_of(order, or_equal, first, second):
    better = first < second if isinstance(order, Least) else first > second
    return bool((better | (first == second) if or_equal else better).all())


def _plain_all_stay(order, ties, older, newer):
    """Whether `older` keeps the window against `newer` in every lane; not where one is NaN."""
    return _all_of(order, isinstance(ties, Oldest), older, newer)


def _plain_all_take_over(order, ties, older, newer):
    """Whether `newer` takes over from `older` in every lane; not where one is NaN."""
    return _all_of(order, isinstance(ties, Newest), newer, older)


def _every_lane(order, or_equal, operand, swapped):
    comparison = _comparison(order) + ("=" if or_equal else "")

    def generate(context, builder, signature, arguments):
        first, second = arguments[:1:-1] if swapped else arguments[2:]
        bits = ir.IntType(operand.lanes)
        truth = builder.bitcast(compare(builder, operand.dtype, comparison, first, second), bits)
        return builder.icmp_unsigned("==", truth, bits(2**operand.lanes - 1))

    return generate


@operation(_plain_all_stay)
def all_stay(context, order, ties, older, newer):
    generate = _every_lane(order, ties.instance_class is Oldest, older, False)
    return types.boolean(order, ties, older, older), generate


@operation(_plain_all_take_over)
def all_take_over(context, order, ties, older, newer):
    generate = _every_lane(order, ties.instance_class is Newest, older, True)
    return types.boolean(order, ties, older, older), generate


def worst(order, dtype):
    """The value of `dtype` that never wins against another, outside of kernels."""
    return _extreme(np.dtype(dtype), _comparison(order) == ">")


def _extreme(dtype, lowest):
    if dtype.kind == "f":
        return dtype.type(-np.inf if lowest else np.inf)
    limits = np.iinfo(dtype)
    return dtype.type(limits.min if lowest else limits.max)


def _plain_worst_of(order, values):
    """The value of the dtype of `values` that never wins against another."""
    return worst(order, values.dtype)


def _plain_best_of(order, values):
    """The value of the dtype of `values` against which no other wins."""
    return _extreme(values.dtype, _comparison(order) == "<")


def _missing(dtype):
    return dtype.type(np.nan if dtype.kind == "f" else 0)


def _plain_missing_of(values):
    """NaN in the dtype of `values`, or 0 if it has none."""
    return _missing(values.dtype)


def _constant(value, values, *order):
    def generate(context, builder, signature, arguments):
        return context.get_constant(values.dtype, value.item())

    return values.dtype(*order, values), generate


@operation(_plain_worst_of)
def worst_of(context, order, values):
    return _constant(_extreme(as_dtype(values.dtype), _comparison(order) == ">"), values, order)


@operation(_plain_best_of)
def best_of(context, order, values):
    return _constant(_extreme(as_dtype(values.dtype), _comparison(order) == "<"), values, order)


@operation(_plain_missing_of)
def missing_of(context, values):
    return _constant(_missing(as_dtype(values.dtype)), values)
