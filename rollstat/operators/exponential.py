"""Exponentially weighted moments as operators: for windows that end, streams, and series in parts.

A state describes a run of rows: ``before, after, weight``, two values, and six moments. Rows age by the
factor `before` from the row before the run to its first observation, and by `after` from its last observation
to its last row, so missing rows are states too; `weight` is -1 without observations. The moments are both
means, the central moments xx, yy and xy, and the pairs, see :mod:`rollstat.kernels.exponential.moments`.

With `adjust`, `weight` is the weight of all observations if the newest weighs 1; the first of the two values
is the factor by which rows age from the first to the last. Without `adjust`, the gap before each observation
determines its share, and the first observation of a window has the share that is left. So the two values are
the first observation, `weight` is its share in a window that begins with the run, and the moments describe
all other observations.

In streams a state also has the number of its observations. If weights fall with time, it also has the times
of its first and its last row, and whether the first row is missing and does not age earlier rows.
"""

from typing import Any, NamedTuple

import numpy as np

from rollstat.compile.lowering import jitable
from rollstat.kernels.exponential.moments import MEAN, SUM, result_of

_Moments = Any  # a tuple of six floats
_State = Any  # a tuple of eleven


@jitable
def _join(older: _Moments, a: float, newer: _Moments, b: float) -> _Moments:
    """Return the moments of two runs, whose shares are a and b; equal means stay as they are."""
    if not (a > 0.0 and b > 0.0):
        return older if a > 0.0 else newer
    x, y, ab = newer[0] - older[0], newer[1] - older[1], a * b
    return (
        older[0] if x == 0.0 else a * older[0] + b * newer[0],
        older[1] if y == 0.0 else a * older[1] + b * newer[1],
        a * older[2] + b * newer[2] + ab * (x * x),
        a * older[3] + b * newer[3] + ab * (y * y),
        a * older[4] + b * newer[4] + ab * (x * y),
        a * a * older[5] + b * b * newer[5] + 2.0 * ab,
    )


@jitable
def _alone(x: float, y: float) -> _Moments:
    """Return the moments of one observation; undefined if it is infinite."""
    return x, y, x - x, y - y, (x - x) + (y - y), 0.0


@jitable
def _lifted(x: float, y: float, factor: float, adjust: bool, ignore_na: bool) -> _State:
    """Return the state of one row."""
    if x == x and y == y:
        return factor, 1.0, 1.0, 1.0 if adjust else x, 0.0 if adjust else y, *_alone(x, y)
    return 1.0, (1.0 if ignore_na else factor), -1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0


@jitable
def _counted(x: float, y: float, factor: float, adjust: bool, ignore_na: bool, row: int) -> _State:
    """Return the state of one row of a stream, with the number of its observations."""
    value, count = (float(x), 1.0) if row >= 0 else (np.nan, 0.0)
    return *_lifted(value, float(y), factor, adjust, ignore_na), count


@jitable
def _after_gap(older: _State, gap: float, newer: _State, alpha: float, timed: bool) -> _State:
    """Combine two runs without `adjust`; `gap` is the factor between their observations."""
    kept, new = (gap, 1.0 - gap) if timed else (gap / (gap + alpha), alpha / (gap + alpha))
    first, rest = new * newer[2], 1.0 - newer[2]
    before = older[2] * kept * newer[2]
    total = first + rest
    moments = older[5:]
    if total > 0.0:
        moments = _join(_alone(newer[3], newer[4]), first / total, newer[5:], rest / total)
        earlier = (1.0 - older[2]) * kept * newer[2]
        moments = _join(older[5:], earlier / (earlier + total), moments, total / (earlier + total))
    return older[0], newer[1], before, older[3], older[4], *moments


@jitable
def _combine(older: _State, newer: _State, decay: float, adjust: bool) -> _State:
    if newer[2] < 0.0:
        return older[0], older[1] * newer[1], *older[2:]
    gap = older[1] * newer[0]
    if older[2] < 0.0:
        return gap, *newer[1:]
    if not adjust:
        return _after_gap(older, gap, newer, 1.0 - decay, decay != decay)
    aged = gap * newer[3]
    weight = older[2] * aged + newer[2]
    share = newer[2] / weight
    moments = _join(older[5:], older[2] * aged / weight, newer[5:], share)
    return older[0], newer[1], weight, older[3] * aged, 0.0, *moments


