r"""The stream class: one window behind push, pop, extend and value, with copies, pickles and snapshots.

::

    push(x, t) ---> the compiled step of the window, if it has one and takes these objects
               \--> window.push: check and encode x, remove old rows, add the row, decode the answer

    stream ---> snapshot() ---> bytes ---> restore ---> an equal stream, in this or another process

Code that uses the window takes it out of the stream and puts it back, unless an error is raised after the
window has begun to change. Meanwhile CLOSED is in its place, so that no other thread uses a window in the
middle of a change, and no call uses one that has been left there. Other threads run, and signals are handled,
only after calls, in loops and at the beginning of functions, so lines without these are executed together.
"""

import inspect
import json
import numbers
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import cache
from itertools import repeat
from operator import attrgetter, is_not
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

import rollstat.streaming
from rollstat.compile import entries
from rollstat.compile.bound_calls import Words, words
from rollstat.explanation import Explanation, Step
from rollstat.kernels import row_times
from rollstat.options import numpy_times, whole_number, zone_of
from rollstat.registry import REGISTRY
from rollstat.results import convert
from rollstat.snapshots import SnapshotError, read, write
from rollstat.streaming.window_spec import WindowSpec, nanoseconds

OPERATOR_COSTS = {
    "daba": "O(1) combinations in every single push",
    "two_stacks": "O(1) combinations amortised",
}
"""What a push costs with each algorithm of windows of operators."""

CLASSES: dict[str, type["Stream"]] = {}
"""Every class of streams that is loaded, by its name."""

State = tuple[dict[str, Any], list[NDArray[Any]]]


def rows_of(columns: Iterable[Any], times: Any) -> Iterator[tuple[tuple[Any, ...], Any]]:
    """Return elements and time of each row of arrays; None for a masked element, and without times."""
    plain = [[None if x is np.ma.masked else x for x in column] for column in columns]
    return zip(zip(*plain), repeat(None) if times is None else np.asarray(times))


class _Quick:
    """An object with a compiled step, in the slot where the methods of streams read it."""

    __slots__ = ("quick",)
    quick: Words


class _Closed(_Quick):
    """In place of a window that is in use, or that an error has left in the middle of a change."""

    def __getattr__(self, name: str, *value: Any) -> Any:
        if name.startswith("__"):  # by which tools find out what an object is
            raise AttributeError(name)
        raise RuntimeError(
            "the stream must not be used: another thread is using it, or an error has interrupted a change; "
            "call reset(), or restore a snapshot"
        )

    __setattr__ = __getattr__


CLOSED: Any = _Closed()  # without a step
NO_STEP = words(())
_read_value = attrgetter("value")


