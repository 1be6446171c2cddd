"""Windows of an associative operator over a stream.

::

    push    ---> encode the element, find what leaves ---> states of an operator ---> result
    extend  ---> general windows: the combinations of the pushes, block by block
            ---> named windows:   the same, or for long arrays the function over arrays; then the last rows
                                  replace those in the window

Numbers are combined in compiled code, Python objects by calls: see
:mod:`rollstat.streaming.operator_states`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import DTypeLike, NDArray

import rollstat.thresholds as thresholds
from rollstat.compile.bound_calls import Words, words
from rollstat.compile.entries import step_of
from rollstat.kernels import row_times, steps
from rollstat.kernels.aggregate.window import FIRST, LEAST, NEXT, SPAN
from rollstat.options import choice
from rollstat.registry import REGISTRY
from rollstat.statistics.sums.float_range import warn_of_range
from rollstat.streaming.base import State, Window
from rollstat.streaming.operator_adapter import OperatorAdapter, operator_by_name
from rollstat.streaming.operator_states import NEVER, LateWindow, NumberWindow, ObjectWindow, Written
from rollstat.streaming.window_spec import Times, WindowSpec

_ALGORITHMS = ("auto", "two_stacks", "daba")
# Rows of an array that are added together, so that their scratch memory stays in the cache.
_BLOCK = 2**15


class OperatorWindow(Window):
    """A window of an operator.

    Parameters
    ----------
    operator : Operator or callable
        From :mod:`rollstat.operators` or of the same protocol, or a function of two states.
    window : int, float, str, timedelta, Expanding, None or WindowSpec
        The window.
    min_periods : int, optional
        Minimum number of observations for a result.
    dtype : dtype
        Of the elements; object for Python objects.
    algorithm : {"auto", "two_stacks", "daba"}
        ``"daba"`` takes O(1) combinations in every single step and is what ``"auto"`` means for numbers;
        ``"two_stacks"`` takes fewer in total, but a single step can take as many as the window has rows.
    inf : {"value", "missing"}
        What infinite elements are.
    nan_policy : {"omit", "propagate", "raise"}
        What missing elements do.
    check : bool
        Whether to check that the operator is associative. Until then pushes do not run compiled steps.
    """

    def __init__(
        self,
        operator: Any,
        window: Any,
        *,
        min_periods: Any,
        dtype: DTypeLike,
        algorithm: str,
        inf: str = "value",
        nan_policy: str = "omit",
        check: bool = False,
    ) -> None:
        choice("algorithm", algorithm, _ALGORITHMS)
        self.spec = WindowSpec.parse(window)
        self.inf, self.nan_policy = inf, nan_policy
        self.adapter = OperatorAdapter(operator, dtype, inf, self.spec.time_dtype, nan_policy, check)
        self.spec = replace(self.spec, aging=self.adapter.with_time)
        self.columns, self.codec = self.adapter.columns, self.adapter.codec
        if self.adapter.objects and algorithm == "daba":
            raise ValueError(f"algorithm {algorithm!r} supports numbers only; for objects use 'two_stacks'")
        automatic = "two_stacks" if self.adapter.objects else "daba"
        self.algorithm = automatic if algorithm == "auto" else algorithm
        self.given_min_periods = min_periods
        self.min_periods = self.spec.check_min_periods(min_periods)
        self.needs = max(self.min_periods, 1)
        if self.spec.lateness is not None:
            if self.adapter.objects or self.adapter.with_row or algorithm != "auto":
                raise ValueError(
                    "lateness supports operators over numbers without with_row, with algorithm 'auto'; "
                    f"got {type(self.adapter.operator).__name__} of {self.adapter.codec.dtype}, {algorithm!r}"
                )
            self.algorithm = "auto"
        self._renew()

    def _renew(self) -> None:
        # Of the missing rows of a time window; they have no states.
        self.times = Times(np.empty(0, self.spec.time_dtype), self.spec)
        cls: Any = ObjectWindow if self.adapter.objects else NumberWindow
        if self.spec.lateness is not None:
            cls = LateWindow
        self._set_states(cls(self.adapter, self.spec, self.algorithm))

    def _set_states(self, states: Any) -> None:
        self.states = states
        self._bind()

    def _held_by_steps(self) -> tuple[NDArray[Any], ...]:
        plain = self.adapter.is_plain and self.nan_policy == "omit" and self.adapter.checked
        return (*self.states.state, self.times.ring) if plain else ()

    def _make_words(self) -> Words:
        adapter, states, times = self.adapter, self.states, self.times
        times.header[row_times.GROWS] = self.spec.by_width or self.spec.free
        states.header[LEAST] = self.needs
        self._missing = self._missing_result()
        entries = (steps.push_state, steps.pop_states) if self.spec.free else (steps.push_state,)
        given = steps.classes(adapter.codec.finite), id(self._missing), adapter.example, adapter.counts_rows
        queue = states.queue, states.operator
        return words(entries, *given, tuple(states.state), queue, times.header, times.ring)

    def _missing_result(self) -> Any:
        """Return the result of a window with too few observations."""
        return self.adapter.answer(0, self.min_periods, lambda: None)

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._bind()

    @property
    def observations(self) -> int:
        """Observations in the window."""
        return int(self.states.size)

    @property
    def full(self) -> bool:
        """Whether a window of rows has all its rows, or a width begins at the first row or later."""
        if self.spec.by_width:
            return self.times.begun is not None and self.times.begun <= self.spec.limit(self.times.newest)
        return bool(self.spec.fixed) and self.rows == self.spec.fixed

    @property
    def rows(self) -> int:
        """Rows in the window, missing elements included."""
        if self.spec.by_width:
            self._drop_absent()
            return int(self.states.size) + len(self.times)
        rows = int(self.states.header[NEXT] - self.states.header[FIRST])
        return min(rows, self.spec.fixed or rows)

    def _drop_absent(self) -> None:
        """Forget the missing rows that have left the window."""
        if len(self.times):
            self.times.drop(self.times.up_to(self.spec.limit(self.times.newest)))
            self._bind()

    def remove_until(self, limit: Any) -> None:
        """Remove the rows whose times are at most `limit`."""
        self.states.push(limit, 0, self.adapter.example, False, NEVER)
        self.times.drop(self.times.up_to(limit))
        self._bind()

    def push(self, elements: tuple[Any, ...], time: Any) -> Any:
        """Add a row, remove the rows that leave the window, and return the result."""
        if not self.quick[0]:
            return self._changed_result(self._push(elements, time, self.needs))
        numbers = [self.adapter.codec.encode(x)[0] for x in elements]
        return self._push_quickly(numbers, self.spec.time_of_row(time, self.times.newest))

    def _make_room(self) -> None:
        self.states.make_room()
        if self.spec.timed:
            self._drop_absent()
            self.times.make_room()

    def add(self, elements: tuple[Any, ...], time: Any) -> None:
        """Add a row and remove the rows that leave the window, without the result."""
        self._push(elements, time, NEVER)

    def _push(self, elements: tuple[Any, ...], time: Any, needs: int) -> int:
        """Add a row, and return the number of observations; compute the result if there are `needs`."""
        spec, header = self.spec, self.states.header
        row = int(header[NEXT])
        own = spec.time_of_row(time, self.times.newest)
        element, observed = self.adapter.element(elements, row, own)
        if spec.by_width:
            stamp, limit = own, spec.limit(own)
        else:
            stamp, limit = row, int(header[FIRST]) - 1 if spec.free else row - int(header[SPAN])
        self.changed = True
        size: int = self.states.push(limit, stamp, element, observed, needs)
        header[NEXT] = row + 1
        if spec.timed:
            self.times.note(np.array([own], spec.time_dtype))
            if spec.by_width and not observed:
                self._drop_absent()
                self.times.append(stamp)
        self._bind()
        return size

    def insert(self, elements: tuple[Any, ...], time: Any) -> Any:
        """Add a row that may be older than the newest one, and return the result."""
        newest, header = self.times.newest, self.states.header
        stamp = self.spec.late_time(time, newest)
        if newest is None or stamp >= newest:
            return self.push(elements, time)
        element, observed = self.adapter.element(elements, int(header[NEXT]))
        self.changed, within = True, not stamp <= self.spec.limit(newest)
        self.times.note_late(stamp)
        header[NEXT] += 1
        if within and not observed:
            self._drop_absent()
            self.times.insert(stamp)
        observations = self.states.insert(stamp, element, within and observed, self.needs)
        self._bind()
        return self._changed_result(observations)

    @property
    def value(self) -> Any:
        """The result; without observations the identity if `min_periods` is 0, else NaN or None."""
        return self._result(int(self.states.size), self.states.value)

    def drop(self, number: int) -> None:
        """Remove the oldest rows, without the result."""
        self._pop(number, NEVER)

    def pop(self, number: int) -> Any:
        """Remove the oldest rows, and return the result."""
        if self.quick[1]:
            self.changed = True
            return step_of(self.quick, 1)(number)
        return self._changed_result(self._pop(number, self.needs))

    def _pop(self, number: int, needs: int) -> int:
        first = int(self.states.header[FIRST]) + number
        self.changed = True
        size: int = self.states.push(first - 1, 0, self.adapter.example, False, needs)
        self.states.header[FIRST] = first
        self._bind()
        return size

    # Arrays.

    def _check(self, columns: tuple[Any, ...], times: Any) -> tuple[list[Any], NDArray[Any] | None]:
        arrays = self.adapter.arrays(columns)
        return arrays, self.spec.times_of_rows(times, len(arrays[0]), self.times.newest)

    def extend(self, columns: tuple[Any, ...], times: Any) -> list[Any]:
        """Add the rows of arrays, and return the results after each row, an array for each output."""
        arrays, stored = self._check(columns, times)
        if self.adapter.objects:
            results = np.empty(len(arrays[0]), object)
            for i, result in enumerate(self._push_all(tuple(arrays), times)):
                results[i] = result
            return [results]
        warn_of_range(self.adapter.ready, arrays, self.spec.fixed or self.states.size + len(arrays[0]))
        if self.adapter.exact:  # a result may not fit, or the warning that one is rounded be an error
            changed = self.copy()
            finished = changed._finished(changed._add(arrays, stored))
            self.__dict__.update(changed.__dict__)
            return finished
        return self._finished(self._add(arrays, stored))

    def _finished(self, written: Written) -> list[Any]:
        """Return results, filled where there are too few observations, or raise if one does not fit."""
        if written.failed.any():
            raise OverflowError("an exact result does not fit in 64 bits")
        return [self.adapter.fill(out, written.insufficient, self.min_periods) for out in written.arrays]

    def _add(self, arrays: list[Any], times: NDArray[Any] | None) -> Written:
        """Add rows of numbers by blocks; return unfinished results."""
        self.changed, states, layout = True, self.states, self.adapter.layout
        # If the first row has too few observations, integer results are floats from the start.
        incomplete = states.size + 1 < self.min_periods
        dtypes = [self.adapter.result_dtype(output.base, incomplete) for output in layout.outputs]
        rows = len(arrays[0])
        written = Written.of(layout, rows, dtypes)
        scratch = Written.of(layout, min(rows, _BLOCK))
        numbers = int(states.header[NEXT]) + np.arange(min(rows, _BLOCK))
        for first in range(0, rows, _BLOCK):
            block = slice(first, first + _BLOCK)
            own: Any = None if times is None else times[block]
            values, missing = self.adapter.encode_columns(
                [column[block] for column in arrays], int(numbers[0]), own
            )
            stamps = own if self.spec.by_width else numbers[: len(missing)]
            part = written.part(block, scratch)
            states.extend(stamps, values, missing, self.needs, part)
            written.convert(block, part)
            if self.spec.by_width:
                self.times.extend(stamps[missing])
            states.header[NEXT] += len(missing)
            numbers += len(missing)
        if times is not None and rows:
            self.times.note(times)
            self._drop_absent()
        self._bind()
        return written

    def load_tail(self, columns: tuple[Any, ...], times: Any) -> None:
        """Add the rows of arrays to an empty window, without results."""
        if self.adapter.objects:
            self.extend(columns, times)
        else:
            self._add(*self._check(columns, times))

    # Whole windows.

    def load(self, columns: Sequence[Any], times: Any, pushed: int) -> None:
        """Replace the rows of a window without a width; the last is row ``pushed - 1`` of the stream."""
        self._renew()
        self.states.header[[FIRST, NEXT]] = pushed - len(columns[0])
        self.load_tail(tuple(columns), times)

    def likeness(self) -> Any:
        adapter, algorithm, spec = self.adapter, self.algorithm, self.spec
        return (
            type(adapter.ready),
            adapter.ready,
            adapter.codec.dtype,
            self.inf,
            self.nan_policy,
            self.min_periods,
            algorithm,
            spec,
        )

    def join(self, other: Self) -> None:
        """Add the state of another window, as newer rows, by one combination."""
        if self.adapter.with_row and not getattr(self.adapter.operator, "ignores_row", False):
            raise TypeError("merge does not support operators with with_row = True")
        first, newest = other.times.begun, self.times.newest
        if newest is not None and first is not None and first < newest:
            raise ValueError(f"merge needs times that do not decrease; got {first} after {newest}")
        rows = other.states.header[NEXT]
        self.changed = True
        if first is not None:
            self.times.note(np.array([first, other.times.newest], self.spec.time_dtype))
        self.states.join(other.states)
        self._set_states(self.states)
        self.states.header[NEXT] += rows

    def _separate(self) -> None:
        self.times = self.times.copy()
        self._set_states(self.states.copy())

    def state(self) -> State:
        """Return parameters and arrays for a snapshot."""
        own = {
            "operator": self.adapter.specification(),
            "algorithm": self.algorithm,
            "last": self.times.newest,
            "first": self.times.begun,
        }
        self._drop_absent()
        return self._arguments(self.adapter.dtype_name) | own, [*self.states.state, self.times.numbers]

    @classmethod
    def from_state(cls, parameters: Mapping[str, Any], arrays: list[NDArray[Any]], *leading: Any) -> Self:
        """Return the window that a snapshot contains, or raise ValueError.

        The class takes `leading` arguments, the last of which is the operator, by default that of the
        snapshot.
        """
        window = cls._restored(parameters, *(leading or [operator_by_name(*parameters["operator"])]))
        newest, first = (window.spec.restored_time(parameters[name]) for name in ("last", "first"))
        if (newest is None) != (first is None) or (newest is not None and newest < first):
            raise ValueError("its first and its last time do not fit together")
        *states, absent = arrays
        window.states.adopt(states, newest if window.spec.by_width else None)
        absent = window.spec.restored_times(absent, absent.size)
        known = newest is not None
        if len(absent) and not (known and window.spec.limit(newest) < absent[0] <= absent[-1] <= newest):
            raise ValueError("its missing rows do not lie in its window")
        header = window.states.header
        if window.states.size + len(absent) > header[NEXT] - header[FIRST]:
            raise ValueError("it has more rows than have arrived")
        if newest is not None:
            window.times.note(np.array([first, newest], window.spec.time_dtype))
            window.times.extend(absent)
        window._bind()
        return window


class NamedOperatorWindow(OperatorWindow):
    """A window of the operator of a registered statistic.

    Into windows of a fixed number of rows, long arrays go through the function over arrays::

        array             [ first rows | windows within the array ............ | last rows ]
        results             states of the window    the function                 loaded into the window

    Parameters
    ----------
    statistic : str
        The name in the registry.
    operator, window, min_periods, dtype, algorithm
        As in :class:`OperatorWindow`.
    """

    def __init__(self, statistic: str, operator: Any, window: Any, **options: Any) -> None:
        self.statistic = statistic
        names = REGISTRY[statistic].parameters
        self.parameters = {name: getattr(operator, name) for name in names if hasattr(operator, name)}
        if getattr(operator, "with_time", False):  # weights fall with time, so no row has a fixed share
            halflife = np.timedelta64(round(operator.decay), "ns")
            self.parameters |= {"alpha": None, "halflife": halflife}
        # Whether the last result of the operator is the number of observations, because states are rows.
        self._last_is_count = bool(getattr(operator, "last_is_count", False))
        super().__init__(operator, window, **options)

    @property
    def observations(self) -> int:
        """Observations in the window."""
        if self._last_is_count and self.states.size:
            return int(self.states.value()[-1])
        return super().observations

    def _missing_result(self) -> Any:
        missing = super()._missing_result()
        if not self._last_is_count:
            return missing
        return missing[:-1] if len(missing) > 2 else missing[0]

    def _result(self, observations: int, read: Any) -> Any:
        if self.nan_policy == "propagate" and self.observations < self.rows:
            observations = -1  # no result, not even an identity
        result = super()._result(observations, read)
        if not self._last_is_count:
            return result
        enough = result[-1] >= self.needs
        found = tuple(self.adapter.finish(x) if enough else np.nan for x in result[:-1])
        return found if len(found) > 1 else found[0]

    def _propagated(self, answers: list[Any]) -> list[Any]:
        """Return answers as arrays; floats, unless all are integers."""
        columns = zip(*answers) if answers and isinstance(answers[0], tuple) else [answers]
        return [np.array([np.nan if x is None else x for x in column]) for column in columns]

    def _finished(self, written: Written) -> list[Any]:
        if self._last_is_count:
            *results, count = written.arrays
            few = written.insufficient | (count < self.needs)
            written = replace(written, arrays=results, insufficient=few)
        return super()._finished(written)

    def extend(self, columns: tuple[Any, ...], times: Any) -> list[Any]:
        """Add the rows of arrays, and return the results after each row, an array for each output.

        Results equal the results of pushes within the bound of rounding. If the array function computes the
        array and an exact result does not fit, the window is unchanged.
        """
        fixed, kind = self.spec.fixed, self.adapter.codec.kind
        if self.nan_policy == "propagate":
            arrays, _ = self._check(columns, times)
            return self._propagated(self._push_all(tuple(arrays), times))
        if not fixed or times is not None:
            return super().extend(columns, times)
        arrays = self.adapter.arrays(columns)
        if kind == "f":
            arrays = [np.ma.filled(column, np.nan) for column in arrays]
        rows = len(arrays[0])
        one = self.quick[0] and len(arrays) == 1 and type(self._missing) is float
        if one and 0 < rows <= thresholds.STREAM_OPERATOR_STEPS:
            return self._push_floats(arrays[0])
        if rows < thresholds.STREAM_FUNCTION_WINDOWS[kind] * fixed:
            return super().extend(tuple(arrays), None)
        results, end = self._call_function(arrays), int(self.states.header[NEXT]) + rows
        if self.rows:
            # A result of integers may not fit; then this window must be unchanged.
            window = self if kind == "f" else self.copy()
            head = [column[: fixed - 1] for column in arrays]
            if one and fixed <= thresholds.STREAM_OPERATOR_STEPS:
                first = self._push_floats(head[0])
            else:
                warn_of_range(self.adapter.ready, head, fixed)
                first = window._finished(window._add(head, None))
            results = _replace_first(results, first)
        stamps = np.arange(end - fixed, end)
        values, missing = self.adapter.encode_columns([column[-fixed:] for column in arrays], end - fixed)
        self.changed = True
        self.states.clear()
        self.states.extend(stamps, values, missing, NEVER)
        self.states.header[NEXT] = end
        return results

    def _push_floats(self, array: NDArray[Any]) -> list[Any]:
        """Return the results of the compiled step for each float."""
        step, self.changed = step_of(self.quick), True
        return [np.array([step(x) for x in array.tolist()])]

    def state(self) -> State:
        """Return parameters and arrays for a snapshot."""
        specification, arrays = super().state()
        return specification | {"statistic": self.statistic}, arrays


def _replace_first(results: list[Any], first: Sequence[Any]) -> list[Any]:
    """Write `first` over the first rows of results, in a dtype that fits both."""
    joined = [
        result.astype(np.result_type(result, begin), copy=False) for result, begin in zip(results, first)
    ]
    for result, begin in zip(joined, first):
        result[: len(begin)] = begin
    return joined
