"""Order statistics of a stream: k-th smallest, median, quantiles, interquartile range."""

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from rollstat.functions.robust import check_number
from rollstat.kernels.selection.quantiles import INTERPOLATIONS, interpolate, interpolate_whole, whole_spread
from rollstat.kernels.stream import runs, steps
from rollstat.options import choice
from rollstat.streaming.bulk_extend import Quick
from rollstat.streaming.codec import MISSING
from rollstat.streaming.resizing import window_of
from rollstat.streaming.statistic_stream import RollingStream
from rollstat.streaming.windows.selection import HeapWindow, TreeWindow

__all__ = ["RollingArgkth", "RollingIqr", "RollingKth", "RollingMedian", "RollingQuantile"]


def _check_k(k: Any) -> int:
    if isinstance(k, (bool, np.bool_)) or not isinstance(k, (int, np.integer)):
        raise TypeError(f"k must be a whole number (1 is the smallest, -1 the largest); it was {k!r}")
    if k == 0:
        raise ValueError("k must lie in 1..m or -m..-1; it was 0")
    return int(k)


class RollingKth(RollingStream):
    """k-th smallest observation of a sliding window, one element at a time.

    Parameters
    ----------
    k : int
        1 is the smallest, 2 the second smallest, -1 the largest.
    m : int, float, str, timedelta, Expanding or None
        The window: the last so many rows; or a width, with the time of each element; or everything; or
        what :meth:`pop` leaves.
    min_periods : int, optional
        Least number of observations for an answer; by default `m` rows, else 1.
    dtype : dtype, default float64
        Of the elements: floats, integers, bool, datetimes or timedeltas.
    algorithm : {"auto", "two_heaps", "three_trees"}, default "auto"
        ``"two_heaps"`` takes O(log m) in the worst single push, and is what ``"auto"`` means;
        ``"three_trees"`` O(log k), for windows of a fixed number of rows.

    Examples
    --------
    >>> import rollstat
    >>> stream = rollstat.RollingKth(2, 3)
    >>> [stream.push(x) for x in (4.0, 1.0, 3.0, 2.0, 5.0)]
    [nan, nan, 3.0, 2.0, 3.0]
    """

    statistic = "kth"

    def __init__(
        self,
        k: int,
        m: Any,
        *,
        min_periods: int | None = None,
        dtype: DTypeLike = np.float64,
        algorithm: str = "auto",
    ) -> None:
        choice("algorithm", algorithm, ("auto", "two_heaps", "three_trees"))
        super().__init__(
            m, min_periods=min_periods, dtype=dtype, parameters={"k": _check_k(k), "algorithm": algorithm}
        )

    def _make_core(self) -> Any:
        k, fixed = self._parameters["k"], self._span.fixed
        if fixed and abs(k) > fixed:
            raise ValueError(f"k must lie in 1..{fixed} or -{fixed}..-1; it was {k}")
        trees = self._parameters["algorithm"] == "three_trees"
        if trees and not fixed:
            raise ValueError("algorithm 'three_trees' serves windows of a fixed number of rows")
        rule = {"k": k, "min_periods": self._least, "ties": False}
        return window_of(
            fixed, partial(TreeWindow if trees else HeapWindow, dtype=self._elements.computing, **rule)
        )

    def _quick_step(self) -> Quick:
        trees = isinstance(self._core, TreeWindow)
        return runs.TREES if trees else runs.HEAPS, (self._core.state,)

    def _answer(self) -> tuple[Any, ...]:
        enough = self._core.count >= max(self._least, abs(self._parameters["k"]))
        return (self._core.pair()[0] if enough else MISSING,)


class RollingArgkth(RollingStream):
    """Row of the k-th smallest observation of a sliding window, counted from the first row pushed.

    Parameters
    ----------
    k : int
        1 is the smallest, -1 the largest. Of equal values the older row counts as the smaller.
    m, min_periods, dtype
        As in :class:`RollingKth`.

    Examples
    --------
    >>> import rollstat
    >>> stream = rollstat.RollingArgkth(1, 3)
    >>> [stream.push(x) for x in (4.0, 1.0, 3.0, 2.0, 5.0)]
    [-1, -1, 1, 1, 3]
    """

    statistic = "argkth"
    answer_kinds = ("position",)

    def __init__(
        self, k: int, m: Any, *, min_periods: int | None = None, dtype: DTypeLike = np.float64
    ) -> None:
        super().__init__(m, min_periods=min_periods, dtype=dtype, parameters={"k": _check_k(k)})

    def _make_core(self) -> Any:
        k, fixed = self._parameters["k"], self._span.fixed
        if fixed and abs(k) > fixed:
            raise ValueError(f"k must lie in 1..{fixed} or -{fixed}..-1; it was {k}")
        rule = {"k": k, "min_periods": self._least, "ties": True}
        return window_of(fixed, partial(HeapWindow, dtype=self._elements.computing, **rule))

    def _quick_step(self) -> Quick:
        return runs.ARGKTH, (self._core.state,)

    def _answer(self) -> tuple[Any, ...]:
        enough = self._core.count >= max(self._least, abs(self._parameters["k"]))
        return (self._core.position if enough else MISSING,)