class Window(_Quick):
    """The window of a stream and its statistic.

    All windows also have the methods ``extend(columns, times)``, ``load_tail(columns, times)`` and
    ``state()``. Windows that need them have the methods ``pop(number)`` and ``join(other)``.

    Attributes
    ----------
    spec : WindowSpec
        What limits the window.
    changed : bool
        Whether the present use has begun to change the window.
    given_min_periods, min_periods : int
        Observations that a result needs, as given and for this window.
    inf, nan_policy : str
        How infinite and missing elements are treated.
    columns : int
        How many series the elements come from.
    quick : Words
        The compiled steps, or none. Code that replaces the memory must bind the steps to the new memory.
    times : Times
        Times of the rows that the window needs.
    outside : tuple
        The stored value of a newest row that the window leaves out, None if it is missing; else empty.
    codec
        What encodes elements.
    adapter, states
        The operator of a window that has one, and what the window keeps.
    statistic, parameters
        The registered statistic of the window, if it has one, and its own parameters.
    """

    spec: WindowSpec
    changed = False
    given_min_periods: Any
    min_periods: int
    inf = "value"
    nan_policy = "omit"
    columns = 1
    times: Any
    outside: tuple[Any, ...] = ()
    adapter: Any
    states: Any
    _memory: tuple[NDArray[Any], ...] = ()
    statistic: str
    parameters: dict[str, Any]
    codec: Any

    def __new__(cls, *arguments: Any, **options: Any) -> Self:
        """Return a window without a step."""
        window = super().__new__(cls)
        window.quick = NO_STEP
        return window

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_memory": ()}  # without steps, which are of this process

    def push(self, elements: tuple[Any, ...], time: Any) -> Any:
        """Add a row, remove the rows that leave the window, and return the result."""
        raise NotImplementedError  # every window has its own

    def _held_by_steps(self) -> tuple[NDArray[Any], ...]:
        """Return the arrays that compiled steps work on; none if there are no steps."""
        return ()

    def _make_words(self) -> Words:
        """Return the steps bound to these arrays."""
        return NO_STEP

    def _bind(self) -> None:
        """Bind the compiled steps to the memory of the window, if it has changed."""
        memory = self._held_by_steps()
        if len(memory) != len(self._memory) or any(map(is_not, memory, self._memory)):
            self._memory, self.quick = memory, self._make_words() if memory else NO_STEP

    def _push_quickly(self, numbers: list[float], stored: Any) -> Any:
        """Push floats and a time in stored form by the compiled step, and make room for them before."""
        header = self.times.header
        given: list[Any] = [*numbers, *([] if stored is None else [stored])]
        before, header[row_times.CLASS] = header[row_times.CLASS], id(np.datetime64)
        if stored is not None and self.spec.kind != "number":
            given[-1] = np.datetime64(stored, "ns")
        self.changed = True
        result = entries.step_of(self.quick)(*given)
        if result is NotImplemented:
            self._make_room()
            self._bind()
            result = entries.step_of(self.quick)(*given)
        header[row_times.CLASS] = before
        return result

    def _make_room(self) -> None:
        """Take memory of another size, if the present one does not suit a further row."""
        raise NotImplementedError  # every window with steps has its own

    def _push_all(self, columns: tuple[Any, ...], times: Any) -> list[Any]:
        """Add the rows of arrays one by one, and return the results."""
        return [self.push(elements, time) for elements, time in rows_of(columns, times)]

    def _gathered(self, answers: list[Any], likes: Sequence[Any]) -> list[Any]:
        """Return the results of pushes as arrays like `likes`; of floats where an integer is missing.

        Warn if integers are rounded.
        """
        results = []
        for column, like in zip(
            zip(*answers) if len(likes) > 1 and answers else [answers] * len(likes), likes
        ):
            incomplete = like.dtype.kind in "iub" and None in column
            found = [np.nan if x is None else x for x in column]
            results.append(np.array(found, np.float64 if incomplete else like.dtype))
            whole = [x for x in column if isinstance(x, int)]
            if whole:
                convert(np.array(whole), np.empty(len(whole), results[-1].dtype))
        return results

    def _extend_by_pushes(self, arrays: Sequence[Any], times: Any) -> list[Any]:
        """Add rows by pushes; leave the window as it was if a result overflows or a warning is an error."""
        stored = None if times is None else self.spec.encode_times(times)[:0]
        likes = self._call_function([array[:0] for array in arrays], stored)
        changed = self if self.codec.kind == "f" else self.copy()
        results = self._gathered(changed._push_all(tuple(arrays), times), likes)
        self.__dict__.update(changed.__dict__)
        return results

    def _call_function(
        self, arrays: Iterable[Any], times: NDArray[Any] | None = None, windows: Any = None
    ) -> list[Any]:
        """Return what the function over arrays computes for every row, an array for each output.

        `windows` replace the window of the stream.
        """
        arguments = self.parameters | {"window": self.spec.argument if windows is None else windows}
        if times is not None:
            arguments["times"] = times.view("M8[ns]") if times.dtype == np.int64 else times
        function = REGISTRY[self.statistic].function
        policy = {"nan_policy": self.nan_policy}
        results = function(*arrays, min_periods=self.given_min_periods, **policy, **arguments)
        return list(results) if isinstance(results, tuple) or results.ndim > 1 else [results]

    def _result(self, observations: int, read: Callable[[], Any]) -> Any:
        return self.adapter.answer(observations, self.min_periods, read)

    def _changed_result(self, observations: int) -> Any:
        """Return the result that a change of the states has computed."""
        try:
            return self._result(observations, self.states.result)
        except OverflowError:  # the result alone does not fit
            self.changed = False
            raise

    def copy(self, empty: bool = False) -> Self:
        """Return a window with its own memory: an equal one, or an empty one."""
        other = type(self).__new__(type(self))
        other.__dict__.update(self.__dict__)
        if empty:
            other._renew()
        else:
            other._separate()
        return other

    def clear(self) -> None:
        """Remove all rows, and count rows from zero."""
        self.changed = True
        self._renew()

    def _renew(self) -> None:
        """Take new memory without rows."""
        raise NotImplementedError  # every window has its own

    def _separate(self) -> None:
        """Copy the memory that a copy of this window must not share."""
        raise NotImplementedError  # every window has its own

    def likeness(self) -> Any:
        """Return what is equal for windows of the same statistic or operator and parameters."""
        raise NotImplementedError  # every window that can be joined has its own

    @classmethod
    def _restored(cls, given: Mapping[str, Any], /, *leading: Any, **own: Any) -> Self:
        """Return an empty window that is made with the parameters of a snapshot, or raise ValueError."""
        names = ("min_periods", "dtype", "algorithm", "inf", "nan_policy")
        make: Any = cls
        window: Self = make(
            *leading,
            WindowSpec.restored(*given["window"]),
            **{name: given[name] for name in names},
            **own,
        )
        return window

    def _arguments(self, dtype: Any) -> dict[str, Any]:
        """Return what windows are made with, as JSON values."""
        given = self.given_min_periods
        late = [] if self.spec.lateness is None else [self.spec.lateness]
        return {
            "window": [self.spec.kind, self.spec.size, *late],
            "min_periods": None if given is None else int(given),
            "dtype": dtype,
            "inf": self.inf,
            "nan_policy": self.nan_policy,
        }


