"""An associative operator over a window of a stream.

::

    push ---> encode the element, find what leaves ---> a queue of states of numbers or objects ---> result

Numbers are combined in compiled code, Python objects by calls; see
:mod:`rollstat.streaming.windows.operator`.
"""

from collections.abc import Mapping
from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from rollstat.algorithms.bound_calls import bind_step
from rollstat.kernels.stream.aggregate_steps import FIRST, NEXT, SPAN
from rollstat.operators.interface import NOTHING
from rollstat.options import choice, whole_number
from rollstat.snapshots import write
from rollstat.streaming.base import Stream
from rollstat.streaming.operator_adapter import Ingredients, operator_named
from rollstat.streaming.window_spec import Span
from rollstat.streaming.windows.operator import NumberWindow, ObjectWindow
from rollstat.streaming.windows.operator_results import Written

__all__ = ["Aggregate"]

_ALGORITHMS = ("auto", "two_stacks", "daba")
_FIRST_CAPACITY = 64
_MANY_ROWS = 2**62
# Rows of an array that are taken in together: what is made for them alone stays in the cache.
_BLOCK = 2**15


class Aggregate(Stream, abstract=True):
    """An operator over a window of a stream.

    Parameters
    ----------
    operator : Operator
        From :mod:`rollstat.operators` or alike, or a function of two states.
    span : Span
        The window.
    min_periods : int, optional
        Least number of observations for a result.
    dtype : dtype
        Of the elements; object for Python objects.
    algorithm : {"auto", "two_stacks", "daba"}
        ``"daba"`` takes O(1) combinations in every single step and is what ``"auto"`` means for numbers;
        ``"two_stacks"`` fewer in all, but a single step can take as many as the window has rows.
    """

    def __init__(
        self, operator: Any, span: Any, *, min_periods: Any, dtype: DTypeLike, algorithm: str
    ) -> None:
        choice("algorithm", algorithm, _ALGORITHMS)
        self._span = Span.parse(span)
        self._with = Ingredients(operator, dtype)
        if self._with.objects and algorithm == "daba":
            raise ValueError(f"algorithm {algorithm!r} serves numbers; for objects there is 'two_stacks'")
        automatic = "two_stacks" if self._with.objects else "daba"
        self._algorithm = automatic if algorithm == "auto" else algorithm
        self._min_periods = min_periods
        self._least = self._span.least(min_periods)
        self._begin()

    def reset(self) -> None:
        """Forget all rows."""
        if not self._span.fixed or self._with.objects:
            self._begin()
            return
        self._window.clear()

    def _begin(self) -> None:
        """Make an empty window."""
        self._last: Any = None
        self._window: Any = self._make_window()
        self._window.header[SPAN] = self._span.fixed or _MANY_ROWS
        self._bind()

    def _make_window(self) -> Any:
        with_ = self._with
        if with_.objects:
            return ObjectWindow(with_.operator)
        return NumberWindow(
            with_.ready,
            with_.layout,
            with_.nothing,
            self._algorithm,
            self._span.fixed or _FIRST_CAPACITY,
            np.float64 if self._span.kind == "number" else np.int64,
            "fixed" if self._span.fixed else "folding" if self._span.kind == "expanding" else "free",
        )

    def _bind(self) -> None:
        """Find the compiled code of a push of a float into a window of rows."""
        self._quick: Any = None
        self._step: Any = None
        least_is_due = self._least > 0 or self._with.identity is NOTHING
        if self._span.fixed and self._with.plain and least_is_due:
            step, *arguments = self._window.quick_step(max(self._least, 1))
            self._step = partial(bind_step(step, *arguments), *arguments)
            self._quick = float

    def push(self, *elements: Any) -> Any:
        """Take in an element, let go of what leaves the window, and return the result.

        Parameters
        ----------
        *elements
            The element, one number for each column of the operator; then its time, where the window is
            a width. None and NaN are missing: they take a row, but are no observation.

        Raises
        ------
        TypeError, ValueError
            For an element that does not fit the dtype, or a time that is missing or before the last one.
            Nothing has changed then.
        OverflowError
            If an exact result does not fit in 64 bits; the element has been taken in.
        """
        if len(elements) == 1 and type(elements[0]) is self._quick:
            return self._step(elements[0])
        wanted = self._with.columns + self._span.timed
        if len(elements) != wanted:
            raise TypeError(f"push takes {wanted} arguments here; it was given {len(elements)}")
        header = self._window.header
        row = int(header[NEXT])
        element, observed = self._with.element(elements[: self._with.columns], row)
        stamp, limit = row, row - int(header[SPAN])
        if self._span.timed:
            stamp = self._span.stamp(elements[-1])
            if self._last is not None and stamp < self._last:
                raise ValueError(f"t must not decrease; it was {stamp} after {self._last}")
            limit = self._span.limit(stamp)
        elif self._span.free:
            limit = int(header[FIRST]) - 1
        size = self._window.push(limit, stamp, element, observed, max(self._least, 1))
        header[NEXT] = row + 1
        if self._span.timed:
            self._last = stamp
        return self._result(size, self._window.result)

    def _result(self, size: int, found: Any) -> Any:
        if size >= max(self._least, 1):
            return self._with.finish(found())
        return self._with.lacking(size >= self._least)

    @property
    def observations(self) -> int:
        """Observations in the window."""
        return int(self._window.size)

    def __len__(self) -> int:
        """Rows in the window; in a window by time, observations in it."""
        if self._span.timed:
            return self.observations
        rows = int(self._window.header[NEXT] - self._window.header[FIRST])
        return min(rows, self._span.fixed or rows)

    @property
    def full(self) -> bool:
        """Whether a window of a fixed number of rows has as many; other windows never are."""
        return bool(self._span.fixed) and len(self) == self._span.fixed

    @property
    def value(self) -> Any:
        """The result; without observations the identity if `min_periods` is 0, else NaN or None."""
        return self._result(self.observations, self._window.value)

    def pop(self, n: int = 1) -> Any:
        """Let go of the `n` oldest rows of a window of free size, and return the result.

        Raises
        ------
        ValueError, TypeError
            If there are fewer, or the window has its own rule. Nothing has changed then.
        """
        if not self._span.free:
            raise TypeError("pop needs a window of free size")
        number = whole_number("n", n, 0)
        if number > len(self):
            raise ValueError(f"n must be at most the rows in the window, {len(self)}; it was {n}")
        first = int(self._window.header[FIRST]) + number
        self._window.pop(first - 1)
        self._window.header[FIRST] = first
        return self.value

    def _check_new(self, columns: Any, times: Any) -> tuple[list[Any], NDArray[Any] | None]:
        """Series of new rows, and their stamps where the window is a width, or raise."""
        series = self._with.series(columns)
        if not self._span.timed:
            if times is not None:
                raise TypeError("times do not apply: the window is no width")
            return series, None
        if times is None:
            raise TypeError("times must be given: the window is a width")
        stamps = np.ascontiguousarray(self._span.stamps(times))
        decreasing = (stamps[1:] < stamps[:-1]).any() or (
            self._last is not None and (stamps[:1] < self._last).any()
        )
        if stamps.shape != (len(series[0]),) or decreasing:
            raise ValueError("times must be as many as the elements, and never decrease")
        return series, stamps

    def extend(self, *columns: ArrayLike, times: ArrayLike | None = None) -> Any:
        """Take in all elements of an array, one for each column, and return the result after each.

        Returns
        -------
        ndarray or tuple of ndarray
            Equal to pushing one by one, to the bit. Whole results are whole numbers where none of them is
            missing, else float64 with NaN. Of objects an array of objects, None where missing.

        Raises
        ------
        TypeError, ValueError
            For elements that do not fit the dtype, or times that are missing or decrease. Nothing has changed
            then.
        OverflowError
            If an exact result does not fit in 64 bits; the elements have been taken in.
        Exception
            What compiled methods of the operator raise; the stream has forgotten all rows then.

        Notes
        -----
        Cost: the combinations of the pushes in all, about the time of :func:`rolling_aggregate`. What each
        push would do for those to come is done at once, so a short array can cost a window.
        """
        series, stamps = self._check_new(columns, times)
        if self._with.objects:
            results = np.empty(len(series[0]), object)
            for i, element in enumerate(series[0]):
                results[i] = self.push(element) if times is None else self.push(element, np.asarray(times)[i])
            return results
        try:
            written = self._take(series, stamps)
        except Exception:
            self.reset()  # the operator raised between two changes that belong together
            raise
        finished = self._finished(written)
        return finished[0] if self._with.layout.single else tuple(finished)

    def _finished(self, written: Written) -> list[NDArray[Any]]:
        """Results with what stands for too few observations, or an error if one does not fit."""
        if written.failed.any():
            raise OverflowError("an exact result does not fit in 64 bits")
        return [self._with.masked(out, written.insufficient, self._least) for out in written.arrays]

    def _take(self, series: list[Any], stamps: NDArray[Any] | None) -> Written:
        """Take in rows of numbers; where the first has too few, whole results are floating at once."""
        window, span, layout = self._window, self._window.header[SPAN], self._with.layout
        if stamps is not None:
            span = stamps.dtype.type(self._span.size)
        lacks = window.size + 1 < self._least
        dtypes = [self._with.result_dtype(output.base, lacks) for output in layout.outputs]
        written = Written.of(layout, len(series[0]), dtypes)
        spare = Written.of(layout, min(len(series[0]), _BLOCK))
        numbers = int(window.header[NEXT]) + np.arange(min(len(series[0]), _BLOCK))
        for first in range(0, len(series[0]), _BLOCK):
            rows = slice(first, first + _BLOCK)
            values, missing = self._with.words_of([column[rows] for column in series], int(numbers[0]))
            given = numbers[: len(missing)] if stamps is None else stamps[rows]
            part = written.part(rows, spare)
            window.extend(given, span, values, missing, max(self._least, 1), part)
            written.convert(rows, part)
            window.header[NEXT] += len(missing)
            numbers += len(missing)
        if stamps is not None and len(stamps):
            self._last = stamps[-1].item()
        return written

    @classmethod
    def from_tail(
        cls, array: ArrayLike | tuple[ArrayLike, ...], *arguments: Any, times: Any = None, **options: Any
    ) -> Self:
        """Return a stream that goes on where an array ends.

        Parameters
        ----------
        array : array_like, 1-d, or tuple of them
            A series, or its last rows, at least as many as the window has; for an operator of several
            series a tuple of as many arrays.
        *arguments, **options
            What the class is made with.
        times : array_like, 1-d, optional
            Times of the rows, where the window is a width.

        Returns
        -------
        stream
            As if all elements had been given to :meth:`extend`.
        """
        stream = cls(*arguments, **options)
        several = isinstance(array, tuple) and stream._with.columns > 1
        columns: Any = array if several else (array,)
        if stream._with.objects:
            stream.extend(*columns, times=times)
        else:
            stream._take(*stream._check_new(columns, times))
        return stream

    def merge(self, other: Self) -> None:
        """Take in all that `other` has seen, as if it had been pushed here; both windows are expanding.

        Raises
        ------
        TypeError, ValueError
            If `other` is not alike, or the operator asks for rows. Nothing has changed then.

        Notes
        -----
        Takes one combination, however much either has seen.
        """
        if type(other) is not type(self) or self._span.kind != "expanding":
            raise TypeError(f"merge needs two {type(self).__name__} with the window Expanding()")
        alike = (self._with.operator, self._with.elements.dtype, self._least, self._algorithm, self._span)
        others = (
            other._with.operator,
            other._with.elements.dtype,
            other._least,
            other._algorithm,
            other._span,
        )
        if type(self._with.operator) is not type(other._with.operator) or alike != others:
            raise ValueError("merge needs streams made with the same parameters")
        if self._with.with_row:
            raise TypeError("merge does not serve operators that ask for rows")
        rows = other._window.header[NEXT]
        self._window.join(other._window)
        self._window.header[NEXT] += rows
        self._bind()

    def copy(self) -> Self:
        """Return an equal stream that goes its own way."""
        other = type(self).__new__(type(self))
        other.__dict__.update(self.__dict__)
        other._window = self._window.copy()
        other._bind()
        return other

    def __reduce__(self) -> Any:
        kept = {key: value for key, value in self.__dict__.items() if key not in ("_quick", "_step")}
        return _unpickle, (type(self), kept)

    def snapshot(self) -> bytes:
        """Return the state as bytes that :func:`rollstat.restore` reads, in this release and later ones."""
        specification = {
            "operator": self._with.named(),
            "window": [self._span.kind, self._span.size],
            "min_periods": None if self._min_periods is None else int(self._min_periods),
            "dtype": self._with.elements.dtype.str,
            "algorithm": self._algorithm,
            "last": self._last,
        }
        return write(type(self).__name__, specification, self._window.state)

    @classmethod
    def _operator(cls, name: str, fields: list[Any]) -> Any:
        return operator_named(name, fields)

    def _take_window_for(self, arrays: list[NDArray[Any]]) -> Any:
        """The stream's window, of the kind whose arrays a snapshot holds."""
        return self._window

    @classmethod
    def _from_snapshot(cls, parameters: Mapping[str, Any], arrays: list[NDArray[Any]]) -> Self:
        stream = cls.__new__(cls)
        Aggregate.__init__(
            stream,
            cls._operator(*parameters["operator"]),
            Span(*parameters["window"]),
            min_periods=parameters["min_periods"],
            dtype=parameters["dtype"],
            algorithm=parameters["algorithm"],
        )
        window = stream._take_window_for(arrays)
        window.adopt(arrays)
        window.header[SPAN] = stream._span.fixed or _MANY_ROWS
        stream._last = parameters["last"]
        stream._bind()
        return stream

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {len(self)} rows, value {self.value!r}>"


def _unpickle(cls: Any, state: dict[str, Any]) -> Any:
    stream = cls.__new__(cls)
    stream.__dict__.update(state)
    stream._bind()
    return stream