class _OfQuantiles(RollingStream):
    """A stream between whose order statistics an answer may lie."""

    def _window_of(self, q: float) -> Any:
        """A core that has a quantile at hand."""
        rule: dict[str, Any] = {"q": q, "min_periods": self._least, "ties": False}
        return window_of(self._span.fixed, partial(HeapWindow, dtype=self._elements.computing, **rule))

    def _between(self, core: Any, q: float) -> Any:
        """The quantile of a window that has an observation."""
        below, above = core.pair()
        interpolation = self._parameters.get("interpolation", "midpoint")
        code, count = INTERPOLATIONS[interpolation], core.count
        if self._elements.kind == "f":
            return steps.quantile_point(below, above, count, q, code)
        if interpolation not in ("linear", "midpoint") or self._elements.kind in "mM":
            blend, result = interpolate_whole, np.zeros(1, self._elements.computing)
        else:
            blend, result = interpolate, np.zeros(1)
        lower, upper = np.array([below]), np.array([above])
        blend(lower, upper, np.array([count]), q, code, result)
        return result[0]


class RollingMedian(_OfQuantiles):
    """Median of a sliding window, one element at a time.

    Parameters
    ----------
    window, min_periods, dtype
        As `m` and the others of :class:`RollingKth`.

    Examples
    --------
    >>> import rollstat
    >>> stream = rollstat.RollingMedian(3, min_periods=1)
    >>> [stream.push(x) for x in (4.0, 1.0, 3.0, 2.0, 5.0)]
    [4.0, 2.5, 3.0, 2.0, 3.0]
    """

    statistic = "median"
    answer_kinds = ("interpolated",)

    def __init__(self, window: Any, *, min_periods: int | None = None, dtype: DTypeLike = np.float64) -> None:
        super().__init__(window, min_periods=min_periods, dtype=dtype, parameters={})

    def _make_core(self) -> Any:
        return self._window_of(0.5)

    def _quick_step(self) -> Quick:
        return runs.MEDIAN, (self._core.state,)

    def _answer(self) -> tuple[Any, ...]:
        enough = self._core.count >= max(self._least, 1)
        return (self._between(self._core, 0.5) if enough else MISSING,)


class RollingQuantile(_OfQuantiles):
    """Quantile of a sliding window, one element at a time.

    Parameters
    ----------
    window : int, float, str, timedelta, Expanding or None
        As `m` of :class:`RollingKth`.
    q : float
        Between 0 and 1.
    interpolation : {"linear", "lower", "higher", "nearest", "midpoint"}, default "linear"
        How the quantile is found between two observations, as in :func:`rolling_quantile`.
    min_periods, dtype
        As in :class:`RollingKth`.

    Examples
    --------
    >>> import rollstat
    >>> stream = rollstat.RollingQuantile(3, 0.25)
    >>> [stream.push(x) for x in (4.0, 1.0, 3.0, 2.0, 5.0)]
    [nan, nan, 2.0, 1.5, 2.5]
    """

    statistic = "quantile"

    def __init__(
        self,
        window: Any,
        q: float,
        interpolation: str = "linear",
        *,
        min_periods: int | None = None,
        dtype: DTypeLike = np.float64,
    ) -> None:
        choice("interpolation", interpolation, tuple(INTERPOLATIONS))
        parameters = {"q": check_number("q", q, 0.0, 1.0), "interpolation": interpolation}
        super().__init__(window, min_periods=min_periods, dtype=dtype, parameters=parameters)

    @property
    def answer_kinds(self) -> tuple[str, ...]:  # type: ignore[override]  # depends on the parameters here
        """What the answer is: an element, or a point between two."""
        between = self._parameters["interpolation"] in ("linear", "midpoint")
        return ("interpolated" if between else "value",)

    def _make_core(self) -> Any:
        return self._window_of(self._parameters["q"])

    def _quick_step(self) -> Quick:
        code = INTERPOLATIONS[self._parameters["interpolation"]]
        return runs.QUANTILE, (self._parameters["q"], code, self._core.state)

    def _answer(self) -> tuple[Any, ...]:
        enough = self._core.count >= max(self._least, 1)
        return (self._between(self._core, self._parameters["q"]) if enough else MISSING,)


