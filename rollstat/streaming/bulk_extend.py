r"""Arrays through a stream: by its steps, by pushes, or by the function over arrays.

::

    extend(array) ---> few floats:  compiled steps, all in one call
                  \--> few others:  pushes
                   \-> many:        the function over the rows held and the array; then the last rows are held
"""

from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rollstat.algorithms.bound_calls import bind
from rollstat.dtypes import convert
from rollstat.kernels.extrema.positions import move_origin
from rollstat.kernels.stream.runs import run
from rollstat.registry import REGISTRY
from rollstat.streaming.base import Stream
from rollstat.streaming.codec import Elements
from rollstat.streaming.window_spec import Span, Stamps

__all__ = ["APART", "Extending", "Quick"]

# A step of :mod:`rollstat.kernels.stream.runs`, and what it takes before a float.
Quick = tuple[Any, tuple[Any, ...]]

# An array goes through the window step by step where a step is one compiled call: one of so many elements,
# which take less than a call of the function over arrays, and of as many more as the step says.
_STEPS = 1_000
# Otherwise it is pushed one by one if it is less than such a part, and takes less than a call of a function:
# that takes as long as so many pushes, and as one more for so many rows held.
_PUSHES_SHARE = 8
_PUSHES, _ROWS_OF_A_PUSH = 20, 256
# An array of so many windows is no longer copied behind the rows that are held.
APART = 2


class Extending(Stream, abstract=True):
    """A window of a registered statistic, that takes in arrays."""

    statistic: ClassVar[str] = ""
    answer_kinds: ClassVar[tuple[str, ...]] = ("value",)

    _span: Span
    _elements: Elements
    _stamps: Stamps
    _min_periods: Any
    _parameters: dict[str, Any]
    _core: Any
    _quick: Quick | None

    # What a statistic provides.

    def _answer(self) -> tuple[Any, ...]:
        """Words of the answer, MISSING where there is none."""
        raise NotImplementedError  # every class that is not abstract has its own

    def _batch_arguments(self) -> dict[str, Any]:
        """Parameters of the function over arrays."""
        return {key: value for key, value in self._parameters.items() if key != "algorithm"}

    # The rest.

    def __len__(self) -> int:
        """Rows in the window, missing elements included."""
        return int(self._core.rows)

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
            if self._quick is not None and rows <= _STEPS + held * self._quick[0].windows:
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
        if not self._span.fixed or not len(self) or len(series) < APART * self._span.fixed:
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

    def _extend_by_steps(self, quick: Quick, series: Any) -> Any:
        values = np.require(series, np.float64, ["C", "A", "W", "E"])
        rows, kinds = getattr(quick[0], "rows", 1), self.answer_kinds
        shape = (rows, len(values)) if rows > 1 else len(values)
        answers = np.empty(shape, np.int64 if kinds[0] == "position" else np.float64)
        given = *quick, values, answers
        bind(run, *given)(*given)
        if rows == 1:
            return answers
        return tuple(answers) if len(kinds) == rows else answers[0].copy()

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
