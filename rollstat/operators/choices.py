"""Operators that select one element of the window, or test whether there is one."""

from typing import Any, NamedTuple

__all__ = ["AllTrue", "AnyTrue", "ArgMaximum", "ArgMinimum", "First", "Last", "Maximum", "Minimum"]

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