class _TwoWindows:
    """Two cores over the same rows."""

    def __init__(self, first: Any, second: Any) -> None:
        self.cores = (first, second)

    @property
    def rows(self) -> int:
        """Rows in the window."""
        return int(self.cores[0].rows)

    @property
    def count(self) -> int:
        """Observations among them."""
        return int(self.cores[0].count)

    @property
    def pushed(self) -> int:
        """Rows pushed so far."""
        return int(self.cores[0].pushed)

    def push(self, word: Any, missing: bool) -> None:
        """Take in a row."""
        for core in self.cores:
            core.push(word, missing)

    def pop(self, number: int) -> None:
        """Let go of the oldest rows."""
        for core in self.cores:
            core.pop(number)

    def contents(self) -> Any:
        """Words and missing marks of the rows, oldest first."""
        return self.cores[0].contents()

    def load(self, words: Any, missing: Any, pushed: int) -> None:
        """Hold these rows, the last of `pushed`, instead."""
        for core in self.cores:
            core.load(words, missing, pushed)

    def copy(self) -> "_TwoWindows":
        """Return an equal core of its own memory."""
        return _TwoWindows(self.cores[0].copy(), self.cores[1].copy())


class RollingIqr(_OfQuantiles):
    """Distance of two quantiles of a sliding window, by default the interquartile range.

    Parameters
    ----------
    window : int, float, str, timedelta, Expanding or None
        As `m` of :class:`RollingKth`.
    q_low, q_high, interpolation
        As in :func:`rolling_iqr`.
    min_periods, dtype
        As in :class:`RollingKth`.

    Examples
    --------
    >>> import rollstat
    >>> stream = rollstat.RollingIqr(4)
    >>> [stream.push(x) for x in (4.0, 1.0, 3.0, 2.0, 5.0)]
    [nan, nan, nan, 1.5, 1.75]
    """

    statistic = "iqr"

    def __init__(
        self,
        window: Any,
        q_low: float = 0.25,
        q_high: float = 0.75,
        interpolation: str = "linear",
        *,
        min_periods: int | None = None,
        dtype: DTypeLike = np.float64,
    ) -> None:
        choice("interpolation", interpolation, tuple(INTERPOLATIONS))
        low = check_number("q_low", q_low, 0.0, 1.0)
        high = check_number("q_high", q_high, low, 1.0)
        parameters = {"q_low": low, "q_high": high, "interpolation": interpolation}
        super().__init__(window, min_periods=min_periods, dtype=dtype, parameters=parameters)

    @property
    def answer_kinds(self) -> tuple[str, ...]:  # type: ignore[override]  # depends on the parameters here
        """What the answer is: a whole distance, or a floating one."""
        element = self._parameters["interpolation"] not in ("linear", "midpoint")
        whole = self._elements.kind in "mM" or (element and self._elements.kind in "iub")
        return ("difference" if whole else "interpolated",)

    def _make_core(self) -> Any:
        return _TwoWindows(*(self._window_of(self._parameters[name]) for name in ("q_low", "q_high")))

    def _quick_step(self) -> Quick:
        p = self._parameters
        code, states = INTERPOLATIONS[p["interpolation"]], [core.state for core in self._core.cores]
        return runs.SPREAD, (p["q_low"], p["q_high"], code, *states)

    def _answer(self) -> tuple[Any, ...]:
        if self._core.count < max(self._least, 1):
            return (MISSING,)
        p, (low, high) = self._parameters, self._core.cores
        between = p["interpolation"] in ("linear", "midpoint")
        if between and self._elements.kind in "iu" and self._elements.dtype.itemsize == 8:
            below, above = zip(low.pair(), high.pair())
            result = np.zeros(1)
            columns = [np.array(pair).reshape(2, 1) for pair in (below, above)]
            count = np.array([low.count])
            whole_spread(*columns, count, p["q_low"], p["q_high"], p["interpolation"] == "midpoint", result)
            return (result[0],)
        first, second = self._between(low, p["q_low"]), self._between(high, p["q_high"])
        if self._elements.kind == "f":
            return (steps.distance(*map(self._elements.dtype.type, (first, second))),)
        if between and self._elements.kind not in "mM":
            return (steps.distance(first, second),)
        distance = int(second) - int(first)
        if self._elements.kind in "mM" and distance >= 2**63:
            raise OverflowError("the distance between two datetimes of a window does not fit in 64 bits")
        return (distance,)
