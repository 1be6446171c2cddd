"""Extrema of a stream: minimum, maximum, both, their rows and their distance."""

from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import DTypeLike

import rollstat.operators as operators
from rollstat.algorithms.boundary_extrema import write_extrema_of_ends
from rollstat.kernels.missing.counting import has_nan
from rollstat.kernels.simd.comparator import Greatest, Least
from rollstat.kernels.stream import runs, steps
from rollstat.options import choice
from rollstat.streaming.bulk_extend import Quick
from rollstat.streaming.codec import MISSING
from rollstat.streaming.resizing import window_of
from rollstat.streaming.statistic_stream import RollingStream
from rollstat.streaming.windows.daba import DabaWindow
from rollstat.streaming.windows.selection import AscendingWindow, WedgeWindow

__all__ = [
    "RollingArgmax",
    "RollingArgmin",
    "RollingMax",
    "RollingMin",
    "RollingMinMax",
    "RollingPtp",
]


class _Extremum(RollingStream):
    """A stream over a wedge."""

    step: ClassVar[Any]
    orders: ClassVar[tuple[Any, ...]] = ()

    def __init__(self, window: Any, *, min_periods: int | None = None, dtype: DTypeLike = np.float64) -> None:
        super().__init__(window, min_periods=min_periods, dtype=dtype, parameters={})

    def _ties(self) -> str:
        return "any"

    def _make_core(self) -> Any:
        make = partial(WedgeWindow, dtype=self._elements.computing, ties=self._ties())
        return window_of(self._span.fixed, make)

    def _quick_step(self) -> Quick | None:
        return type(self).step, (max(self._least, 1), *self._core.arrays)

    def _write_first(self, series: Any, results: list[Any]) -> None:
        core = self._core
        if not self.orders or self._elements.dtype != np.float64 or core.count < self._span.fixed:
            return super()._write_first(series, results)
        newer = self._elements.numbers(series)
        if has_nan(newer):
            return super()._write_first(series, results)
        older = core.contents()[0][1:]
        for order, result in zip(self.orders, results):
            write_extrema_of_ends(order, older, newer, result[: len(newer)])

    def _words_to_load(self, series: Any) -> tuple[Any, Any]:
        if self._elements.kind != "f" or isinstance(self._core, DabaWindow):
            return super()._words_to_load(series)
        return self._elements.numbers(series), None

    def _answer(self) -> tuple[Any, ...]:
        if self._core.count < max(self._least, 1):
            return (MISSING,) * len(self.answer_kinds)
        return self._found()

    def _found(self) -> tuple[Any, ...]:
        raise NotImplementedError  # every class that is not abstract has its own


class _OneSide(_Extremum):
    """A stream of the minimum or the maximum alone."""

    sign: ClassVar[int]

    def __init__(
        self,
        window: Any,
        *,
        min_periods: int | None = None,
        dtype: DTypeLike = np.float64,
        algorithm: str = "auto",
    ) -> None:
        choice("algorithm", algorithm, ("auto", "wedge", "daba"))
        parameters = {"algorithm": algorithm}
        RollingStream.__init__(self, window, min_periods=min_periods, dtype=dtype, parameters=parameters)

    def _make_core(self) -> Any:
        # The first snapshots do not name an algorithm.
        if self._parameters.get("algorithm") == "daba":
            operator = operators.Minimum() if self.sign > 0 else operators.Maximum()
            return DabaWindow(operator, self._span.fixed, self._elements.computing)
        if self._span.fixed and self._elements.computing == np.float64:
            return AscendingWindow(self._span.fixed, self.sign, self._least)
        return super()._make_core()

    def _quick_step(self) -> Quick:
        if isinstance(self._core, DabaWindow):
            return self._core.quick_step(max(self._least, 1))
        return type(self).step, (self._core.state,)

    def _found(self) -> tuple[Any, ...]:
        if isinstance(self._core, (DabaWindow, AscendingWindow)):
            return (self._core.extreme(),)
        low, high = self._core.extrema()
        return (low if self.sign > 0 else high,)


class RollingMin(_OneSide):
    """Minimum of a sliding window, one element at a time.

    Parameters
    ----------
    window : int, float, str, timedelta, Expanding or None
        The last so many rows; or a width, with the time of each element; or everything; or what
        :meth:`pop` leaves.
    min_periods : int, optional
        Least number of observations for an answer; by default the window for rows, else 1.
    dtype : dtype, default float64
        Of the elements: floats, integers, bool, datetimes or timedeltas.
    algorithm : {"auto", "wedge", "daba"}, default "auto"
        ``"wedge"``, which is what ``"auto"`` means, takes O(1) amortised, but a single push can cost the
        window; ``"daba"`` takes O(1) in every single push.

    Examples
    --------
    >>> import rollstat
    >>> stream = rollstat.RollingMin(3)
    >>> [stream.push(x) for x in (4.0, 1.0, 3.0, 2.0, 5.0)]
    [nan, nan, 1.0, 1.0, 2.0]
    """

    statistic = "min"
    orders = (Least(),)
    step = runs.MINIMUM
    sign = 1


