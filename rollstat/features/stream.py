"""Features of a stream: the rows that windows may still need, in order for each key, and results at any time.

::

    push(row)          --> each set of keys --> rows of the key, in order of time    [ rows held | room ]
    query(keys, time)  --> one call of a kernel for the usual statistics of numbers  --> results
                       `-> bounds of all windows --> one call for all windows of another feature

All features of a set of keys share the rows. One kernel, :mod:`rollstat.kernels.at_once`, computes the usual
statistics of all series and windows. The functions over arrays compute the others: their plans are kept, and
serve later rows with other windows.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from numbers import Real
from typing import Any, Self

import numpy as np
from numpy.typing import DTypeLike, NDArray

from rollstat.calendar_units import earlier, is_calendar
from rollstat.compile.bound_calls import BoundKernel
from rollstat.dtypes import EXACT, flattened, without_infinities
from rollstat.engine import Call, execute
from rollstat.features import frames
from rollstat.features.computation import Order
from rollstat.features.definition import Feature, FeatureColumn, Features, by_width, naming, sizes, widened
from rollstat.kernels import at_once
from rollstat.kernels.rings import SMALLEST, ring_size
from rollstat.kernels.selection.quantiles import INTERPOLATIONS, MIDPOINT
from rollstat.options import Options, choice, numpy_times, width_text, zone_of
from rollstat.pandas.calls import POSITIONS
from rollstat.plan import Plan
from rollstat.registry import REGISTRY
from rollstat.snapshots import SnapshotError, read, write
from rollstat.streaming.codec import Codec
from rollstat.streaming.window_spec import WindowSpec, nanoseconds, shown
from rollstat.windows import Forward, Interval, ReachesAt, Rows, Windows, WindowsAt

_OBJECT = np.dtype(object)
_VALUES = ("value", "finite")  # what columns of features are, with infinite values or without
_ALL_ROWS = 2**62
_NO_ROWS = np.zeros(2, np.int64)


# The statistic of `at_once`, the observations that it needs in any case, and its parameters.
_Task = tuple[int, int, tuple[Any, ...]]


def _quantiles(q: Any, interpolation: str) -> list[_Task]:
    """Return the tasks of quantiles."""
    several = q if isinstance(q, (list, tuple)) else [q]
    return [(at_once.QUANTILE, 1, (each, INTERPOLATIONS[interpolation])) for each in several]


def _of_sums(statistic: int) -> Callable[..., list[_Task]]:
    return lambda ddof=0: [(statistic, 1, (ddof,))]


def _plain(statistic: int, needs: int, *parameters: float) -> Callable[[], list[_Task]]:
    return lambda: [(statistic, needs, parameters)]


_TASKS: dict[str, Callable[..., list[_Task]]] = {
    "count": _plain(at_once.COUNT, 0),
    "first": _plain(at_once.FIRST, 1),
    "last": _plain(at_once.LAST, 1),
    "sum": _plain(at_once.SUM, 0),
    "mean": _plain(at_once.MEAN, 1),
    "var": _of_sums(at_once.VARIANCE),
    "std": _of_sums(at_once.DEVIATION),
    "sem": _of_sums(at_once.ERROR),
    "min": _plain(at_once.KTH, 1, 1),
    "max": _plain(at_once.KTH, 1, -1),
    "kth": lambda k: [
        (at_once.KTH, abs(each), (each,)) for each in (k if isinstance(k, (list, tuple)) else [k])
    ],
    "median": _plain(at_once.QUANTILE, 1, 0.5, MIDPOINT),
    "quantile": _quantiles,
    "iqr": lambda q_low, q_high, interpolation: [
        (at_once.SPREAD, 1, (q_low, q_high, INTERPOLATIONS[interpolation]))
    ],
    "nunique": _plain(at_once.DISTINCT, 0),
    "mode": _plain(at_once.MODE, 1),
    "mad": lambda scale: [(at_once.MEDIAN_DEVIATION, 1, (scale,))] if isinstance(scale, Real) else [],
}


class _Held:
    """The rows of a key, in order of time.

    Parameters
    ----------
    dtypes : sequence of dtype
        Of the arrays.
    room : int
        Rows for which there is room.

    Attributes
    ----------
    arrays : list of ndarray
        The times, the columns, and codes of columns of objects; the rows are ``0, ..., last - 1`` of them.
    series : ndarray of float64
        The columns of float64; `arrays` holds views of them.
    codes : dict
        The code of each column and value.
    last : int
        The number of rows.
    dropped : int
        Rows of the key that are no longer held.
    """

    __slots__ = ("arrays", "codes", "dropped", "last", "series")

    def __init__(self, dtypes: Sequence[np.dtype[Any]], room: int) -> None:
        numbers = [dtype == np.float64 for dtype in dtypes[1:]]
        self.series = np.empty((sum(numbers), room))
        own = iter(self.series)
        self.arrays = [np.empty(room, dtypes[0])]
        self.arrays += [
            next(own) if number else np.empty(room, dtype) for number, dtype in zip(numbers, dtypes[1:])
        ]
        self.codes: dict[Any, float] = {}
        self.last = self.dropped = 0

    def part(self, i: int) -> NDArray[Any]:
        """Return an array of the rows."""
        return self.arrays[i][: self.last]

    def insert(self, row: int, values: Sequence[Any]) -> None:
        """Put a row in a place, for which there is room."""
        late = row < self.last
        for array, value in zip(self.arrays, values):
            if late:
                array[row + 1 : self.last + 1] = array[row : self.last]
            array[row] = value
        self.last += 1


@dataclass
class _Job:
    """A call over several windows.

    Attributes
    ----------
    call : callable
        Takes arrays and windows, and returns the call.
    column : FeatureColumn
        One of its feature.
    windows : tuple of int
        The windows.
    numbers : list of list of int
        For each result of the call the numbers of the columns of its windows.
    plans : dict
        The plan for each number of rows with room, and for whether no bound of the windows decreases.
    """

    call: Callable[..., Any]
    column: FeatureColumn
    windows: tuple[int, ...]
    numbers: list[list[int]]
    plans: dict[Any, Plan] = field(default_factory=dict)

    def run(self, arrays: list[NDArray[Any]], shared: Windows, room: int) -> list[NDArray[Any]]:
        """Return the results of the windows."""
        plan = self.plans.get((room, shared.one_chain))
        if plan is None:
            call = self.call(arrays, shared)
            if not isinstance(call, Call) or call.options.nan_policy == "raise":
                return flattened(call.run())
            dtypes, shape = [array.dtype for array in arrays], (room,)
            given = call.make, call.options, False, dtypes[1:], call.stack, call.finish
            plan = Plan(dtypes[0], shape, shared, *given)
            _ = plan.call, plan.split, plan.marks_after_call  # which do not depend on the windows
            if not plan.computation.once:
                self.plans[room, shared.one_chain] = plan
        return flattened(execute(plan.with_windows(shared, plan.computation), arrays))


class _Series:
    """The rows of all series of one set of keys, and the calls of their features.

    Parameters
    ----------
    features : Features
        The set.
    keys : tuple of str
        The keys.
    times : dtype
        Of the times as they are stored.
    dtypes : mapping
        Of the columns.
    """

    def __init__(
        self, features: Features, keys: tuple[str, ...], times: Any, dtypes: Mapping[str, Any]
    ) -> None:
        self.features, self.keys, self.held = features, keys, dict[tuple[Any, ...], _Held]()
        numbers = [i for i, column in enumerate(features.columns) if column.by == keys]
        own = [features.columns[i].feature for i in numbers]
        names = [(self._role(feature), name) for feature in own for name in feature.inputs]
        names += [("where", feature.condition) for feature in own if feature.condition is not None]
        self.names = list(dict.fromkeys([*names, *(("order", name) for name in features.order_by)]))
        self.dtypes: list[np.dtype[Any]] = [np.dtype(times)]
        for kind, name in self.names:
            own_dtype = _OBJECT if kind == "order" else dtypes.get(name, np.dtype(np.float64))
            self.dtypes.append(np.dtype(np.float64) if kind == "where" else own_dtype)
        self._order = [i for i, (kind, _) in enumerate(self.names, 1) if kind == "order"]
        # Columns whose values have floats in their place for the kernel: codes of objects, and whole numbers.
        self._coded = [
            i
            for i, (kind, _) in enumerate(self.names, 1)
            if kind in _VALUES and (self.dtypes[i] == _OBJECT or self.dtypes[i].kind in "iub")
        ]
        self._all_dtypes = [*self.dtypes, *[np.dtype(np.float64)] * len(self._coded)]
        self._exact = True  # floats hold all whole numbers so far
        self._reaches: list[Rows | Interval] = []  # which no window of calendar units exceeds
        self._calendar: dict[int, str] = {}  # windows of calendar units, and how far each reaches
        self._jobs, self._others, tasks = self._plan(numbers)
        rows = [each.left for each in self._reaches if isinstance(each, Rows)]
        widths = [each.before for each in self._reaches if isinstance(each, Interval)]
        self._most_rows, self._widest = max(rows, default=0), max(widths, default=None)
        self._windows = ReachesAt(self._reaches, times)
        found: list[Any] = [None] * len(features.columns)
        self._run(self._jobs, self.empty(0), self._windows, self.dtypes[0].type(0), found)  # checks all
        self._whole = [number for *_, number in tasks if type(found[number]) is int]
        tasks.sort()
        self._tasks = np.array([[*task[:5], task[-1]] for task in tasks], np.int64).reshape(-1, 6)
        self._parameters = np.array([(*task[5], 0, 0, 0)[:3] for task in tasks], np.float64).reshape(-1, 3)
        self._answer = BoundKernel(at_once.answer)
        zero = self.dtypes[0].type(0).item()
        self.answer(self.empty(0), self._windows, zero, np.empty(len(found)))  # compiles

    def empty(self, room: int) -> _Held:
        """Return no rows, with room for some."""
        return _Held(self._all_dtypes, room)

    def _plan(self, numbers: Sequence[int]) -> tuple[list[_Job], list[_Job], list[Any]]:
        """Return the calls, of a feature over all windows that need as many observations.

        Return also the calls that the kernel does not support, and the tasks of the kernel.
        """
        known: dict[Any, int] = {}
        found: dict[Any, dict[int, list[int]]] = {}
        for number in numbers:
            column = self.features.columns[number]
            options = self.features.call_options(column.feature, column.window)
            key = repr(column.window), options.get("center", False), options["closed"]
            if key not in known:
                known[key] = len(known)
                self._reaches.append(self._reach(column, *key[1:]))
                size: Any = 0 if isinstance(column.window, Forward) else next(iter(sizes(column.window)), 0)
                if is_calendar(size):
                    self._calendar[known[key]] = size
            reach = self._reaches[known[key]]
            default = REGISTRY[column.feature.statistic].min_periods
            if default is None:
                default = reach.periods if isinstance(reach, Rows) else 1
            needs = options.get("min_periods")
            needs = default if needs is None else needs
            found.setdefault((id(column.feature), needs), {}).setdefault(known[key], []).append(number)
        jobs, others, tasks = [], [], []
        for (_, needs), by_window in found.items():
            first = self.features.columns[next(iter(by_window.values()))[0]]
            options = {k: v for k, v in first.feature.options.items() if k not in ("center", "closed")}
            call = partial(first.feature.call, threads=1, **options | {"min_periods": needs})
            numbers_of_results = [list(each) for each in zip(*by_window.values())]
            jobs.append(_Job(call, first, tuple(by_window), numbers_of_results))
            own = self._tasks_of(first.feature)
            if not own:
                others.append(jobs[-1])
            for window, several in by_window.items() if own else ():
                for number, (statistic, least, parameters) in zip(several, own[1:]):
                    tasks.append((*own[0], window, statistic, max(needs, least), parameters, number))
        return jobs, others, tasks

    def _tasks_of(self, feature: Feature) -> list[Any]:
        """Return the places of the series and of the condition, and the tasks; nothing for other features."""
        options = feature.options
        plain = options.get("nan_policy", "omit") == "omit" and options.get("algorithm", "auto") == "auto"
        if feature.statistic not in _TASKS or not plain:
            return []
        bound = REGISTRY[feature.statistic].of_columns.bind(*feature.columns, **feature.parameters)
        bound.apply_defaults()
        place = 1 + self.names.index((self._role(feature), feature.columns[0]))
        if self.dtypes[place] == _OBJECT and feature.statistic not in ("count", "nunique"):
            return []
        if place in self._coded:
            place = len(self.dtypes) + self._coded.index(place)
        if self._all_dtypes[place] != np.float64:
            return []
        where = place
        if feature.condition is not None:
            where = 1 + self.names.index(("where", feature.condition))
        rows = np.cumsum([dtype == np.float64 for dtype in self._all_dtypes[1:]])
        own = {name: value for name, value in bound.arguments.items() if name != "column"}
        tasks = _TASKS[feature.statistic](**own)
        return [(int(rows[place - 1]) - 1, int(rows[where - 1]) - 1), *tasks] if tasks else []

    def _role(self, feature: Feature) -> str:
        """Return whether columns of a feature are held with infinite values."""
        return "finite" if self.features.is_finite(feature) else "value"

    def _reach(self, column: FeatureColumn, center: bool, closed: Any) -> Rows | Interval:
        """Return the rows or the times of a window; of calendar units, the most that they reach."""
        width = by_width(column.window)
        times = np.empty(0, np.float64 if width and self.dtypes[0].kind == "f" else "M8[ns]")
        with naming(column.feature, column.window):
            checked = Options.check(center=center, closed=closed, times=times, at=times)
            return checked.reach(widened(column.window), _ALL_ROWS, checked.own_times(_NO_ROWS, 0))

    def windows_at(self, time: Any, zone: Any) -> ReachesAt:
        """Return the windows at a time, whose time zone counts for calendar units."""
        if not self._calendar:
            return self._windows
        reaches = self._reaches.copy()
        for number, size in self._calendar.items():
            own = reaches[number]
            assert isinstance(own, Interval)
            reaches[number] = own._replace(before=time - earlier(size, time, zone))
        return ReachesAt(reaches, self.dtypes[0])

    # Rows.

    def push(self, key: tuple[Any, ...], values: list[Any]) -> None:
        """Put a row in its place."""
        held = self.held.get(key)
        if held is None:
            held = self.held[key] = self.empty(SMALLEST)
        if held.last == len(held.arrays[0]):
            held = self.held[key] = self.kept(held)
        row, newest = held.last, True
        if row and values[0] <= held.arrays[0][row - 1]:
            times = held.part(0)
            row, low = (int(np.searchsorted(times, values[0], side)) for side in ("right", "left"))
            newest = row == held.last
            own = [_place(values[i]) for i in self._order]
            while own and row > low and [_place(held.arrays[i][row - 1]) for i in self._order] > own:
                row -= 1
        if newest:  # the keys remain in the order of their newest rows
            self.held[key] = self.held.pop(key)
        new = held.dropped + held.last
        held.insert(row, [*values, *(self._code(held, i, values[i], new) for i in self._coded)])

    def _code(self, held: _Held, i: int, value: Any, new: int) -> float:
        """Return the float in place of an object or a whole number; NaN where it is missing."""
        if self.dtypes[i] != _OBJECT:
            self._exact &= -EXACT <= value <= EXACT
            return float(value)
        return np.nan if value is None or value != value else held.codes.setdefault((i, value), float(new))

    def kept(self, held: _Held) -> _Held:
        """Return the rows that windows may need, with room for at least as many more."""
        first, last = self._needed(held), held.last
        kept = self.empty(max(ring_size(2 * (last - first)), SMALLEST))
        for target, array in zip(kept.arrays, held.arrays[: len(self.dtypes)]):
            target[: last - first] = array[first:last]
        kept.last, kept.dropped = last - first, held.dropped + first
        for i, own in zip(self._coded, kept.arrays[len(self.dtypes) :]):
            if self.dtypes[i] != _OBJECT:
                own[: kept.last] = kept.part(i)
                self._exact &= bool((abs(own[: kept.last]) <= EXACT).all())
            for row, value in enumerate(kept.part(i).tolist() if self.dtypes[i] == _OBJECT else ()):
                own[row] = self._code(kept, i, value, kept.dropped + row)
        return kept

    def _needed(self, held: _Held) -> int:
        """Return the first row that a window at the time of the newest row, or later, can hold."""
        times = held.part(0)
        newest = times[-1].item()
        first = int(np.searchsorted(times, newest)) - self._most_rows
        if self._widest is not None:
            limit = newest - np.asarray(self._widest).item()
            limit = np.nextafter(limit, -np.inf) if times.dtype.kind == "f" else max(limit, -(2**63))
            first = min(first, int(np.searchsorted(times, limit)))
        return max(first, 0)

    def load(
        self, key: tuple[Any, ...], columns: list[NDArray[Any]], first: int, last: int, dropped: int = 0
    ) -> None:
        """Hold the rows ``first, ..., last - 1`` of columns, ordered by time, that windows may need."""
        held = self.empty(0)
        held.arrays, held.last, held.dropped = [each[first:last] for each in columns], last - first, dropped
        self.held[key] = self.kept(held)

    def expire(self, limit: Any) -> int:
        """Drop the keys whose newest row is at or before `limit`; return how many."""
        number = 0
        while self.held:
            key = next(iter(self.held))
            held = self.held[key]
            if not held.arrays[0][held.last - 1] <= limit:
                break
            del self.held[key]
            number += 1
        return number

    # Results.

    def answer(self, held: _Held, windows: ReachesAt, time: Any, out: NDArray[np.float64]) -> bool:
        """Write the kernel's results to the places of the columns; return whether it takes the values."""
        room = held.last + 1
        memory, rows = np.empty((4, room)), np.empty((3, room), np.int64)
        bounds = np.empty(len(windows.edges[0]), np.int64)
        given = *windows.edges, held.series, self._tasks, self._parameters, bounds, memory, rows, out
        return self._exact and self._answer(held.part(0), time, *given)

    def evaluate(self, held: _Held, windows: ReachesAt, time: Any, served: bool, found: list[Any]) -> None:
        """Compute the results at a time that the kernel has not computed."""
        for number in self._whole if served else ():
            found[number] = int(found[number])
        jobs = self._others if served else self._jobs
        if jobs:
            self._run(jobs, held, windows, time, found)

    def _run(
        self, jobs: Sequence[_Job], held: _Held, windows: ReachesAt, time: Any, found: list[Any]
    ) -> None:
        """Compute features at a time into their places."""
        start, end = windows.bounds(held.part(0), time)
        shared: dict[Any, Windows] = {}
        columns: dict[Any, Any] = {}
        for job in jobs:
            which, feature = job.windows, job.column.feature
            if which not in shared:
                bounds = start[list(which)], end[list(which)]
                shared[which] = WindowsAt(*bounds, len(held.part(0)), kind="at").arranged(any_order=False)
            arrays, coded = [], feature.statistic if feature.statistic in frames.CODED else ""
            for name in feature.inputs:
                key = coded, self._role(feature), name, feature.condition
                if key not in columns:
                    with naming(feature):
                        columns[key] = self._values(held, *key)
                arrays.append(columns[key][0])
            with naming(feature, job.column.window):
                results = job.run(arrays, shared[which], len(held.arrays[0]))
            if feature.statistic in POSITIONS and feature.parameters.get("relative_to", "data") == "data":
                for rows in results:
                    rows += np.where(rows >= 0, held.dropped, 0)
            known = columns[key][1]
            for numbers, result in zip(job.numbers, results):
                values = list(result) if result.dtype.kind in "mM" else result.tolist()
                if known is not None and feature.statistic in ("first", "last", "mode"):
                    values = [None if value != value else known[int(value)] for value in values]
                for number, value in zip(numbers, values):
                    found[number] = value

    def _values(
        self, held: _Held, coded: str, role: str, name: str, condition: str | None
    ) -> tuple[NDArray[Any], Any]:
        """Return a column of the rows as the functions take it, and the values that codes stand for."""
        values, known = held.part(1 + self.names.index((role, name))), None
        if values.dtype == _OBJECT and not coded:
            raise TypeError(f"column {name!r} of dtype object supports only {', '.join(frames.CODED)}")
        if values.dtype == _OBJECT or (values.dtype.kind in "mM" and coded in ("first", "last", "count")):
            known = sorted({value for value in values if _place(value)[0] and value == value})
            codes = {value: code for code, value in enumerate(known)}
            values = np.array([codes.get(value, np.nan) for value in values], np.float64)
        if condition is not None:
            values = frames.where(values, held.part(1 + self.names.index(("where", condition))) == 1.0)
        return values, known


