"""The order of an extremum as a type, so that one kernel serves minimum and maximum.

::

    prefer(Least(), 3, 5)     3        prefer(Greatest(), 3, 5)     5
    reject(Least(), 3, 5)     5        reject(Greatest(), 3, 5)     3

The functions take scalars or vectors of :mod:`rollstat.compile.simd.vectors`.

State: none; an order is an empty NamedTuple, which the compiler resolves. Invariant: the second operand is
returned where the two are equal or one is NaN, so a NaN in the first operand is dropped. Cost: one
comparison, or one instruction per register.
"""

from typing import NamedTuple

import numpy as np
from numba import types
from numba.np.numpy_support import as_dtype

from rollstat.compile.lowering import constant, lowered
from rollstat.compile.simd.codegen import Vector, compare

__all__ = [
    "Greatest",
    "Least",
    "Newest",
    "Oldest",
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
    """The rule that the oldest of equal values wins."""


class Newest(NamedTuple):
    """The rule that the newest of equal values wins."""


def _is(rule, cls):
    """Return whether `rule`, an instance or Numba's type of one, is of the class `cls`."""
    return isinstance(rule, cls) or getattr(rule, "instance_class", None) is cls


def _comparison(order, reverse=False):
    """Return the comparison by which a value wins."""
    return "<" if _is(order, Least) != reverse else ">"


def _element(operand):
    """Return the dtype of a scalar or vector type."""
    return operand.dtype if isinstance(operand, Vector) else operand


def prefer(order, first, second):
    """Return the winner of two scalars or vectors; `second` where neither wins."""
    wins = first < second if isinstance(order, Least) else first > second
    return np.where(wins, first, second) if isinstance(first, np.ndarray) else first if wins else second


def reject(order, first, second):
    """Return the loser of two scalars or vectors; `second` where neither wins."""
    return prefer(Greatest() if isinstance(order, Least) else Least(), first, second)


def _selecting(reverse):
    """Return what :func:`lowered` needs for the winner, or with `reverse` the loser, of two operands."""

    def resolve(order, first, second):
        def generate(context, builder, signature, arguments):
            # LLVM turns this comparison and selection into one min or max instruction.
            wins = compare(builder, _element(first), _comparison(order, reverse), *arguments[1:])
            return builder.select(wins, *arguments[1:])

        return first(order, first, first), generate

    return resolve


lowered(prefer)(_selecting(reverse=False))
lowered(reject)(_selecting(reverse=True))


def better(order, first, second):
    """Return whether the scalar `first` wins against `second`."""
    return first < second if isinstance(order, Least) else first > second


@lowered(better)
def _better(order, first, second):
    def generate(context, builder, signature, arguments):
        return compare(builder, first, _comparison(order), *arguments[1:])

    return types.boolean(order, first, first), generate


def where_equal(value, sought, first, second):
    """Return `first` in lanes where `value` equals `sought`, else `second`; vectors or scalars."""
    return np.where(value == sought, first, second)[()]


@lowered(where_equal)
def _where_equal(value, sought, first, second):
    def generate(context, builder, signature, arguments):
        equal = compare(builder, _element(value), "==", *arguments[:2])
        return builder.select(equal, *arguments[2:])

    return value(value, value, value, value), generate


def choose(order, ties, older, newer, first, second):
    """Return `second` in lanes where `newer` wins against `older`, else `first`; vectors or scalars.

    `ties` is the rule for equal values, :class:`Oldest` or :class:`Newest`.
    """
    if isinstance(ties, Oldest):
        newer_wins = better(order, newer, older)
    else:
        newer_wins = np.logical_not(better(order, older, newer))
    return np.where(newer_wins, second, first)[()]


@lowered(choose)
def _choose(order, ties, older, newer, first, second):
    def generate(context, builder, signature, arguments):
        older_value, newer_value, first_value, second_value = arguments[2:]
        dtype, comparison = _element(older), _comparison(order)
        if _is(ties, Oldest):
            newer_wins = compare(builder, dtype, comparison, newer_value, older_value)
            return builder.select(newer_wins, second_value, first_value)
        older_wins = compare(builder, dtype, comparison, older_value, newer_value)
        return builder.select(older_wins, first_value, second_value)

    return first(order, ties, older, older, first, first), generate


def _extreme(dtype, lowest):
    if dtype.kind == "f":
        return dtype.type(-np.inf if lowest else np.inf)
    limits = np.iinfo(dtype)
    return dtype.type(limits.min if lowest else limits.max)


def worst(order, dtype):
    """Return the value of `dtype` that never wins; not for kernels."""
    return _extreme(np.dtype(dtype), _comparison(order) == ">")


def _best(order, dtype):
    return _extreme(dtype, _comparison(order) == "<")


def _missing(dtype):
    return dtype.type(np.nan if dtype.kind == "f" else 0)


def worst_of(order, values):
    """Return the value of the dtype of `values` that never wins, as a constant."""
    return worst(order, values.dtype)


def best_of(order, values):
    """Return the value of the dtype of `values` against which no other wins, as a constant."""
    return _best(order, values.dtype)


def missing_of(values):
    """Return NaN in the dtype of `values`, or 0 if it has none, as a constant."""
    return _missing(values.dtype)


@lowered(worst_of)
def _worst_of(order, values):
    return constant(values.dtype(order, values), worst(order, as_dtype(values.dtype)).item())


@lowered(best_of)
def _best_of(order, values):
    return constant(values.dtype(order, values), _best(order, as_dtype(values.dtype)).item())


@lowered(missing_of)
def _missing_of(values):
    return constant(values.dtype(values), _missing(as_dtype(values.dtype)).item())