class RollingMax(_OneSide):
    """Maximum of a sliding window, one element at a time.

    Parameters
    ----------
    window, min_periods, dtype, algorithm
        As in :class:`RollingMin`.

    Examples
    --------
    >>> import rollstat
    >>> stream = rollstat.RollingMax(3, min_periods=1)
    >>> [stream.push(x) for x in (4.0, 1.0, 3.0, 2.0, 5.0)]
    [4.0, 4.0, 4.0, 3.0, 5.0]
    """

    statistic = "max"
    orders = (Greatest(),)
    step = runs.MAXIMUM
    sign = -1


class RollingMinMax(_Extremum):
    """Minimum and maximum of a sliding window, one element at a time.

    Parameters
    ----------
    window, min_periods, dtype
        As in :class:`RollingMin`.

    Examples
    --------
    >>> import rollstat
    >>> stream = rollstat.RollingMinMax(3, min_periods=1)
    >>> [stream.push(x) for x in (4.0, 1.0, 3.0)]
    [(4.0, 4.0), (1.0, 4.0), (1.0, 4.0)]
    """

    statistic = "minmax"
    orders = (Least(), Greatest())
    step = runs.BOTH
    answer_kinds = ("value", "value")

    def _found(self) -> tuple[Any, ...]:
        return self._core.extrema()  # type: ignore[no-any-return]  # compiled, so untyped


class RollingPtp(_Extremum):
    """Distance from the minimum to the maximum of a sliding window, one element at a time.

    Parameters
    ----------
    window, min_periods, dtype
        As in :class:`RollingMin`.

    Examples
    --------
    >>> import rollstat
    >>> stream = rollstat.RollingPtp(3, min_periods=1)
    >>> [stream.push(x) for x in (4.0, 1.0, 3.0)]
    [0.0, 3.0, 3.0]
    """

    statistic = "ptp"
    answer_kinds = ("difference",)
    step = runs.RANGE

    def _found(self) -> tuple[Any, ...]:
        low, high = self._core.extrema()
        if self._elements.kind == "f":
            # In the dtype of the elements, as over arrays.
            return (steps.distance(*map(self._elements.dtype.type, (low, high))),)
        gap = int(high) - int(low)
        if self._elements.kind in "mM" and gap >= 2**63:
            raise OverflowError("the distance between two datetimes of a window does not fit in 64 bits")
        return (gap,)


class _Place(_Extremum):
    """The row of an extremum, counted from the first row pushed."""

    answer_kinds = ("position",)

    def __init__(
        self,
        window: Any,
        ties: str = "first",
        *,
        min_periods: int | None = None,
        dtype: DTypeLike = np.float64,
    ) -> None:
        choice("ties", ties, ("first", "last"))
        RollingStream.__init__(self, window, min_periods=min_periods, dtype=dtype, parameters={"ties": ties})


class RollingArgmin(_Place):
    """Row of the minimum of a sliding window, counted from the first row pushed.

    Parameters
    ----------
    window, min_periods, dtype
        As in :class:`RollingMin`.
    ties : {"first", "last"}, default "first"
        Which of several equal minima is meant.

    Examples
    --------
    >>> import rollstat
    >>> stream = rollstat.RollingArgmin(3)
    >>> [stream.push(x) for x in (4.0, 1.0, 3.0, 1.0, 5.0)]
    [-1, -1, 1, 1, 3]
    """

    statistic = "argmin"
    step = runs.ARGMIN

    def _ties(self) -> str:
        return "minimum_first" if self._parameters["ties"] == "first" else "minimum_last"

    def _found(self) -> tuple[Any, ...]:
        return self._core.places()[:1]  # type: ignore[no-any-return]  # compiled, so untyped


class RollingArgmax(_Place):
    """Row of the maximum of a sliding window, counted from the first row pushed.

    Parameters
    ----------
    window, ties, min_periods, dtype
        As in :class:`RollingArgmin`.

    Examples
    --------
    >>> import rollstat
    >>> stream = rollstat.RollingArgmax(3)
    >>> [stream.push(x) for x in (4.0, 1.0, 3.0, 1.0, 5.0)]
    [-1, -1, 0, 2, 4]
    """

    statistic = "argmax"
    step = runs.ARGMAX

    def _ties(self) -> str:
        return "minimum_last" if self._parameters["ties"] == "first" else "minimum_first"

    def _found(self) -> tuple[Any, ...]:
        return self._core.places()[1:]  # type: ignore[no-any-return]  # compiled, so untyped