class Stream:
    """A statistic of a stream, computed element by element."""

    __slots__ = ("__dict__", "__weakref__", "_window")
    _window: Any  # or CLOSED
    _own_window: Any
    _window_class: ClassVar[Any]
    _kind_of_times = ""  # as numpy_times returns it; empty before the first datetime or timedelta

    def __init_subclass__(cls, abstract: bool = False) -> None:
        super().__init_subclass__()
        if not (abstract or cls.__name__.startswith("_")):
            CLASSES[cls.__name__] = cls

    def _set_window(self, window: Any) -> None:
        self._own_window = self._window = window

    def _close(self) -> None:
        """Reject all calls but `reset`: a compiled step has raised."""
        self._window = CLOSED

    def _use(self, use: Callable[[Any], Any], kind_of_times: str = "") -> Any:
        """Return what a function of the window returns; no other call uses the window meanwhile.

        The stream stays closed if the function raises after the window has begun to change.
        """
        window = self._window
        window.changed = False  # raises if the stream is closed
        self._window = CLOSED
        try:
            result = use(window)
        except BaseException:
            if self._own_window is window and not window.changed:
                self._window = window
            raise
        if self._own_window is window:  # not reset meanwhile
            self._window, self._kind_of_times = window, kind_of_times or self._kind_of_times
        return result

    @property
    def value(self) -> Any:
        """The current result; NaN, NaT, None or -1 if it is missing."""
        return self._use(_read_value)

    def _numpy_times(self, name: str, times: Any) -> tuple[Any, str]:
        """Return times as NumPy times and their kind; raise if earlier rows have another kind."""
        duration: Any = np.timedelta64  # NumPy counts it among the integers
        if self._window.spec.by_calendar:
            self._window.zone = zone_of(times)
        if times is None or (isinstance(times, numbers.Real) and not isinstance(times, duration)):
            return times, ""
        single = nanoseconds(times) if isinstance(times, datetime) else None
        found: Any
        if single is not None:
            found, kind = np.datetime64(single[0], "ns"), single[1]
        else:
            found, kind = numpy_times(name, times)
        if kind and self._kind_of_times not in ("", kind):
            raise TypeError(f"{name} must be {self._kind_of_times}, like the times before; got {kind}")
        return found[()], kind  # a scalar, if it is one

    def _add_row(self, name: str, elements: tuple[Any, ...]) -> Any:
        """Call a method of the window with an element, one number for each column, and its time or None."""
        columns, timed = self._window.columns, self._window.spec.timed
        if len(elements) != columns + timed:
            raise TypeError(f"{name} takes {columns + timed} arguments here; got {len(elements)}")
        return self._call(name, elements[:columns], elements[-1] if timed else None)

    def _call(self, name: str, elements: tuple[Any, ...], t: Any) -> Any:
        time, kind = self._numpy_times("t", t)
        naive = isinstance(t, datetime) and kind == self._kind_of_times == "naive datetimes"
        if naive and name == "push" and self._window.quick[0]:  # then the method is a compiled one
            push: Any = RollingStream.push
            return push(self, *elements, time)
        result = self._use(lambda window: getattr(window, name)(elements, time), kind)
        if self._own_window.quick[0]:
            _compile_methods(type(self))  # type: ignore[arg-type]  # mypy compares its objects, not the class
        if kind:
            # Steps read only objects that are certain to be of the kind of the times before.
            found = {"naive datetimes": id(np.datetime64), "timedeltas": id(np.timedelta64)}.get(kind, 0)
            self._own_window.times.header[row_times.CLASS] = found
        return result

    def reset(self) -> None:
        """Remove all rows."""
        if self._window is CLOSED:
            self._set_window(self._own_window.copy(empty=True))
        else:
            self._use(lambda window: window.clear())
        self._kind_of_times = ""

    def copy(self) -> Self:
        """Return an equal and independent stream."""
        other = type(self).__new__(type(self))
        other._set_window(self._use(Window.copy))
        other._kind_of_times = self._kind_of_times
        return other

    def __copy__(self) -> Self:
        return self.copy()

    def __deepcopy__(self, memo: Any) -> Self:
        return self.copy()

    def __reduce__(self) -> Any:
        return restore, (self.snapshot(),)

    def snapshot(self) -> bytes:
        """Return the state as bytes for :func:`rollstat.restore`."""
        return bytes(self._use(lambda window: write(type(self).__name__, *window.state())))

    @classmethod
    def _window_from_state(cls, parameters: Mapping[str, Any], arrays: list[NDArray[Any]]) -> Any:
        return cls._window_class.from_state(parameters, arrays)

    @classmethod
    def restore(cls, data: bytes) -> Self:
        """Return the stream that a snapshot of this class contains.

        Raises
        ------
        SnapshotError
            As in :func:`rollstat.restore`, or if the snapshot is of another class.
        """
        stream = restore(data)
        if type(stream) is not cls:
            raise SnapshotError(f"the snapshot is of a {type(stream).__name__}, not of a {cls.__name__}")
        return stream


