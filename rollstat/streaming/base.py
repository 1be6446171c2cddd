r"""What all streams share: pushing, extending by the batch function, copies and snapshots.

::

    push(x) ---> quick: one compiled step, where the window is rows and x a float
           \--> else:  encode x, check t, pop what leaves, push, decode the answer

A stream keeps its window in a *core*, arrays that compiled kernels work on. A core can list its rows and
be loaded with rows, which is all that extending, snapshots and merging need.
"""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from rollstat.algorithms.compiled import bind, bind_step
from rollstat.dtypes import convert
from rollstat.kernels.locate import move_origin
from rollstat.kernels.stream_runs import run
from rollstat.options import whole_number
from rollstat.registry import REGISTRY
from rollstat.snapshots import write
from rollstat.streaming.elements import Elements
from rollstat.streaming.span import Span, Stamps
from rollstat.streaming.stream import Stream

__all__ = ["Quick", "RollingStream"]

# A step of :mod:`rollstat.kernels.stream_runs`, and what it takes before a float.
Quick = tuple[Any, tuple[Any, ...]]

# An array goes through the window step by step where a step is one compiled call: one of so many elements,
# which take less than a call of the function over arrays, and of as many more as are this part of the window,
# where the function would see little but rows held.
_STEPS, _STEPS_SHARE = 1_000, 4
# Otherwise it is pushed one by one if it is less than such a part, and takes less than a call of a function:
# that takes as long as so many pushes, and as one more for so many rows held.
_PUSHES_SHARE = 8
_PUSHES, _ROWS_OF_A_PUSH = 20, 256
# An array of so many windows is no longer copied behind the rows that are held.
_LONG = 2


