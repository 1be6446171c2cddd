r"""The window of a statistic that is computed from the rows themselves; a representation keeps the rows.

::

    push    ---> encode, remove old rows, add the row ---> representation ---> answer ---> decode
    extend  ---> few floats:     compiled steps, all in one call
            \--> few others:     pushes
             \-> many elements:  the function over arrays, for the rows in the window and the new ones;
                                 then the last rows replace those in the window

What depends on the statistic is in its row of :mod:`rollstat.streaming.table`.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import DTypeLike, NDArray

import rollstat.thresholds as thresholds
from rollstat.compile.bound_calls import Words, bind, words
from rollstat.compile.entries import step_of
from rollstat.dtypes import warn_of_rounded
from rollstat.kernels import row_times, steps
from rollstat.kernels.extrema.any_windows import move_origin
from rollstat.options import choice
from rollstat.plan import Computation
from rollstat.registry import REGISTRY
from rollstat.streaming.base import State, Window
from rollstat.streaming.codec import Codec
from rollstat.streaming.window_spec import Times, WindowSpec
from rollstat.windows import Expanding


class StatisticWindow(Window):
    """A window of a registered statistic over its rows.

    Parameters
    ----------
    row : StatisticRow
        The row of the table.
    window : int, float, str, timedelta, Expanding, None or WindowSpec
        The window.
    min_periods : int, optional
        Minimum number of observations for a result. Default: the window size for row windows, otherwise 1.
    dtype : dtype
        Of the elements.
    parameters : dict
        The statistic's own parameters, checked.
    algorithm : str
        ``"auto"`` or a key of `algorithms` of the row.
    inf : {"value", "missing"}
        What infinite elements are.
    nan_policy : {"omit", "propagate", "raise"}
        What missing elements do.
    """

    _step: tuple[Any, tuple[Any, ...]] | None = None

    def __init__(
        self,
        row: Any,
        window: Any,
        *,
        min_periods: Any,
        dtype: DTypeLike,
        parameters: dict[str, Any],
        algorithm: str,
        inf: str = "value",
        nan_policy: str = "omit",
    ) -> None:
        self.algorithm = choice("algorithm", algorithm, ("auto", *row.algorithms))
        self.row, self.statistic = row, row.statistic
        self.spec = WindowSpec.parse(window)
        self.inf, self.nan_policy = inf, nan_policy
        self.codec = Codec(dtype, row.kinds, inf, nan_policy)
        self.given_min_periods = min_periods
        self.min_periods = self.spec.check_min_periods(min_periods)
        self.parameters = parameters
        self.computation = self._make_computation()
        self.needs = max(self.min_periods, min(output.required for output in self.computation.outputs))
        self.outputs = [output.kind for output in self.computation.outputs]
        self._decoders = [self.codec.decoder(kind) for kind in self.outputs]
        self._renew()

    def _make_computation(self) -> Computation:
        """Return the computation of the function over arrays; windows without a fixed length are all rows."""
        window: Any = self.spec.fixed or Expanding()
        resolve = REGISTRY[self.statistic].resolve
        call = resolve(np.empty(0, self.codec.dtype), **self.parameters, window=window)
        made: Computation = call.make(self.codec.dtype, call.options.windows(window, np.zeros(2, np.int64)))
        return made

    def _held_by_steps(self) -> tuple[NDArray[Any], ...]:
        if self.row.step is None or self.codec.dtype != np.float64 or self.nan_policy != "omit":
            return ()
        self._step = self.row.step(self)
        return () if self._step is None else (*self.representation.memory, self.times.ring)

    def _make_words(self) -> Words:
        assert self._step is not None
        (step, parameters), held, times = self._step, self.representation, self.times
        given = step, steps.classes(self.codec.finite), held.state, parameters
        if self.spec.fixed:
            return words((steps.push_row,), *given)
        capacity = held.capacity
        if self.spec.timed:
            capacity = min(capacity, len(times.ring))
        else:
            times.header[row_times.END] = times.header[row_times.FIRST] + self.rows
        entries = (steps.push_growing, steps.pop_rows) if self.spec.free else (steps.push_growing,)
        return words(entries, *given, times.header, times.ring, capacity)

    @property
    def rows(self) -> int:
        """Rows in the window, missing elements included."""
        return int(self.representation.rows)

    @property
    def observations(self) -> int:
        """Observations in the window."""
        return int(self.representation.count)

    @property
    def newest(self) -> Any:
        """The stored value of the newest row of the stream, None if it is missing."""
        return self.outside[0] if self.outside else self.representation.newest

    def push(self, elements: tuple[Any, ...], time: Any) -> Any:
        """Add a row, remove the rows that leave the window, and return the result."""
        row = self.codec.encode(elements[0])
        stored = self.spec.time_of_row(time, self.times.newest)
        if self.quick[0]:
            return self._push_quickly([row[0]], stored)
        if stored is None:
            return self._change(0, row)
        number = self.times.up_to(self.spec.limit(stored))
        result = self._change(number, row)
        self.times.drop(number)
        self.times.note(np.array([stored], self.spec.time_dtype))
        self.times.append(stored)
        return result

    def add(self, elements: tuple[Any, ...], time: Any) -> None:
        """Add a row and remove the rows that leave the window, without the result."""
        row = self.codec.encode(elements[0])
        stored = self.spec.time_of_row(time, self.times.newest)
        if stored is not None:
            self.remove_until(self.spec.limit(stored))
            self.times.note(np.array([stored], self.spec.time_dtype))
            self.times.append(stored)
        elif self.spec.free:
            self.times.header[row_times.END] += 1
        self.representation.push(*row)
        self._bind()

    def drop(self, number: int) -> None:
        """Remove the oldest rows, without the result."""
        self.representation.pop(number)
        self.times.drop(number)
        self._bind()

    def remove_until(self, limit: Any) -> None:
        """Remove the rows whose times are at most `limit`."""
        self.drop(self.times.up_to(limit))

    def _make_room(self) -> None:
        self.representation.make_room()
        if self.spec.timed and len(self.times.ring) != self.representation.capacity:
            self.times.resize(self.representation.capacity)

    def insert(self, elements: tuple[Any, ...], time: Any) -> Any:
        """Add a row that may be older than the newest one, and return the result."""
        stored, newest = self.spec.late_time(time, self.times.newest), self.times.newest
        if newest is None or stored >= newest:
            return self.push(elements, time)
        row, held = self.codec.encode(elements[0]), self.representation
        before = None if self.codec.kind == "f" else (*held.contents(), held.pushed)
        self.changed, within = True, not stored <= self.spec.limit(newest)
        if within:
            held.insert(len(self.times) - self.times.up_to(stored), *row)
        else:
            held.load(*held.contents(), held.pushed + 1)
        try:
            result = self.value
        except BaseException:  # see `_change`
            if before is not None:
                held.load(*before)
                self.changed = False
            raise
        if within:
            self.times.insert(stored)
        self._bind()
        return result

    def pop(self, number: int) -> Any:
        """Remove the oldest rows, and return the result."""
        if self.quick[1]:
            self.changed = True
            return step_of(self.quick, 1)(number)
        return self._change(number)

    def _change(self, number: int, row: tuple[Any, bool] | None = None) -> Any:
        """Remove the `number` oldest rows, add a row if one is given, and return the result.

        The result of elements that are not floats may not fit, or a warning that it is rounded may be an
        error. Then the rows are as before.
        """
        held = self.representation
        leaving = number + (row is not None and 0 < held.rows == self.spec.fixed)
        before = None if self.codec.kind == "f" else (*held.part(leaving), held.pushed)
        self.changed = True
        if number:
            held.pop(number)
        if row is not None:
            held.push(*row)
        try:
            return self.value
        except BaseException:
            if before is not None:
                values, missing, pushed = before
                rest = held.part(held.rows - (row is not None))
                held.load(np.append(values, rest[0]), np.append(missing, rest[1]), pushed)
                self.changed = False
            raise

    @property
    def value(self) -> Any:
        """The answer, a tuple if there are several outputs."""
        answers: tuple[Any, ...] = (None,) * len(self.outputs)
        least = max(self.needs, self.rows) if self.nan_policy == "propagate" else self.needs
        if self.observations >= least:
            answer = self.row.answer(self)
            answers = answer if isinstance(answer, tuple) else (answer,)
            # The filtered value of a missing element is missing.
            if self.codec.kind in "iu" and self.outputs[0] == "interpolated" and answers[0] is not None:
                warn_of_rounded(answers[0])
        decoded = tuple(
            missing if answer is None else decode(answer)
            for answer, (decode, missing) in zip(answers, self._decoders)
        )
        return decoded if len(decoded) > 1 else decoded[0]

    # Arrays.

    def _check(self, columns: tuple[Any, ...], times: Any) -> tuple[Any, NDArray[Any] | None]:
        array = self.codec.array(columns[0])
        return array, self.spec.times_of_rows(times, len(array), self.times.newest)

    def extend(self, columns: tuple[Any, ...], times: Any) -> list[Any]:
        """Add the rows of an array, and return the answers after each row, an array for each output."""
        array, stored = self._check(columns, times)
        rows = len(array)
        if rows and not isinstance(array, np.ma.MaskedArray):
            few = thresholds.STREAM_STEPS + self.rows * thresholds.STREAM_STEP_WINDOWS
            if self._step is not None and self.spec.fixed and rows <= few:
                return self._extend_by_steps(*self._step, array)
            pushes = thresholds.STREAM_PUSHES + self.rows // thresholds.STREAM_ROWS_PER_PUSH
            if rows * thresholds.STREAM_PUSHED_SHARE < self.rows and rows < pushes:
                return self._extend_by_pushes((array,), times)
        return self._extend_by_function(array, stored)

    def _extend_by_steps(self, step: Any, parameters: tuple[Any, ...], array: Any) -> list[Any]:
        values = np.require(array, np.float64, ["C", "A", "W", "E"])
        out = np.empty(len(values), np.int64 if self.outputs[0] == "position" else np.float64)
        given = step, self.representation.state, parameters, values, out
        code = bind(steps.run, *given)
        self.changed = True
        code(*given)
        return [out]

    def _extend_by_function(self, array: Any, times: NDArray[Any] | None) -> list[Any]:
        pushed = self.representation.pushed
        if times is not None:
            times = np.concatenate([self.times.numbers, times])
        if self._is_separable(array):
            # The array is not copied behind the rows of the window. The windows of its first rows reach into
            # those, so these results are computed again.
            joined, results = array, self._call_function([array])
            self._shift_positions(results, pushed)
            _, first = self._results_after_rows(array[: self.spec.fixed - 1], None)
            for result, part in zip(results, first):
                result[: len(part)] = part
        else:
            joined, results = self._results_after_rows(array, times)
        self._load(joined, times, pushed + len(array))
        return results

    def _is_separable(self, array: Any) -> bool:
        """Whether most windows of the new rows lie within the array."""
        if not (self.spec.fixed and self.rows):
            return False
        windows = thresholds.STREAM_SEPARATE_WINDOWS * self.spec.fixed
        if len(array) < max(windows, thresholds.STREAM_SEPARATE_ROWS):
            return False
        # The dtype of results of integers depends on whether any result is missing.
        missing = isinstance(array, np.ma.MaskedArray) or self.observations < self.rows
        return self.codec.kind not in "iub" or not missing

    def _results_after_rows(self, array: Any, times: NDArray[Any] | None) -> tuple[Any, list[Any]]:
        """Return the rows of the window followed by `array`, and the results of the function for `array`."""
        rows = self.rows
        joined = self._with_rows(array) if rows else array
        results = [result[rows:] for result in self._call_function([joined], times)]
        self._shift_positions(results, self.representation.pushed - rows)
        return joined, results

    def _with_rows(self, array: Any) -> Any:
        """Return the rows of the window followed by the rows of `array`."""
        rows = self.codec.decode_array(*self.representation.contents())
        if isinstance(rows, np.ma.MaskedArray) or isinstance(array, np.ma.MaskedArray):
            return np.ma.concatenate([rows, array])
        return np.concatenate([rows, array])

    def _shift_positions(self, results: list[Any], row: int) -> None:
        """Count the positions in an array whose first row is `row` from the first row pushed."""
        for i, kind in enumerate(self.outputs):
            if kind == "position":
                results[i] = np.ma.getdata(results[i])
                if row:
                    move_origin(results[i], row)

    def _load(self, array: Any, times: NDArray[Any] | None, pushed: int) -> None:
        """Replace the rows by the last rows of `array`, as many as the window has."""
        self.changed = True
        first = 0
        if self.spec.fixed:
            first = max(0, len(array) - self.spec.fixed)
        elif times is not None and len(array):
            self.times = Times(times, self.spec)
            first = self.times.up_to(self.spec.limit(times[-1].item()))
            self.times.drop(first)
        self.representation.load(*self.codec.encode_array(array[first:]), pushed)
        self._bind()

    # Whole windows.

    def load(self, columns: Sequence[Any], times: None, pushed: int) -> None:
        """Replace the rows of a window without times; the last is row ``pushed - 1`` of the stream."""
        self._load(self.codec.array(columns[0]), times, pushed)

    def load_tail(self, columns: tuple[Any, ...], times: Any) -> None:
        """Add the rows of an array to an empty window, without answers."""
        array, stored = self._check(columns, times)
        self._load(array, stored, len(array))

    def _renew(self) -> None:
        self.times = Times(np.empty(0, self.spec.time_dtype), self.spec)
        self.representation = self.row.represent(self)
        self._bind()

    def join(self, other: Self) -> None:
        """Add all rows of another window, as newer rows."""
        newer = other.codec.decode_array(*other.representation.contents())
        pushed = self.representation.pushed + other.representation.pushed
        self._load(self._with_rows(newer), None, pushed)

    def _separate(self) -> None:
        self.times, self.representation = self.times.copy(), self.representation.copy()
        self._bind()

    def likeness(self) -> dict[str, Any]:
        """Return what the window is made with, as JSON values."""
        own = {"statistic": self.statistic, "own": self.parameters, "algorithm": self.algorithm}
        return self._arguments(self.codec.dtype.str) | own

    def state(self) -> State:
        """Return parameters and arrays for a snapshot."""
        values, missing = self.representation.contents()
        pushed = np.array([self.representation.pushed], np.int64)
        return self.likeness(), [values, missing.astype(np.uint8), self.times.numbers, pushed]

    @classmethod
    def from_state(cls, row: Any, parameters: Mapping[str, Any], arrays: list[NDArray[Any]]) -> Self:
        """Return the window that a snapshot contains, or raise ValueError."""
        window = cls._restored(parameters, row, parameters=row.check(**parameters["own"]))
        values, missing, times, pushed = arrays
        rows = len(values)
        shapes = [(window.codec.stored, (rows,)), (np.uint8, (rows,)), (np.int64, (1,))]
        if [(array.dtype, array.shape) for array in (values, missing, pushed)] != shapes:
            raise ValueError("its arrays have other shapes or dtypes")
        most = min(int(pushed[0]), window.spec.fixed or 2**62 - 1)
        if rows > most or pushed[0] >= 2**62:
            raise ValueError("it has more rows than its window")
        # A window of a number of rows, or of all, has all rows that fit.
        if rows < most and (window.spec.fixed or window.spec.kind == "expanding"):
            raise ValueError("it has fewer rows than its window")
        window.times = Times(window.spec.restored_times(times, rows), window.spec)
        marks = missing.astype(np.bool_)
        window.codec.check_stored(values, marks)
        if values.dtype.kind == "f":
            marks |= np.isnan(values)
        window.representation.load(values, marks, int(pushed[0]))
        window._bind()
        return window
