"""The order of an extremum as a type, so that one kernel serves minimum and maximum.

::

    prefer(Least(), 3, 5)     3        prefer(Greatest(), 3, 5)     5
    prefer(Arg(Least(), Oldest()), newer, older)      the smaller values and their positions

The functions take scalars or vectors of :mod:`rollstat.compile.simd.vectors`.

State: none; an order is an empty NamedTuple, which the compiler resolves. Invariant: the second operand is
returned where the two are equal or one is NaN, so a NaN in the first operand is dropped. Cost: one
comparison, or one instruction per register.
"""

from typing import Any, NamedTuple

import numpy as np
from numba import types
from numba.np.numpy_support import as_dtype

from rollstat.compile.lowering import constant, lowered
from rollstat.compile.simd.codegen import Vector, compare, elementwise, join_channels, split_channels

__all__ = [
    "Arg",
    "Greatest",
    "Least",
    "Newest",
    "Oldest",
    "best_of",
    "better",
    "missing_of",
    "prefer",
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


class Arg(NamedTuple):
    """The order of a value and its position; `ties` is :class:`Oldest` or :class:`Newest`."""

    order: Any
    ties: Any


def _is(rule, cls):
    """Return whether `rule`, an instance or Numba's type of one, is of the class `cls`."""
    return isinstance(rule, cls) or getattr(rule, "instance_class", None) is cls


def _comparison(order):
    """Return the comparison by which a value wins."""
    return "<" if _is(order, Least) else ">"


def _element(operand):
    """Return the dtype of a scalar or vector type."""
    return operand.dtype if isinstance(operand, Vector) else operand


def prefer(order, first, second):
    """Return the winner of two scalars or vectors; `second` where neither wins.

    With an :class:`Arg`, the vectors have a channel of values and one of positions, and `first` is newer.
    """
    if isinstance(order, Arg):
        if isinstance(order.ties, Newest):
            first, second = second, first
        return np.where(better(order.order, first[0], second[0]), first, second)
    wins = better(order, first, second)
    return np.where(wins, first, second) if isinstance(first, np.ndarray) else first if wins else second


@lowered(prefer)
def _prefer(order, first, second):
    def generate(context, builder, signature, arguments):
        if not _is(order, Arg):
            # LLVM turns this comparison and selection into one min or max instruction.
            wins = compare(builder, _element(first), _comparison(order), *arguments[1:])
            return builder.select(wins, *arguments[1:])
        newer, older = (split_channels(builder, pair, first) for pair in arguments[1:])
        if _is(order[1], Newest):
            newer, older = older, newer
        wins = compare(builder, first.dtype, _comparison(order[0]), newer[0], older[0])
        return join_channels(builder, [builder.select(wins, *pair) for pair in zip(newer, older)])

    return first(order, first, first), generate


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


def _generate_where_equal(builder, dtype, value, sought, first, second):
    return builder.select(compare(builder, dtype, "==", value, sought), first, second)


elementwise(where_equal, _generate_where_equal)


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
