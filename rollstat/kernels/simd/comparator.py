"""Which of two values an extremum keeps, as a type, so that one kernel serves minimum and maximum.

::

    prefer(Least(), 3, 5)     3        prefer(Greatest(), 3, 5)     5
    reject(Least(), 3, 5)     5        reject(Greatest(), 3, 5)     3

State: none; an order is an empty named tuple that the compiler resolves. Invariant: `prefer` and `reject`
return the second operand where both are equal or not comparable, so they drop a NaN in the first operand.
Cost: one comparison for scalars, one instruction for vectors.
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
    "all_newer_win",
    "all_older_win",
    "best_of",
    "better",
    "choose",
    "missing_of",
    "prefer",
    "reject",
    "replace_nan",
    "where_equal",
    "worst",
    "worst_of",
]


class Least(NamedTuple):
    """The order in which the smaller value wins."""


class Greatest(NamedTuple):
    """The order in which the larger value wins."""


class Oldest(NamedTuple):
    """The rule of ties that takes the oldest of equal values."""


class Newest(NamedTuple):
    """The rule of ties that takes the newest of equal values."""


def _comparison(order, reverse=False):
    """Return the comparison by which a value wins, for an order or for Numba's type of it."""
    least = isinstance(order, Least) or getattr(order, "instance_class", None) is Least
    return "<" if least != reverse else ">"


def _plain_prefer(order, first, second):
    """Return the winner of two scalars or two vectors; `second` where neither wins."""
    wins = first < second if isinstance(order, Least) else first > second
    return np.where(wins, first, second) if isinstance(first, np.ndarray) else first if wins else second


def _plain_reject(order, first, second):
    """Return the loser of two scalars or two vectors; `second` where neither wins."""
    return _plain_prefer(Greatest() if isinstance(order, Least) else Least(), first, second)


def _selection(comparison, operand):
    """Return the code generator of the choice between two operands."""
    dtype = operand.dtype if isinstance(operand, Vector) else operand

    def generate(context, builder, signature, arguments):
        wins = compare(builder, dtype, comparison, *arguments[1:])
        return builder.select(wins, *arguments[1:])  # LLVM turns both into one minimum or maximum

    return generate


@operation(_plain_prefer)
def prefer(context, order, first, second):
    return first(order, first, first), _selection(_comparison(order), first)


@operation(_plain_reject)
def reject(context, order, first, second):
    return first(order, first, first), _selection(_comparison(order, reverse=True), first)


def _plain_better(order, first, second):
    """Return whether the scalar `first` wins against `second`."""
    return first < second if isinstance(order, Least) else first > second


@operation(_plain_better)
def better(context, order, first, second):
    def generate(context, builder, signature, arguments):
        return compare(builder, first, _comparison(order), *arguments[1:])

    return types.boolean(order, first, first), generate


def _plain_replace_nan(value, sentinel):
    """Return `value`, or `sentinel` where it is NaN, for scalars or vectors."""
    return np.where(value == value, value, sentinel)[()]


@operation(_plain_replace_nan)
def replace_nan(context, value, sentinel):
    floating = isinstance(getattr(value, "dtype", value), types.Float)

    def generate(context, builder, signature, arguments):
        observed = builder.fcmp_ordered("ord", arguments[0], arguments[0]) if floating else None
        return builder.select(observed, *arguments) if floating else arguments[0]

    return value(value, value), generate


def _plain_where_equal(value, sought, first, second):
    """Return `first` in lanes where `value` equals `sought`, else `second`, for scalars or vectors."""
    return np.where(value == sought, first, second)[()]


@operation(_plain_where_equal)
def where_equal(context, value, sought, first, second):
    dtype = value.dtype if isinstance(value, Vector) else value

    def generate(context, builder, signature, arguments):
        value, sought, first, second = arguments
        return builder.select(compare(builder, dtype, "==", value, sought), first, second)

    return value(value, value, value, value), generate


def _plain_choose(order, ties, older, newer, first, second):
    """Return `second` in lanes where `newer` wins against `older`, else `first`, for scalars or vectors.

    `ties`, :class:`Oldest` or :class:`Newest`, says which of equal values wins.
    """
    if isinstance(ties, Oldest):
        newer_wins = _plain_better(order, newer, older)
    else:
        newer_wins = np.logical_not(_plain_better(order, older, newer))
    return np.where(newer_wins, second, first)[()]


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


def _plain_all_older_win(order, ties, older, newer):
    """Return whether `older` wins against `newer` in every lane; a NaN never wins."""
    return _all_of(order, isinstance(ties, Oldest), older, newer)


def _plain_all_newer_win(order, ties, older, newer):
    """Return whether `newer` wins against `older` in every lane; a NaN never wins."""
    return _all_of(order, isinstance(ties, Newest), newer, older)


def _every_lane(order, or_equal, operand, swapped):
    comparison = _comparison(order) + ("=" if or_equal else "")

    def generate(context, builder, signature, arguments):
        first, second = arguments[:1:-1] if swapped else arguments[2:]
        bits = ir.IntType(operand.lanes)
        truth = builder.bitcast(compare(builder, operand.dtype, comparison, first, second), bits)
        return builder.icmp_unsigned("==", truth, bits(2**operand.lanes - 1))

    return generate


@operation(_plain_all_older_win)
def all_older_win(context, order, ties, older, newer):
    generate = _every_lane(order, ties.instance_class is Oldest, older, False)
    return types.boolean(order, ties, older, older), generate


@operation(_plain_all_newer_win)
def all_newer_win(context, order, ties, older, newer):
    generate = _every_lane(order, ties.instance_class is Newest, older, True)
    return types.boolean(order, ties, older, older), generate


def worst(order, dtype):
    """Return the sentinel of `dtype` that loses every comparison; not for use in kernels."""
    return _extreme(np.dtype(dtype), _comparison(order) == ">")


def _extreme(dtype, lowest):
    if dtype.kind == "f":
        return dtype.type(-np.inf if lowest else np.inf)
    limits = np.iinfo(dtype)
    return dtype.type(limits.min if lowest else limits.max)


def _plain_worst_of(order, values):
    """Return the sentinel of the dtype of `values` that loses every comparison."""
    return worst(order, values.dtype)


def _plain_best_of(order, values):
    """Return the value of the dtype of `values` that wins every comparison."""
    return _extreme(values.dtype, _comparison(order) == "<")


def _missing(dtype):
    return dtype.type(np.nan if dtype.kind == "f" else 0)


def _plain_missing_of(values):
    """Return NaN in the dtype of `values`, or 0 if the dtype has none."""
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