class RollingStream(Stream, abstract=True):
    """A statistic of a rolling window over a stream."""

    statistic: ClassVar[str]
    _costs: ClassVar[Mapping[str, str]] = OPERATOR_COSTS

    def _explanation(self) -> Explanation:
        """Return what :func:`rollstat.explain` shows: the window, the algorithm, and the cost of a push."""
        window, spec = self._window, self._window.spec
        name = window.algorithm if window.algorithm in self._costs else next(iter(self._costs))
        cost = self._costs[name].replace("\n", " ")
        if len(getattr(window, "outputs", ())) > 1 and name == "two_heaps":
            name, cost = "sorted_window", "O(log m) comparisons and O(m) moves of adjacent numbers"
        step = Step(name, "all", f"a push takes {cost}")
        dtype = np.dtype(window.codec.dtype)
        size = spec.argument if spec.timed or spec.fixed else None
        whole = type(self).__name__, spec.kind, size, window.min_periods, len(self), 1, (step,), 1
        return Explanation(*whole, dtype, (), ())

    def push(self, x: Any, t: Any = None) -> Any:
        """Add an element, remove what leaves the window, and return the result.

        Parameters
        ----------
        x : number, datetime64, timedelta64 or None
            The element. None, NaN and NaT are missing: they take a row but are not observations.
        t : number, datetime or timedelta, optional
            The time of the element if the window is a duration; times must not decrease. NumPy times are the
            fastest.

        Returns
        -------
        value
            The result, as in :attr:`value`.

        Raises
        ------
        TypeError, ValueError
            For an element that does not fit the dtype, or a time that is missing or earlier than the last.
            The stream does not change.
        OverflowError
            If an exact result does not fit in 64 bits. Sums and products keep the element nevertheless;
            other streams do not change.
        """
        return self._call("push", (x,), t)

    _push = push  # which remains where the method is a compiled one

    def insert(self, *elements: Any) -> Any:
        """Add an element, possibly older than the newest one, and return the result at the newest time.

        Parameters
        ----------
        *elements
            As in :meth:`push`, followed by the time. Elements with equal times keep the order of arrival.

        Raises
        ------
        TypeError, ValueError
            As in :meth:`push`; also for a time more than `lateness` before the newest one, or a stream made
            without `lateness`. The stream does not change.
        OverflowError
            As in :meth:`push`.
        """
        if self._window.spec.lateness is None:
            raise TypeError("insert needs a stream made with lateness=")
        return self._add_row("insert", elements)

    @property
    def full(self) -> bool:
        """Whether a window of a fixed number of rows has that many rows; other windows are never full."""
        fixed = self._window.spec.fixed
        return bool(fixed) and len(self) == fixed

    def __len__(self) -> int:
        """Number of rows in the window, missing elements included."""
        return int(self._use(attrgetter("rows")))

    def pop(self, n: int = 1) -> Any:
        """Remove the `n` oldest rows of a stream with ``window=None``, and return the result.

        Raises
        ------
        ValueError, TypeError
            If there are fewer rows, or the stream was made with another window. The stream does not change.
        """
        return self._remove("pop", n)

    _pop = pop

    def _remove(self, name: str, n: int) -> Any:
        """Call a method of the window with a number of rows."""
        if not self._window.spec.free:
            raise TypeError("pop needs a stream made with window=None")
        number = whole_number("n", n, 0)

        def remove(window: Any) -> Any:
            if number > window.rows:
                raise ValueError(f"n must be at most the rows in the window, {window.rows}; got {n}")
            return getattr(window, name)(number)

        return self._use(remove)

    def extend(self, array: ArrayLike, times: ArrayLike | None = None) -> Any:
        """Add all elements of an array, and return the result after each.

        Parameters
        ----------
        array : array_like, 1-d
            The elements; masked ones are missing.
        times : array_like, 1-d, optional
            Their times if the window is a duration.

        Returns
        -------
        ndarray or tuple of ndarray
            The array function's results for these rows. They equal the results of single pushes; sums and
            moments of floats agree within their error bounds.
        """
        return self._extend((array,), times)

    def _extend(self, columns: tuple[Any, ...], times: Any) -> Any:
        found, kind = self._numpy_times("times", times)

        def extend(window: Any) -> Any:
            results = window.extend(columns, found)
            return tuple(results) if len(results) > 1 else results[0]

        return self._use(extend, kind)

    @classmethod
    def from_tail(
        cls,
        array: ArrayLike | tuple[ArrayLike, ...],
        *arguments: Any,
        times: ArrayLike | None = None,
        **options: Any,
    ) -> Self:
        """Return a stream that continues an array.

        Parameters
        ----------
        array : array_like, 1-d, or tuple of them
            A series, or its last rows, at least as many as the window has; for a statistic of several
            series a tuple of arrays.
        *arguments, **options
            The arguments of the class.
        times : array_like, 1-d, optional
            Times of the rows if the window is a duration.

        Returns
        -------
        stream
            The stream that pushing every element would have produced.
        """
        stream = cls(*arguments, **options)
        several = isinstance(array, tuple) and stream._window.columns > 1
        found, kind = stream._numpy_times("times", times)
        stream._use(lambda window: window.load_tail(array if several else (array,), found), kind)
        return stream

    def merge(self, other: Self) -> None:
        """Add all elements of `other`, as if they had been pushed here; both windows must be expanding.

        Raises
        ------
        TypeError, ValueError
            If `other` has another class, window or parameters, or if the operator uses the numbers of rows.
            The stream does not change.

        Notes
        -----
        Sums and moments take one combination, however many rows the two streams have seen.
        """
        if type(other) is not type(self) or self._window.spec.kind != "expanding":
            raise TypeError(f"merge needs two {type(self).__name__} with the window Expanding()")
        if self._window.likeness() != other._window.likeness():
            raise ValueError("merge needs streams made with the same parameters")
        newer = other.copy() if other is self else other
        newer._use(lambda theirs: self._use(lambda window: window.join(theirs)))

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {len(self)} rows, value {self.value!r}>"