@jitable
def _lower(state: _State, statistic: int, adjust: bool, bias: bool) -> Any:
    """Return the statistic of a state with observations."""
    moments = state[5:]
    if not adjust:
        moments = _join(_alone(state[3], state[4]), state[2], moments, 1.0 - state[2])
    if statistic == MEAN:
        return moments[0]
    if statistic == SUM:
        return moments[0] * (state[2] * state[1])
    return result_of(moments, statistic, bias)


class EwmOne(NamedTuple):
    """A statistic of one series, see :mod:`rollstat.kernels.exponential.moments`.

    The factor by which rows age is `decay`, or a factor of each row if `decay` is NaN.
    """

    rounds_integers = True  # type: ignore[misc]  # of the class, not a field of the tuple
    statistic: int
    decay: float
    adjust: bool
    ignore_na: bool
    bias: bool

    @property
    def alpha(self) -> float:
        """The share of the newest row."""
        return 1.0 - self.decay

    def lift(self, x: float) -> _State:
        return _lifted(float(x), 0.0, self.decay, self.adjust, self.ignore_na)

    def combine(self, older: _State, newer: _State) -> _State:
        return _combine(older, newer, self.decay, self.adjust)

    def lower(self, state: _State) -> Any:
        return _lower(state, self.statistic, self.adjust, self.bias)


class EwmTwo(EwmOne):
    """A statistic of two series, otherwise as :class:`EwmOne`."""

    def lift(self, x: float, y: float) -> _State:  # type: ignore[override]  # another series
        return _lifted(float(x), float(y), self.decay, self.adjust, self.ignore_na)


class EwmOneInTime(EwmOne):
    """As :class:`EwmOne`, for rows with factors of their own."""

    def lift(self, x: float, factor: float) -> _State:  # type: ignore[override]  # as above
        return _lifted(float(x), 0.0, factor, self.adjust, self.ignore_na)


class EwmTwoInTime(EwmTwo):
    """As :class:`EwmTwo`, for rows with factors of their own."""

    def lift(self, x: float, y: float, factor: float) -> _State:  # type: ignore[override]  # as above
        return _lifted(float(x), float(y), factor, self.adjust, self.ignore_na)


class EwmOneByRow(EwmOne):
    """As :class:`EwmOne`, for streams: rows of missing values are inverted, and results have observations."""

    with_row = True
    counts_rows = True
    last_is_count = True
    ignores_row = True  # but for missing values

    def lift(self, x: float, row: int) -> _State:  # type: ignore[override]  # as above
        return _counted(x, 0.0, self.decay, self.adjust, self.ignore_na, row)

    def combine(self, older: _State, newer: _State) -> _State:
        return *_combine(older[:11], newer[:11], self.decay, self.adjust), older[11] + newer[11]

    def lower(self, state: _State) -> Any:
        return _lower(state[:11], self.statistic, self.adjust, self.bias), state[11]


class EwmTwoByRow(EwmOneByRow):
    """As :class:`EwmTwo`, for streams."""

    def lift(self, x: float, y: float, row: int) -> _State:  # type: ignore[override]  # as above
        return _counted(x, y, self.decay, self.adjust, self.ignore_na, row)


class EwmOneByTime(EwmOneByRow):
    """As :class:`EwmOneByRow`, for rows with times; `decay` is the time in which weights halve."""

    with_time = True

    def lift(self, x: float, time: float, row: int) -> _State:  # type: ignore[override]  # as above
        state = _counted(x, 0.0, 1.0, self.adjust, self.ignore_na, row)
        ageless = self.ignore_na and row < 0  # on its own, so that Numba can build the tuple
        return *state, time, time, ageless

    def combine(self, older: _State, newer: _State) -> _State:
        factor = 1.0 if newer[14] else 2.0 ** ((older[13] - newer[12]) / self.decay)
        joined = _combine((older[0], older[1] * factor, *older[2:11]), newer[:11], np.nan, self.adjust)
        return *joined, older[11] + newer[11], older[12], newer[13], older[14]


class EwmTwoByTime(EwmOneByTime):
    """As :class:`EwmTwoByRow`, for rows with times."""

    def lift(self, x: float, y: float, time: float, row: int) -> _State:  # type: ignore[override]  # as above
        state = _counted(x, y, 1.0, self.adjust, self.ignore_na, row)
        ageless = self.ignore_na and row < 0  # on its own, so that Numba can build the tuple
        return *state, time, time, ageless
