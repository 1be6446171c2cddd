"""Streams of any associative operator: over rows, over time, over any number of rows, over any windows."""

from collections.abc import Mapping
from operator import attrgetter
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from rollstat.names import suggesting
from rollstat.options import whole_number
from rollstat.streaming.base import RollingStream, Stream, Window, unpickle
from rollstat.streaming.calendar_window import CalendarWindow
from rollstat.streaming.greedy_window import GreedyWindow
from rollstat.streaming.operator_window import OperatorWindow
from rollstat.streaming.window_spec import WindowSpec


class OperatorStream(RollingStream, abstract=True):
    """A stream of an operator over one or several series."""

    def push(self, *elements: Any) -> Any:
        """Add an element, remove what leaves the window, and return the result.

        Parameters
        ----------
        *elements
            The element, one number for each column of the operator, then its time if the window is a
            duration. None and NaN are missing: they take a row but are not observations.

        Returns
        -------
        value
            The result, as in :attr:`value`.

        Raises
        ------
        TypeError, ValueError
            For an element that does not fit the dtype, or a time that is missing or before the last one.
            The stream does not change.
        OverflowError
            If an exact result does not fit in 64 bits. The element has been added nevertheless.
        Exception
            Whatever methods of the operator raise. The stream then rejects all calls but :meth:`reset`.
        """
        return self._add_row("push", elements)

    _push = push  # type: ignore[assignment]  # another signature than in the base class

    def add(self, *elements: Any) -> None:
        """Add an element and remove what leaves the window, without computing the result.

        Parameters
        ----------
        *elements
            As in :meth:`push`.

        Notes
        -----
        This saves the combination that a result requires. For objects, ``combine_into`` can also change the
        total of a growing window in place, because the total has not been returned. Errors are as in
        :meth:`push`.
        """
        self._add_row("add", elements)

    def drop(self, n: int = 1) -> None:
        """Remove the `n` oldest rows like :meth:`pop`, without computing the result."""
        self._remove("drop", n)

    @property
    def full(self) -> bool:
        """Whether a row window has all its rows, or a time window begins at the first row or later."""
        return bool(self._use(attrgetter("full")))

    @property
    def observations(self) -> int:
        """Number of observations in the window."""
        return int(self._use(attrgetter("observations")))

    # An operator takes as many columns as its lift has arguments, so the signature is wider than the base's.
    def extend(self, *columns: ArrayLike, times: ArrayLike | None = None) -> Any:  # type: ignore[override]
        """Add all elements of arrays, one for each column, and return the result after each.

        Returns
        -------
        ndarray or tuple of ndarray
            Equal to the results of single pushes: exactly for the operator classes, within the error bounds
            for named sums and moments. Integer results are integers if none is missing, otherwise float64
            with NaN. Results for objects are an array of objects, None where missing.

        Raises
        ------
        TypeError, ValueError
            For elements that do not fit the dtype, or times that are missing or decrease. The stream is
            not changed.
        OverflowError
            If an exact result does not fit in 64 bits. The stream is not changed.
        Exception
            Whatever methods of the operator raise. The stream then rejects all calls but :meth:`reset`.

        Notes
        -----
        Cost: the same combinations as single pushes, in at most about twice the time of
        :func:`rolling_aggregate`. Some work of later pushes is done immediately, so a short array can cost
        as much as a window.
        """
        return self._extend(columns, times)

    def __reduce__(self) -> Any:
        return unpickle, (type(self), self._use(Window.copy))


class _General(OperatorStream, abstract=True):
    """A window of any operator."""

    _window_class = OperatorWindow
    _kinds: ClassVar[tuple[str, ...]]  # of windows, see WindowSpec

    def __init__(
        self,
        operator: Any,
        window: Any,
        min_periods: int | None,
        dtype: DTypeLike,
        algorithm: str,
        check: bool,
    ) -> None:
        options: dict[str, Any] = {"min_periods": min_periods, "dtype": dtype, "algorithm": algorithm}
        spec = WindowSpec.parse(window)
        made: Any = OperatorWindow(operator, spec.held, **options, check=check)
        self._set_window(CalendarWindow(made, spec) if spec.by_calendar else made)

    @classmethod
    def _window_from_state(cls, parameters: Mapping[str, Any], arrays: list[NDArray[Any]]) -> Any:
        if "calendar" in parameters and "time" in cls._kinds:
            return CalendarWindow.from_state(super()._window_from_state, parameters, arrays)
        if parameters["window"][0] not in cls._kinds:
            raise ValueError(f"its window must be one of {', '.join(cls._kinds)}")
        return super()._window_from_state(parameters, arrays)


