"""The order of an extremum as a type, so that one kernel serves minimum and maximum.

::

    prefer(Least(), 3, 5)     3        prefer(Greatest(), 3, 5)     5
    prefer(Arg(Least(), Oldest()), newer, older)      the smaller values and their positions
    entry(Arg(Least(), Oldest()), values, 100)        values, and positions 100, 101, ...

One kernel serves values and positions as well: it compares *entries*. An entry is a vector of values, with a
second channel for their positions if the order is an :class:`Arg`. Positions are integers as large as a
value, and their bits are stored as values.

The functions take scalars or vectors of :mod:`rollstat.compile.simd.vectors`.

State: none; an order is an empty NamedTuple that the compiler resolves. Invariant: the second operand is
returned where the two are equal or one is NaN, so a NaN in the first operand is dropped. Cost: one
comparison, or one instruction per register.
"""

from typing import Any, NamedTuple

import numpy as np
from numba import types
from numba.np.numpy_support import as_dtype

from rollstat.compile.jit import kernel
from rollstat.compile.lowering import class_of, constant, dispatching, lowered
from rollstat.compile.simd.codegen import Vector, compare, join_channels, split_channels
from rollstat.compile.simd.vectors import channels_of, count_in_bits, stack_channels, store, store_bits


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


def _by_value(order):
    """Return the order of the values alone."""
    return order[0] if class_of(order) is Arg else order


def _comparison(order):
    """Return the comparison by which a value wins."""
    return "<" if class_of(_by_value(order)) is Least else ">"


def _element(operand):
    """Return the dtype of a scalar or vector type."""
    return operand.dtype if isinstance(operand, Vector) else operand


def prefer(order, first, second):
    """Return the winner of two scalars or vectors; `second` where neither wins.

    With an :class:`Arg`, `first` is newer if these are entries with positions; values are compared as values.
    """
    if isinstance(order, Arg) and np.ndim(first) == 2:
        if isinstance(order.ties, Newest):
            first, second = second, first
        return np.where(better(order, first[0], second[0]), first, second)
    wins = better(order, first, second)
    return np.where(wins, first, second) if isinstance(first, np.ndarray) else first if wins else second


@lowered(prefer)
def _prefer(order, first, second):
    def generate(context, builder, signature, arguments):
        if getattr(first, "channels", 1) == 1:
            # LLVM turns this comparison and selection into one min or max instruction.
            wins = compare(builder, _element(first), _comparison(order), *arguments[1:])
            return builder.select(wins, *arguments[1:])
        newer, older = (split_channels(builder, pair, first) for pair in arguments[1:])
        if class_of(order[1]) is Newest:
            newer, older = older, newer
        wins = compare(builder, first.dtype, _comparison(order), newer[0], older[0])
        return join_channels(builder, [builder.select(wins, *pair) for pair in zip(newer, older)])

    return first(order, first, first), generate


def better(order, first, second):
    """Return whether the scalar `first` wins against `second`."""
    return first < second if isinstance(_by_value(order), Least) else first > second


@lowered(better)
def _better(order, first, second):
    def generate(context, builder, signature, arguments):
        return compare(builder, first, _comparison(order), *arguments[1:])

    return types.boolean(order, first, first), generate


def tie_rule(order):
    """Return 1 if the newer of equal values wins, -1 if the older wins, 0 if only values count."""
    return (1 if class_of(order[1]) is Newest else -1) if class_of(order) is Arg else 0


@lowered(tie_rule)
def _tie_rule(order):
    return constant(types.intp(order), tie_rule(order))


@kernel(forceinline=True)
def _value(order, vector, position):
    return vector


@kernel(forceinline=True)
def _value_and_position(order, vector, position):
    return stack_channels((vector, count_in_bits(vector, position)))


@dispatching
def entry(order, vector, position):
    """Return a vector of values, with their positions ``position, position + 1, ...`` for an :class:`Arg`."""
    return _value_and_position if class_of(order) is Arg else _value


@kernel(forceinline=True)
def _store_values(order, best, out, i, shift):
    store(best, out, i)


@kernel(forceinline=True)
def _store_positions(order, best, out, i, shift):
    store_bits(channels_of(best)[1], shift, out, i)


@dispatching
def store_result(order, best, out, i, shift):
    """Write values to `out` from `i` on; with an :class:`Arg` their positions, counted from `shift`."""
    return _store_positions if class_of(order) is Arg else _store_values


def worst(order, dtype):
    """Return the value of `dtype` that never wins; not for kernels."""
    dtype, lowest = np.dtype(dtype), _comparison(order) == ">"
    if dtype.kind == "f":
        return dtype.type(-np.inf if lowest else np.inf)
    limits = np.iinfo(dtype)
    return dtype.type(limits.min if lowest else limits.max)


def worst_of(order, values):
    """Return the value of the dtype of `values` that never wins, as a constant."""
    return worst(order, values.dtype)


@lowered(worst_of)
def _worst_of(order, values):
    return constant(values.dtype(order, values), worst(order, as_dtype(values.dtype)).item())
