"""Operators that select one element of the window, or test whether there is one."""

import math
from typing import Any, NamedTuple

import numpy as np

from rollstat.compile.lowering import jitable
from rollstat.kernels.numbers import difference

__all__ = [
    "AllTrue",
    "AnyTrue",
    "ArgMaximum",
    "ArgMinimum",
    "Drawdown",
    "First",
    "Last",
    "Maximum",
    "Minimum",
]

_ValueRow = tuple[Any, int]


class Minimum(NamedTuple):
    """The smallest element."""

    def combine(self, older: Any, newer: Any) -> Any:
        return newer if newer < older else older


class Maximum(NamedTuple):
    """The largest element."""

    def combine(self, older: Any, newer: Any) -> Any:
        return newer if newer > older else older


class ArgMinimum(NamedTuple):
    """The row of the smallest element; the oldest of equal ones."""

    with_row = True

    def lift(self, x: Any, row: int) -> _ValueRow:
        return x, row

    def combine(self, older: _ValueRow, newer: _ValueRow) -> _ValueRow:
        return newer if newer[0] < older[0] else older

    def lower(self, state: _ValueRow) -> int:
        return state[1]


class ArgMaximum(NamedTuple):
    """The row of the largest element; the oldest of equal ones."""

    with_row = True
    lift = ArgMinimum.lift

    def combine(self, older: _ValueRow, newer: _ValueRow) -> _ValueRow:
        return newer if newer[0] > older[0] else older

    lower = ArgMinimum.lower


class ArgExtremum(NamedTuple):
    """The row of the least or the `greatest` element; the `last` or the oldest of equal ones."""

    greatest: bool
    last: bool
    with_row = True
    lift = ArgMinimum.lift

    def combine(self, older: _ValueRow, newer: _ValueRow) -> _ValueRow:
        better = newer[0] > older[0] if self.greatest else newer[0] < older[0]
        return newer if better or (self.last and newer[0] == older[0]) else older

    lower = ArgMinimum.lower


@jitable
def _loss(peak: Any, x: Any, relative: bool) -> float:
    """Return the loss from a peak to a later element, as a proportion of the peak if it is `relative`."""
    if not x < peak:
        return 0.0
    if not relative or peak == 0:
        return difference(peak, x)
    return 1.0 if math.isinf(float(peak)) else difference(peak, x) / float(peak)


_Losses = tuple[Any, Any, float]


class Drawdown(NamedTuple):
    """The largest loss from an element to a later one: state ``(largest, smallest, loss)``.

    With `relative`, the loss is a proportion of the earlier element, and undefined if an element is negative:
    infinite as a state, NaN as a result.
    """

    relative: bool = True

    def lift(self, x: Any) -> _Losses:
        return x, x, math.inf if self.relative and x < 0 else 0.0

    def combine(self, older: _Losses, newer: _Losses) -> _Losses:
        loss = max(older[2], newer[2], _loss(older[0], newer[1], self.relative))
        return max(older[0], newer[0]), min(older[1], newer[1]), loss

    def lower(self, state: _Losses) -> float:
        return np.nan if self.relative and state[2] == math.inf else state[2]


class First(NamedTuple):
    """The oldest element."""

    def combine(self, older: Any, newer: Any) -> Any:
        return older


class Last(NamedTuple):
    """The newest element."""

    def combine(self, older: Any, newer: Any) -> Any:
        return newer


class AnyTrue(NamedTuple):
    """Whether any element is not zero."""

    identity = False

    def lift(self, x: Any) -> bool:
        return bool(x != 0)

    def combine(self, older: bool, newer: bool) -> bool:
        return older or newer


class AllTrue(NamedTuple):
    """Whether no element is zero."""

    identity = True
    lift = AnyTrue.lift

    def combine(self, older: bool, newer: bool) -> bool:
        return older and newer