class SlidingAggregate(_General):
    """Any associative operator over a window that grows with `push` and shrinks with `pop`.

    Parameters
    ----------
    operator : Operator or callable
        An operator from :mod:`rollstat.operators`, your own with the same methods, or a function of two
        states.
    min_periods : int, default 1
        Minimum number of observations for a result. With 0, an empty window gives the identity.
    dtype : dtype, default float64
        The dtype of the elements; ``object`` for Python objects. For
        :class:`~rollstat.operators.MatrixProduct` float64 with the shape of the matrices, such as
        ``np.dtype((float, (2, 2)))``.
    algorithm : {"auto", "two_stacks", "daba"}, default "auto"
        ``"daba"``, the default for numbers, takes O(1) combinations in every single step.
        ``"two_stacks"`` takes O(1) amortised, and also supports objects.
    check : bool, default True
        Whether to check on the first elements that your own operator is associative. If it is not, ValueError
        is raised, and the elements that show it are not added.

    Examples
    --------
    >>> import rollstat, rollstat.operators
    >>> stream = rollstat.SlidingAggregate(rollstat.operators.Sum())
    >>> stream.push(4.0), stream.push(1.0), stream.push(3.0), stream.pop(2)
    (4.0, 5.0, 8.0, 3.0)
    """

    _kinds = ("free",)

    @suggesting
    def __init__(
        self,
        operator: Any,
        *,
        min_periods: int | None = None,
        dtype: DTypeLike = np.float64,
        algorithm: str = "auto",
        check: bool = True,
    ) -> None:
        super().__init__(operator, None, min_periods, dtype, algorithm, check)


class FixedAggregate(_General):
    """Any associative operator over the last rows of a stream.

    Parameters
    ----------
    operator : Operator or callable
        As in :class:`SlidingAggregate`.
    window : int
        Rows in the window.
    min_periods : int, optional
        Minimum number of observations for a result. Default: the window size.
    dtype, algorithm, check
        As in :class:`SlidingAggregate`.

    Examples
    --------
    >>> import rollstat, rollstat.operators
    >>> stream = rollstat.FixedAggregate(rollstat.operators.Minimum(), 3)
    >>> [stream.push(x) for x in (4.0, 1.0, 3.0, 2.0, 5.0)]
    [nan, nan, 1.0, 1.0, 2.0]
    """

    _kinds = ("rows",)

    @suggesting
    def __init__(
        self,
        operator: Any,
        window: int,
        *,
        min_periods: int | None = None,
        dtype: DTypeLike = np.float64,
        algorithm: str = "auto",
        check: bool = True,
    ) -> None:
        super().__init__(operator, whole_number("window", window, 1), min_periods, dtype, algorithm, check)


class TimeAggregate(_General):
    """Any associative operator over the elements in the time window ``(t - window, t]``.

    Parameters
    ----------
    operator : Operator or callable
        As in :class:`SlidingAggregate`.
    window : float, str, timedelta or DateOffset
        Duration or calendar units of the window; a number if times are numbers.
    min_periods : int, default 1
        Minimum number of observations for a result.
    dtype, algorithm, check
        As in :class:`SlidingAggregate`.
    lateness : float, str or timedelta, optional
        How much older than the newest element an inserted element may be. The operator must take
        numbers, and must not use row numbers.

    Notes
    -----
    With `lateness`, a push takes O(1) combinations amortised and O(log m) in the worst case, and
    :meth:`insert` takes O(d + log m) for an element that arrives after d newer observations.

    Examples
    --------
    >>> import rollstat, rollstat.operators
    >>> stream = rollstat.TimeAggregate(rollstat.operators.Maximum(), 10)
    >>> [stream.push(x, t) for x, t in ((3.0, 0), (1.0, 4), (2.0, 9), (1.5, 10))]
    [3.0, 3.0, 3.0, 2.0]
    """

    _kinds = ("time", "number")

    @suggesting
    def __init__(
        self,
        operator: Any,
        window: Any,
        *,
        min_periods: int | None = None,
        dtype: DTypeLike = np.float64,
        algorithm: str = "auto",
        check: bool = True,
        lateness: Any = None,
    ) -> None:
        width = float(window) if isinstance(window, int) and not isinstance(window, bool) else window
        if window is None or not WindowSpec.parse(width).timed:
            allowed = "a number, a duration such as '5min' or '1 month', a timedelta or a DateOffset"
            raise TypeError(f"window must be {allowed}; got {window!r}")
        late = float(lateness) if isinstance(lateness, int) and not isinstance(lateness, bool) else lateness
        spec = WindowSpec.parse(width, late)
        super().__init__(operator, spec, min_periods, dtype, algorithm, check)