@cache
def _compile_methods(cls: type[Stream]) -> None:
    """Replace the methods `push` and `pop` of a class with methods that try compiled steps first."""
    for base in cls.__mro__:
        for name in ("push", "pop"):
            function = vars(base).get(name)
            if function is not None and function is vars(base).get(f"_{name}"):
                parameters = inspect.signature(getattr(base, name)).parameters.values()
                plain = [parameter.replace(annotation=inspect.Parameter.empty) for parameter in parameters]
                text = str(inspect.Signature(plain)).replace("(self", "($self", 1)
                setattr(base, name, entries.method(base, getattr(entries, name), text, function.__doc__))


def unpickle(cls: type[Stream], window: Any) -> Any:
    """Return a stream of a class with a window from a pickle."""
    stream = cls.__new__(cls)
    stream._set_window(window)
    return stream


def restore(data: bytes) -> Any:
    """Return the stream that a snapshot contains.

    Parameters
    ----------
    data : bytes
        Bytes from the method ``snapshot`` of a stream, written by the same release.

    Returns
    -------
    stream
        A stream of the same class that continues exactly as the original would have.

    Raises
    ------
    SnapshotError
        If the bytes are not a snapshot, are truncated or damaged, have another format, or hold no valid
        state.

    Examples
    --------
    >>> import rollstat
    >>> stream = rollstat.RollingMedian(3, min_periods=1)
    >>> stream.push(4.0)
    4.0
    >>> rollstat.restore(stream.snapshot()).push(2.0)
    3.0
    """
    name, parameters, arrays = read(data)
    if name not in CLASSES and name in dir(rollstat.streaming):
        getattr(rollstat.streaming, name)  # adds the class to CLASSES
    if name not in CLASSES:
        raise SnapshotError(f"the snapshot is of a {name}, which this release does not know")
    cls = CLASSES[name]
    try:
        window = cls._window_from_state(parameters, arrays)
        # The class must read every parameter, and read each as it was written.
        if json.dumps(window.state()[0]) != json.dumps(parameters):
            raise ValueError("its parameters are not those that the class writes")
        return unpickle(cls, window)
    except (ArithmeticError, AttributeError, LookupError, MemoryError, TypeError, ValueError) as error:
        raise SnapshotError(f"the snapshot does not contain the state of a {name}: {error}") from error