def _place(value: Any) -> tuple[bool, bool, Any]:
    """Return what orders values as frames do: missing first, NaN last."""
    if value is None or value != value:
        return value is not None, value is not None, 0
    return True, False, value


def _width(name: str, width: Any) -> WindowSpec | None:
    """Return a width of time, or raise."""
    if width is None:
        return None
    spec = WindowSpec.parse(width)
    if not spec.timed:
        raise TypeError(f"{name} must be a duration such as '90D', a timedelta or a float; got {width!r}")
    return spec


def _key(value: Any) -> Any:
    """Return the value of a key: missing ones are one key."""
    value = value.item() if isinstance(value, (np.bool_, np.number, np.str_)) else value
    return None if value is None or value != value else value


class FeatureStream:
    """Features of the rows of a stream, at any time; :meth:`Features.stream` makes it.

    Parameters
    ----------
    features : Features
        The feature set; it must name the column `on` of the times.
    dtypes : mapping of str to dtype, optional
        Dtypes of the columns that features take, by default float64. ``object`` (or ``str``) is for strings
        and other values without arithmetic; they support ``count``, ``nunique``, ``mode``, ``first`` and
        ``last``.
    ttl : float, str or timedelta, optional
        Drop a key when its newest row is this much older than the newest row of all keys. Default: never.
    lateness : float, str or timedelta, optional
        How much older a row may be than the newest row of all keys. Default: rows may have any age.
    late : {"raise", "drop"}, default "raise"
        Whether an older row raises ValueError, or is dropped and counted.

    Attributes
    ----------
    keys : tuple of str
        The columns of all keys, in the order in which :meth:`query` takes their values.
    expired, dropped : int
        Numbers of keys and rows that have been dropped.

    Notes
    -----
    For each key, the stream holds the rows that the windows can still need, once for all features.

    Cost: pushing a row takes O(1) amortised, or O(d) for a row that arrives after d newer rows. A query
    takes O(m log m) for each column of m rows, and O(m) for each of its windows.

    Examples
    --------
    >>> from rollstat import features as f
    >>> spending = f.Features([f.sum("amount").over(5.0), f.max("amount").over(2)], by="customer", on="time")
    >>> stream = spending.stream()
    >>> stream.push({"customer": "ann", "time": 1.0, "amount": 20.0})
    >>> stream.push({"customer": "ann", "time": 4.0, "amount": 30.0})
    >>> stream.query("ann", 4.0)
    {'amount_sum_5_0': 50.0, 'amount_max_2': 30.0}
    >>> stream.query("ann", 7.0)
    {'amount_sum_5_0': 30.0, 'amount_max_2': 30.0}
    """

    def __init__(
        self,
        features: Features,
        *,
        dtypes: Mapping[str, DTypeLike] | None = None,
        ttl: Any = None,
        lateness: Any = None,
        late: str = "raise",
    ) -> None:
        if features.on is None:
            raise ValueError("a stream of features needs on=, the column of the times")
        self.features, self._on, self.expired, self.dropped = features, features.on, 0, 0
        self._names = [column.name for column in features.columns]
        self.keys = tuple(dict.fromkeys(key for column in features.columns for key in column.by))
        given = {name: np.dtype(dtype) for name, dtype in (dtypes or {}).items()}
        self._dtypes = {name: _OBJECT if dtype.kind == "U" else dtype for name, dtype in given.items()}
        self._codecs = {name: Codec(dtype) for name, dtype in self._dtypes.items() if dtype != _OBJECT}
        self._ttl, self._lateness = _width("ttl", ttl), _width("lateness", lateness)
        self._late = choice("late", late, ("raise", "drop"))
        widths = [column.window for column in features.columns if by_width(column.window)]
        kinds = ["number" if float in map(type, sizes(width)) else "time" for width in widths]
        kinds += [width.kind for width in (self._ttl, self._lateness) if width is not None]
        self._decided = bool(kinds)  # else the first time decides
        self._start((kinds or ["time"])[0])

    def _start(self, kind: str) -> None:
        self._spec, self._kind_of_times = WindowSpec(kind), ""
        self._newest: Any = None
        if any(width is not None and width.kind != kind for width in (self._ttl, self._lateness)):
            raise TypeError("ttl, lateness and the windows must be durations of the same kind")
        sets = dict.fromkeys(column.by for column in self.features.columns)
        dtype = self._spec.time_dtype
        self._series = [_Series(self.features, keys, dtype, self._dtypes) for keys in sets]

    def __len__(self) -> int:
        """Number of keys held, summed over all sets of keys."""
        return sum(len(series.held) for series in self._series)

    def _time(self, time: Any) -> tuple[Any, str]:
        """Return a time in stored form, and its kind; raise if earlier times have another kind."""
        if type(time) is float and time == time and self._spec.kind == "number" and self._decided:
            return time, ""
        quick = nanoseconds(time)
        if quick is not None and self._decided and self._spec.kind == "time":
            return self._checked(*quick)
        duration: Any = np.timedelta64
        number = isinstance(time, Real) and not isinstance(time, duration)
        if not self._decided and number != (self._spec.kind == "number"):
            self._start("number" if number else "time")
        if self._spec.kind == "number":
            return self._spec.encode_time(time), ""
        time, kind = self._checked(*numpy_times(self._on, time))
        return self._spec.encode_time(time[()]), kind

    def _checked(self, time: Any, kind: str) -> tuple[Any, str]:
        """Return a time and its kind; raise if earlier times have another kind."""
        if self._kind_of_times not in ("", kind):
            raise TypeError(
                f"{self._on} must be {self._kind_of_times}, like the times before; got {kind or time}"
            )
        return time, kind

    def push(self, row: Mapping[str, Any]) -> None:
        """Add a row.

        Parameters
        ----------
        row : mapping
            The values of the columns: keys, times, the columns that features take, and the columns in
            conditions. None and NaN are missing; in a condition None is NaN, as in pandas. A row may be
            older than others. Rows with equal times keep the order of arrival, unless `order_by` orders them.

        Raises
        ------
        ValueError, TypeError
            If a column is missing or a value does not fit its dtype. The stream does not change.
        """
        keys = {name: _key(frames.item(row, name)) for name in self.keys}
        hash(tuple(keys.values()))  # raises before anything changes
        values: dict[Any, Any] = {}
        for kind, name in dict.fromkeys(name for series in self._series for name in series.names):
            values[kind, name] = self._value(kind, name, row)
        time, kind = self._time(frames.item(row, self._on))
        if self._lateness is not None and self._newest is not None:
            limit = self._lateness.limit(self._newest)
            if time < limit:
                if self._late == "drop":
                    self.dropped += 1
                    return
                number = self._spec.kind == "number"
                late = self._lateness.size if number else width_text(self._lateness.size)
                given = None if number else numpy_times(self._on, row[self._on])[0]
                raise ValueError(
                    f"{self._on} must be at most lateness, {late}, before the newest row, "
                    f"{shown(self._newest, given)}; got {shown(time, given)}"
                )
        self._decided, self._kind_of_times = True, kind
        for series in self._series:
            own = [time, *(values[name] for name in series.names)]
            series.push(tuple(keys[name] for name in series.keys), own)
        self._advance(time)

    def _value(self, kind: str, name: str, row: Mapping[str, Any]) -> Any:
        """Return a value of a row as it is stored."""
        if kind == "where":
            return 1.0 if frames.holds(name, row) else np.nan
        value = frames.item(row, name)
        if kind == "order" or self._dtypes.get(name) == _OBJECT:
            return value
        codec = self._codecs.get(name)
        if codec is None:
            codec = self._codecs[name] = Codec(np.float64)
        try:
            number, missing = codec.encode(value)
        except (TypeError, ValueError) as error:
            hint = f"; for strings, pass dtypes={{{name!r}: object}}" if isinstance(value, str) else ""
            raise type(error)(f"column {name!r}: {error}{hint}") from None
        if kind == "finite" and codec.kind == "f" and abs(number) == np.inf:
            return np.nan
        if missing and codec.kind in "iub":
            hint = f"for missing values, pass dtypes={{{name!r}: 'float64'}}"
            raise ValueError(f"column {name!r} of {codec.dtype} must not be missing; {hint}")
        return np.array("NaT", codec.dtype) if missing and codec.kind in "mM" else number

    def _advance(self, time: Any) -> None:
        """Note a time, and drop the keys that have expired."""
        if self._newest is None or time > self._newest:
            self._newest = time
        if self._ttl is not None:
            limit = self._ttl.limit(self._newest)
            self.expired += sum(series.expire(limit) for series in self._series)

    def query(self, *keys_and_time: Any) -> dict[str, Any]:
        """Return the features of some keys at a time.

        Parameters
        ----------
        *keys_and_time
            A value for each of `keys`, then the time, which must not be before the newest row of these keys.

        Returns
        -------
        dict
            The features by name, as ``compute(frame, at=...)`` computes them from the rows so far: NaN, NaT
            or None where missing.

        Raises
        ------
        ValueError, TypeError
            For another number of values, or a time before the newest row.
        """
        if len(keys_and_time) != len(self.keys) + 1:
            raise TypeError(f"query takes {', '.join((*self.keys, self._on))}; got {keys_and_time!r}")
        time, _ = self._time(keys_and_time[-1])
        given = dict(zip(self.keys, map(_key, keys_and_time)))
        out, answered = np.empty(len(self._names)), []
        for series in self._series:
            held = series.held.get(tuple(given[name] for name in series.keys))
            if held is None:
                held = series.empty(SMALLEST)
            elif time < held.arrays[0][held.last - 1]:
                raise ValueError(
                    f"{self._on} must not be before the newest row of {given}; got {keys_and_time[-1]!r}"
                )
            windows = series.windows_at(time, zone_of(keys_and_time[-1]))
            answered.append((series, held, windows, series.answer(held, windows, time, out)))
        found = out.tolist()
        for series, held, windows, served in answered:
            series.evaluate(held, windows, time, served, found)
        return dict(zip(self._names, found))

    @classmethod
    def from_frame(
        cls,
        features: Features,
        frame: Any,
        *,
        dtypes: Mapping[str, DTypeLike] | None = None,
        ttl: Any = None,
        lateness: Any = None,
        late: str = "raise",
    ) -> Self:
        """Return a stream as if the rows of a frame had been pushed, in the order of their times.

        Parameters
        ----------
        features : Features
            The set.
        frame : pandas.DataFrame, polars.DataFrame or pyarrow.Table
            The rows, in any order.
        dtypes, ttl, lateness, late
            As in the class. The default dtypes are the dtypes of the frame, but float64 for integers with
            missing values.
        """
        rows = frames.frame_of("frame", frame)
        columns = {name: frames.held_of(rows[name]) for each in features.features for name in each.inputs}
        own = {name: values.dtype for name, values in columns.items()}
        stream = cls(features, dtypes={**own, **(dtypes or {})}, ttl=ttl, lateness=lateness, late=late)
        if not len(rows):
            return stream
        native, kind = numpy_times(stream._on, frames.native_times(rows[stream._on]))
        aware = getattr(rows[stream._on].dtype, "time_zone", None) is not None
        stream._kind_of_times = "aware datetimes" if aware else kind
        if not stream._decided and native.dtype.kind not in "mM":
            stream._start("number")
        stream._decided = True
        times = stream._spec.encode_times(native)
        for series in stream._series:
            series_columns = [times]
            for role, name in series.names:
                if role == "where":
                    series_columns.append(np.where(frames.condition_of(name, rows), 1.0, np.nan))
                elif role == "order":
                    series_columns.append(np.array([*rows[name].to_list(), None], object)[:-1])
                else:
                    values = columns[name].astype(stream._dtypes[name])
                    series_columns.append(without_infinities(values) if role == "finite" else values)
            stream._load(series, rows, series_columns)
        stream._advance(times.max().item())
        return stream

    def _load(self, series: _Series, rows: Any, columns: list[NDArray[Any]]) -> None:
        """Hold the last rows of each key of a frame."""
        order = Order(self.features, series.keys, [rows])
        columns = [frames.take(values, order.rows) for values in columns]
        offsets = order.options["segments"]
        last = frames.take(np.arange(len(rows)), order.rows)[offsets[1:] - 1]
        keys = [[_key(key) for key in rows[name][last].to_list()] for name in series.keys]
        groups = list(zip(*keys)) if keys else [()]
        for i in np.argsort(columns[0][offsets[1:] - 1], kind="stable").tolist():
            series.load(groups[i], columns, offsets[i].item(), offsets[i + 1].item())

    def snapshot(self) -> bytes:
        """Return the state as bytes for :meth:`restore`; your own operators cannot be stored."""
        arrays: list[NDArray[Any]] = []
        objects: list[Any] = []
        for series in self._series:
            series.held = {key: series.kept(each) for key, each in series.held.items()}
            held = series.held.values()
            arrays.append(np.array([[each.last, each.dropped] for each in held]).reshape(-1, 2))
            for i, dtype in enumerate(series.dtypes):
                joined = np.concatenate([np.empty(0, dtype), *(each.part(i) for each in held)])
                if dtype == _OBJECT:
                    objects.append(list(map(_key, joined)))
                else:
                    arrays.append(joined)
        own = {
            "features": self.features.to_json(),
            "dtypes": {name: dtype.str for name, dtype in self._dtypes.items()},
            "widths": [
                None if each is None else [each.kind, each.size] for each in (self._ttl, self._lateness)
            ],
            "late": [self._late, self.dropped],
            "times": [self._spec.kind if self._decided else "", self._kind_of_times, self._newest],
            "expired": self.expired,
            "keys": [list(series.held) for series in self._series],
            "objects": objects,
        }
        return write(type(self).__name__, own, arrays)

    def __reduce__(self) -> Any:
        return type(self).restore, (self.snapshot(),)

    @classmethod
    def restore(cls, data: bytes) -> Self:
        """Return the stream that a snapshot contains.

        Raises
        ------
        SnapshotError
            If the bytes are truncated or damaged, have another format, or hold no stream of features.
        """
        name, own, arrays = read(data)
        if name != cls.__name__:
            raise SnapshotError(f"the snapshot is of a {name}, not of a {cls.__name__}")
        try:
            return cls._restored(own, iter(arrays))
        except (ArithmeticError, AttributeError, LookupError, StopIteration, TypeError, ValueError) as error:
            raise SnapshotError(
                f"the snapshot does not contain the state of a {cls.__name__}: {error}"
            ) from error

    @classmethod
    def _restored(cls, own: dict[str, Any], arrays: Any) -> Self:
        ttl, lateness = (None if each is None else WindowSpec.restored(*each) for each in own["widths"])
        late, dropped = own["late"]
        given = {"dtypes": own["dtypes"], "ttl": ttl, "lateness": lateness, "late": late}
        stream = cls(Features.from_json(own["features"]), **given)
        stream.dropped = dropped
        kind, kind_of_times, newest = own["times"]
        if kind:
            stream._start(kind)
        stream._decided, stream._kind_of_times, stream.expired = bool(kind), kind_of_times, own["expired"]
        stream._newest = stream._spec.restored_time(newest)
        objects = iter(own["objects"])
        for series, keys in zip(stream._series, own["keys"], strict=True):
            counts = next(arrays)
            offsets = np.append(0, np.cumsum(counts[:, 0])).tolist()
            columns = []
            for dtype in series.dtypes:
                values = np.array([*next(objects), None], object)[:-1] if dtype == _OBJECT else next(arrays)
                if values.dtype != dtype or values.shape != (offsets[-1],):
                    raise ValueError("its arrays have other shapes or dtypes")
                columns.append(values)
            for key, first, last, dropped in zip(keys, offsets[:-1], offsets[1:], counts[:, 1], strict=True):
                stream._spec.restored_times(columns[0][first:last], last - first)
                if not (first < last and dropped >= 0 and columns[0][last - 1] <= newest):
                    raise ValueError("its rows do not fit its keys and times")
                series.load(tuple(key), columns, first, last, int(dropped))
        return stream