class GreedyAggregate(Stream):
    """Any associative operator over a sequence of windows, with the fewest possible combinations.

    :meth:`push` adds elements. :meth:`move` moves to the window of rows ``[start, end)``, or of times in
    ``(start, end]``; start and end must never decrease.

    Parameters
    ----------
    operator : Operator or callable
        As in :class:`SlidingAggregate`.
    min_periods : int, default 1
        Minimum number of observations for a result. With 0, an empty window gives the identity.
    dtype : dtype, default float64
        As in :class:`SlidingAggregate`.
    times : dtype, optional
        The dtype of times, if every row has one: float64 for numbers, or datetime64 or timedelta64.
    check : bool, default True
        As in :class:`SlidingAggregate`.

    Notes
    -----
    Cost: O(1) per element. All windows together take the fewest combinations that associativity allows; a
    repeated or an empty window takes none. The stream holds the rows from the start of the last window on.
    Source: Basin, Klaedtke, Zalinescu, Greedily computing associative aggregations on sliding windows,
    Information Processing Letters 115 (2015), doi:10.1016/j.ipl.2014.09.009.

    Examples
    --------
    >>> import rollstat, rollstat.operators
    >>> stream = rollstat.GreedyAggregate(rollstat.operators.Sum())
    >>> stream.extend([2.0, 4.0, 5.0, 2.0])
    >>> stream.move(0, 3), stream.move(0, 4), stream.move(1, 4)
    (11.0, 13.0, 11.0)
    >>> words = rollstat.GreedyAggregate(lambda older, newer: older | newer, dtype=object)
    >>> words.extend([{"b"}, {"a"}, {"b"}])
    >>> sorted(words.move(0, 2))
    ['a', 'b']
    >>> timed = rollstat.GreedyAggregate(rollstat.operators.Sum(), times=float)
    >>> timed.extend([2.0, 4.0, 5.0], times=[0.5, 1.0, 3.0])
    >>> timed.move(0.5, 1.0), timed.move(0.5, 4.0)
    (4.0, 9.0)
    """

    _window_class = GreedyWindow

    @suggesting
    def __init__(
        self,
        operator: Any,
        *,
        min_periods: int | None = None,
        dtype: DTypeLike = np.float64,
        times: DTypeLike | None = None,
        check: bool = True,
    ) -> None:
        options: dict[str, Any] = {"min_periods": min_periods, "dtype": dtype, "times": times}
        self._set_window(GreedyWindow(operator, **options, check=check))

    def push(self, *elements: Any) -> Any:
        """Add a row without moving the window, and return the result of the last window.

        Parameters
        ----------
        *elements
            The element, one number for each column of the operator; then its time if rows have times. None
            and NaN are missing: they take a row but are not observations.

        Raises
        ------
        TypeError, ValueError
            For an element that does not fit the dtype, or a time that is missing or before the last one.
            The stream does not change.
        Exception
            Whatever methods of the operator raise. The stream does not change.
        """
        return self._add_row("push", elements)

    def extend(self, *columns: ArrayLike, times: ArrayLike | None = None) -> None:
        """Add all elements of arrays, one for each column, and their times if rows have times.

        Raises
        ------
        TypeError, ValueError
            As in :meth:`push`.
        Exception
            Whatever methods of the operator raise. The stream then rejects all calls but :meth:`reset`.
        """
        found, kind = self._numpy_times("times", times)
        self._use(lambda window: window.extend(columns, found), kind)

    def move(self, start: Any, end: Any) -> Any:
        """Move to the window of rows ``[start, end)``, or of times in ``(start, end]``; return its result.

        Parameters
        ----------
        start, end : int, or times
            Bounds, counted from the first row pushed; neither may be smaller than before. Only an empty
            window (``start == end``) may lie beyond the rows that have arrived. If rows have times, the
            bounds are times and may lie anywhere; rows that arrive later count if their times are inside.

        Raises
        ------
        TypeError, ValueError
            For bounds that are not integers, decrease, or lie beyond the rows that have arrived. The
            stream does not change.
        OverflowError
            If an exact result does not fit in 64 bits. The window has moved nevertheless.
        Exception
            Whatever methods of the operator raise. The stream then rejects all calls but :meth:`reset`.
        """
        if not self._window.spec.timed:
            return self._use(lambda window: window.move_to_rows(start, end))
        (low, kind), (high, last_kind) = self._numpy_times("start", start), self._numpy_times("end", end)
        return self._use(lambda window: window.move_to_times(low, high), kind or last_kind)

    @property
    def bounds(self) -> tuple[int, int]:
        """Start and end of the last window, counted in rows from the first row pushed."""
        bounds: tuple[int, int] = self._use(attrgetter("bounds"))
        return bounds

    @property
    def rows(self) -> int:
        """Number of rows that have arrived."""
        return int(self._use(attrgetter("arrived")))

    def __len__(self) -> int:
        """Number of rows in the last window."""
        return int(self._use(attrgetter("rows")))

    def __reduce__(self) -> Any:
        return unpickle, (type(self), self._use(Window.copy))

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {self.rows} rows, window {self.bounds}, value {self.value!r}>"
