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
from numba.extending import overload
from numba.np.numpy_support import as_dtype

from rollstat._jit import kernel
from rollstat._vectors import Vector, greater, lesser

__all__ = ["Greatest", "Least", "best_of", "better", "prefer", "reject", "worst_of"]


class Least(NamedTuple):
    """The order in which the smaller value wins."""


class Greatest(NamedTuple):
    """The order in which the larger value wins."""


def worst_of(order, values):
    """The value of the dtype of `values` that never wins against another."""
    return _extreme(values.dtype, isinstance(order, Greatest))


def best_of(order, values):
    """The value of the dtype of `values` against which no other wins."""
    return _extreme(values.dtype, isinstance(order, Least))


def _extreme(dtype, lowest):
    if dtype.kind == "f":
        return dtype.type(-np.inf if lowest else np.inf)
    limits = np.iinfo(dtype)
    return dtype.type(limits.min if lowest else limits.max)


@kernel
def _smaller(first, second):
    return first if first < second else second


@kernel
def _larger(first, second):
    return first if first > second else second


def better(order, first, second):
    """Whether `first` wins against `second`."""
    return first < second if isinstance(order, Least) else first > second


def prefer(order, first, second):
    """The winner of two scalars or two vectors; `second` where neither wins."""
    if isinstance(first, np.ndarray):
        return lesser(first, second) if isinstance(order, Least) else greater(first, second)
    return first if better(order, first, second) else second


def reject(order, first, second):
    """The loser of two scalars or two vectors; `second` where neither wins."""
    return prefer(Greatest() if isinstance(order, Least) else Least(), first, second)


def _is_least(order):
    return order.instance_class is Least


@overload(better, inline="always")
def _overload_better(order, first, second):
    if _is_least(order):
        return lambda order, first, second: first < second
    return lambda order, first, second: first > second


@overload(worst_of, inline="always")
def _overload_worst_of(order, values):
    value = _extreme(as_dtype(values.dtype), not _is_least(order))
    return lambda order, values: value


@overload(best_of, inline="always")
def _overload_best_of(order, values):
    value = _extreme(as_dtype(values.dtype), _is_least(order))
    return lambda order, values: value


def _choice(least, first):
    if isinstance(first, Vector):
        if least:
            return lambda order, first, second: lesser(first, second)
        return lambda order, first, second: greater(first, second)
    if least:
        return lambda order, first, second: _smaller(first, second)
    return lambda order, first, second: _larger(first, second)


@overload(prefer, inline="always")
def _overload_prefer(order, first, second):
    return _choice(_is_least(order), first)


@overload(reject, inline="always")
def _overload_reject(order, first, second):
    return _choice(not _is_least(order), first)