class RollingStream(Stream, abstract=True):
    """A registered statistic over a stream, one element at a time.

    Parameters
    ----------
    window : int, float, str, timedelta, Expanding or None
        The last so many rows; or a width, with the time of each element given to `push`: the window is
        then ``(t - width, t]``; or everything; or what :meth:`pop` leaves.
    min_periods : int, optional
        Least number of observations for an answer; by default the window for a number of rows, else 1.
    dtype : dtype
        Of the elements.
    """

    statistic: ClassVar[str] = ""
    kinds: ClassVar[str] = "fiubMm"
    answer_kinds: ClassVar[tuple[str, ...]] = ("value",)

    def __init__(
        self, window: Any, *, min_periods: Any, dtype: DTypeLike, parameters: dict[str, Any]
    ) -> None:
        self._span = Span.parse(window)
        self._elements = Elements(dtype, self.kinds)
        self._min_periods = min_periods
        self._least = self._span.least(min_periods)
        self._parameters = parameters
        self._stamps = Stamps(np.float64 if self._span.kind == "number" else np.int64)
        self._core: Any = self._make_core()
        self._bind()

    # What a statistic provides.

    def _make_core(self) -> Any:
        raise NotImplementedError  # every class that is not abstract has its own

    def _quick_step(self) -> Quick | None:
        """Compiled step of a float into a window of rows, if there is one, and its arguments."""
        return None

    def _answer(self) -> tuple[Any, ...]:
        """Words of the answer, MISSING where there is none."""
        raise NotImplementedError  # every class that is not abstract has its own

    def _batch_arguments(self) -> dict[str, Any]:
        """Parameters of the function over arrays."""
        return {key: value for key, value in self._parameters.items() if key != "algorithm"}

    # The rest.

    def _bind(self) -> None:
        self._step: Any = None
        self._state: Any = None
        self._quick: Quick | None = None
        if self._span.fixed and self._elements.dtype == np.float64:
            self._quick = self._quick_step()
            if self._quick is not None:
                step, arguments = self._quick
                self._step, self._state = _bound(step.push, *arguments)

    def push(self, x: Any, t: Any = None) -> Any:
        """Take in an element, let go of what leaves the window, and return the answer.

        Parameters
        ----------
        x : number, datetime64, timedelta64 or None
            The element; None, NaN and NaT are missing: they take a row, but are no observation.
        t : number, datetime or timedelta, optional
            Its time, never before the last one, where the window is a width.

        Returns
        -------
        value
            As :attr:`value`.

        Raises
        ------
        TypeError, ValueError
            For an element that does not fit the dtype, or a time that is missing or before the last one.
            Nothing has changed then.
        """
        step = self._step
        if step is not None and t is None:
            try:
                return step(self._state, x)
            except TypeError:  # x is no float: nothing has changed
                pass
        return self._push(x, t)

    def _push(self, x: Any, t: Any) -> Any:
        word, missing = self._elements.encode(x)
        self._move(t)
        self._core.push(word, missing)
        return self.value

    def _move(self, t: Any) -> None:
        """Move a window by time to `t`, or raise."""
        if not self._span.timed:
            if t is not None:
                raise TypeError("t does not apply: the window is no width")
            return
        stamp = self._span.stamp(t)
        self._stamps.check(stamp)
        gone = self._stamps.up_to(self._span.limit(stamp))
        if gone:
            self._stamps.drop(gone)
            self._core.pop(gone)
        self._stamps.append(stamp)

    @property
    def value(self) -> Any:
        """The answer of the window as it is; NaN, NaT, None or -1 where there is none."""
        decode = self._elements.decode
        answers = tuple(decode(word, kind) for word, kind in zip(self._answer(), self.answer_kinds))
        return answers if len(answers) > 1 else answers[0]

    @property
    def full(self) -> bool:
        """Whether a window of a fixed number of rows has as many; other windows never are."""
        return bool(self._span.fixed) and len(self) == self._span.fixed

    def __len__(self) -> int:
        """Rows in the window, missing elements included."""
        return int(self._core.rows)

    def pop(self, n: int = 1) -> Any:
        """Let go of the `n` oldest rows of a window that was made with ``None``, and return the answer.

        Raises
        ------
        ValueError, TypeError
            If there are fewer, or the window has its own rule. Nothing has changed then.
        """
        if not self._span.free:
            raise TypeError("pop needs a window of free size, made with None")
        number = whole_number("n", n, 0)
        if number > len(self):
            raise ValueError(f"n must be at most the rows in the window, {len(self)}; it was {n}")
        self._core.pop(number)
        return self.value

    def _rows(self) -> Any:
        return self._elements.series(*self._core.contents())

    def _with(self, series: Any) -> Any:
        """The window's rows, and then the new ones."""
        held = self._rows()
        if isinstance(held, np.ma.MaskedArray) or isinstance(series, np.ma.MaskedArray):
            return np.ma.concatenate([held, series])
        return np.concatenate([held, series])

    def _check_new(self, array: Any, times: Any) -> tuple[Any, NDArray[Any] | None]:
        series = self._elements.array(array)
        if not self._span.timed:
            if times is not None:
                raise TypeError("times do not apply: the window is no width")
            return series, None
        if times is None:
            raise TypeError("times must be given: the window is a width, so every element has a time")
        stamps = self._span.stamps(times)
        if stamps.shape != series.shape:
            raise ValueError(f"times must be as many as the elements, {len(series)}; it was {stamps.shape}")
        if len(stamps):
            self._stamps.check(stamps[0])
            if (stamps[1:] < stamps[:-1]).any():
                raise ValueError("times must not decrease")
        return series, stamps

    def extend(self, array: ArrayLike, times: ArrayLike | None = None) -> Any:
        """Take in all elements of an array, and return the answer after each.

        Parameters
        ----------
        array : array_like, 1-d
            The elements; masked ones are missing.
        times : array_like, 1-d, optional
            Their times, where the window is a width.

        Returns
        -------
        ndarray or tuple of ndarray
            What the function over arrays returns for these rows: equal to pushing one by one.
        """
        series, stamps = self._check_new(array, times)
        if len(series) and not isinstance(series, np.ma.MaskedArray):
            rows, held = len(series), len(self)
            if self._quick is not None and rows <= _STEPS + held // _STEPS_SHARE:
                return self._extend_by_steps(self._quick, series)
            if rows * _PUSHES_SHARE < held and rows < _PUSHES + held // _ROWS_OF_A_PUSH:
                return self._extend_singly(series, stamps)
        held, whole, times_whole = len(self), series, None
        if stamps is not None:
            times_whole = np.concatenate([self._stamps.held, stamps])
            if self._span.kind == "time":
                times_whole = times_whole.view("M8[ns]")
        before = self._core.pushed - held
        if self._in_two(series):
            results = self._results_in_two(series)
        else:
            whole = self._with(series) if held else series
            results = [result[held:] for result in self._batch(whole, times_whole)]
            self._count_from(before, results)
        self._absorb(whole, times_whole, before + held + len(series))
        return tuple(results) if len(results) > 1 else results[0]

    def _in_two(self, series: Any) -> bool:
        """Whether the new rows are so many that those whose windows lie within them are worth a call."""
        if not self._span.fixed or not len(self) or len(series) < _LONG * self._span.fixed:
            return False
        # Whole numbers among which some are missing have results of their own kind.
        return self._elements.kind not in "iub" or not (
            isinstance(series, np.ma.MaskedArray) or self._core.count < len(self)
        )

    def _results_in_two(self, series: Any) -> list[Any]:
        """Results of a long array without a copy of it: its first rows again, after those held."""
        results = self._batch(series, None)
        self._count_from(self._core.pushed, results)
        self._write_first(series[: self._span.fixed - 1], results)
        return results

    def _write_first(self, series: Any, results: list[Any]) -> None:
        """Write the results of the rows of `series`, in whose windows there are rows held."""
        held = len(self)
        first = [result[held:] for result in self._batch(self._with(series), None)]
        self._count_from(self._core.pushed - held, first)
        for result, part in zip(results, first):
            result[: len(series)] = part

    def _count_from(self, row: int, results: list[Any]) -> None:
        """Let positions in an array whose first row is `row` count from the first row pushed."""
        for i, kind in enumerate(self.answer_kinds):
            if kind == "position":
                results[i] = np.ma.getdata(results[i])
                if row:
                    move_origin(results[i], row)

    def _extend_by_steps(self, quick: Quick, series: Any) -> NDArray[Any]:
        values = np.array(series, np.float64)
        answers = np.empty(len(values), np.int64 if self.answer_kinds[0] == "position" else np.float64)
        given = *quick, values, answers
        bind(run, *given)(*given)
        return answers

    def _extend_singly(self, series: Any, stamps: NDArray[Any] | None) -> Any:
        words, missing = self._elements.words(series)
        answers: list[tuple[Any, ...]] = []
        for i in range(len(words)):
            if stamps is not None:
                gone = self._stamps.up_to(self._span.limit(stamps[i].item()))
                if gone:
                    self._stamps.drop(gone)
                    self._core.pop(gone)
                self._stamps.append(stamps[i])
            self._core.push(words[i], bool(missing[i]))
            answers.append(self._answer())
        empties = self._batch(
            self._elements.series(words[:0], missing[:0]), None if stamps is None else stamps[:0]
        )
        columns = []
        for column, kind, like in zip(zip(*answers), self.answer_kinds, empties):
            values = [self._elements.decode(word, kind) for word in column]
            columns.append(np.array([np.nan if value is None else value for value in values], like.dtype))
            whole = [value for value in values if isinstance(value, int)]
            if whole:  # what rounds them says so
                convert(np.array(whole), np.empty(len(whole), like.dtype))
        return tuple(columns) if len(columns) > 1 else columns[0]

    def _batch(self, series: Any, times: Any) -> list[Any]:
        """What the function over arrays says of every row of `series`, an array for each output."""
        function = REGISTRY[self.statistic].function
        arguments = dict(self._batch_arguments())
        arguments["m" if self.statistic in ("kth", "argkth") else "window"] = self._span.argument
        if times is not None:
            arguments["times"] = times.view("M8[ns]") if times.dtype == np.int64 else times
        results = function(series, min_periods=self._min_periods, **arguments)
        return list(results) if isinstance(results, tuple) else [results]

    def _absorb(self, series: Any, times: Any, pushed: int) -> None:
        """Hold the last rows of `series`, as many as the window has."""
        first = 0
        if self._span.fixed:
            first = max(0, len(series) - self._span.fixed)
        elif times is not None and len(series):
            stamps = times.view(np.int64) if times.dtype.kind == "M" else times
            first = int(np.searchsorted(stamps, self._span.limit(stamps[-1].item()), side="right"))
            self._stamps.load(stamps[first:])
        self._core.load(*self._words_to_load(series[first:]), pushed)

    def _words_to_load(self, series: Any) -> tuple[NDArray[Any], NDArray[np.bool_] | None]:
        """The words of a series, and which are missing: None where the core finds that out itself."""
        return self._elements.words(series)

    @classmethod
    def from_tail(
        cls, array: ArrayLike, *arguments: Any, times: ArrayLike | None = None, **options: Any
    ) -> Self:
        """Return a stream that goes on where an array ends.

        Parameters
        ----------
        array : array_like, 1-d
            A series, or its last rows: at least as many as the window has.
        *arguments, **options
            What the class is made with.
        times : array_like, 1-d, optional
            Times of the rows, where the window is a width.

        Returns
        -------
        stream
            As if each element had been pushed.
        """
        stream = cls(*arguments, **options)
        series, stamps = stream._check_new(array, times)
        stream._absorb(series, stamps, len(series))
        return stream

    def merge(self, other: Self) -> None:
        """Take in all that `other` has seen, as if it had been pushed here; both windows are expanding.

        Raises
        ------
        TypeError, ValueError
            If `other` is not alike. Nothing has changed then.
        """
        if type(other) is not type(self) or self._span.kind != "expanding":
            raise TypeError(f"merge needs two {type(self).__name__} with the window Expanding()")
        if other._specification() != self._specification():
            raise ValueError("merge needs streams made with the same parameters")
        self._merge(other)

    def _merge(self, other: Any) -> None:
        self._absorb(self._with(other._rows()), None, self._core.pushed + other._core.pushed)

    def reset(self) -> None:
        """Forget all rows."""
        if self._span.fixed:
            self._core.load(np.empty(0, self._elements.computing), np.empty(0, np.bool_), 0)
            return
        self._stamps = Stamps(self._stamps.dtype)
        self._core = self._make_core()

    def copy(self) -> Self:
        """Return an equal stream that goes its own way."""
        other = type(self).__new__(type(self))
        other.__dict__.update(self.__dict__)
        other._core = self._core.copy()
        other._stamps = self._stamps.copy()
        other._bind()
        return other

    def _specification(self) -> dict[str, Any]:
        """What the stream is made with, as JSON has it."""
        return {
            "window": [self._span.kind, self._span.size],
            "min_periods": None if self._min_periods is None else int(self._min_periods),
            "dtype": self._elements.dtype.str,
            "own": self._parameters,
        }

    def snapshot(self) -> bytes:
        """Return the state as bytes that :func:`rollstat.restore` reads, in this release and later ones."""
        words, missing = self._core.contents()
        pushed = np.array([self._core.pushed], np.int64)
        arrays = [words, missing.astype(np.uint8), self._stamps.held, pushed]
        return write(type(self).__name__, self._specification(), arrays)

    @classmethod
    def _made_again(cls, parameters: Mapping[str, Any]) -> Self:
        kind, size = parameters["window"]
        stream = cls.__new__(cls)
        span = Span(kind, size)
        RollingStream.__init__(
            stream,
            span,
            min_periods=parameters["min_periods"],
            dtype=parameters["dtype"],
            parameters=dict(parameters["own"]),
        )
        return stream

    @classmethod
    def _from_snapshot(cls, parameters: Mapping[str, Any], arrays: list[NDArray[Any]]) -> Self:
        stream = cls._made_again(parameters)
        words, missing, stamps, pushed = arrays
        rows = len(words)
        if words.dtype != stream._elements.computing or missing.shape != words.shape or words.ndim != 1:
            raise ValueError("its arrays are of other shapes or dtypes")
        if stream._span.timed and (stamps.shape != words.shape or stamps.dtype != stream._stamps.dtype):
            raise ValueError("its times do not fit its rows")
        if int(pushed[0]) < rows or (stream._span.fixed and rows > stream._span.fixed):
            raise ValueError("it has more rows than its window")
        if stream._span.timed:
            stream._stamps.load(stamps)
        marks = missing.astype(np.bool_)
        if words.dtype.kind == "f":
            marks |= np.isnan(words)
        stream._core.load(words, marks, int(pushed[0]))
        stream._bind()
        return stream

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {len(self)} rows, value {self.value!r}>"


def _bound(kernel: Any, *arguments: Any) -> tuple[Callable[[Any, float], Any], Any]:
    """Return the compiled code of a step with these arguments, to be called with the last one and a float.

    The code is called without a look at the types of its arguments, which takes longer than many a step:
    the arguments are known, and what is no float is a TypeError. The last one is not bound, because a call
    through `partial` takes longer too.
    """
    *leading, last = arguments
    code = bind_step(kernel, *arguments)
    return (partial(code, *leading) if leading else code), last
