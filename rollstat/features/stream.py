"""Features of a stream: the rows that windows may still need, in order for each key, and results at any time.

::

    push(row)          --> each set of keys --> rows of the key, in order of time   [ . . | rows held | room ]
    query(keys, time)  --> bounds of all windows --> one call for all windows of a feature --> results

All features of a set of keys share the rows. The functions over arrays compute the features from them: their
plans are kept, and serve later rows with other windows.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from numbers import Real
from typing import Any, Self

import numpy as np
from numpy.typing import DTypeLike, NDArray

from rollstat.dtypes import flattened
from rollstat.engine import Call, execute
from rollstat.features import frames
from rollstat.features.computation import Order
from rollstat.features.definition import FeatureColumn, Features, by_width, naming, sizes
from rollstat.kernels.rings import SMALLEST, ring_size
from rollstat.options import Options, numpy_times
from rollstat.pandas.calls import POSITIONS
from rollstat.plan import Plan
from rollstat.registry import REGISTRY
from rollstat.snapshots import SnapshotError, read, write
from rollstat.streaming.codec import Codec
from rollstat.streaming.window_spec import WindowSpec
from rollstat.windows import Interval, ReachesAt, Rows, Windows, WindowsAt

_OBJECT = np.dtype(object)
_ALL_ROWS = 2**62
_NO_ROWS = np.zeros(2, np.int64)


class _Held:
    """The rows of a key, in order of time.

    Attributes
    ----------
    columns : list of ndarray
        The times, then the values; the rows are ``first, ..., last - 1`` of them.
    dropped : int
        Rows of the key that are no longer held.
    """

    __slots__ = ("columns", "dropped", "first", "last")

    def __init__(self, columns: list[NDArray[Any]]) -> None:
        self.columns = columns
        self.first = self.last = self.dropped = 0

    def part(self, i: int) -> NDArray[Any]:
        """Return a column of the rows."""
        return self.columns[i][self.first : self.last]

    def keep_from(self, row: int) -> None:
        """Drop the rows before `row`, and take room for at least as many as are left."""
        size = max(ring_size(2 * (self.last - row)), SMALLEST)
        for i, array in enumerate(self.columns):
            self.columns[i] = np.empty(size, array.dtype)
            self.columns[i][: self.last - row] = array[row : self.last]
        self.dropped += row - self.first
        self.first, self.last = 0, self.last - row

    def insert(self, row: int, values: Sequence[Any]) -> None:
        """Put a row in a place, for which there is room."""
        for array, value in zip(self.columns, values):
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
        By the rows for which there is room, and whether no bound of the windows decreases.
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
        names = [("value", name) for feature in own for name in feature.inputs]
        names += [("where", feature.condition) for feature in own if feature.condition is not None]
        self.names = list(dict.fromkeys([*names, *(("order", name) for name in features.order_by)]))
        self.dtypes: list[np.dtype[Any]] = [np.dtype(times)]
        for kind, name in self.names:
            own_dtype = _OBJECT if kind == "order" else dtypes.get(name, np.dtype(np.float64))
            self.dtypes.append(np.dtype(np.bool_) if kind == "where" else own_dtype)
        self._reaches: list[Rows | Interval] = []
        self._jobs = self._plan(numbers)
        rows = [each.left for each in self._reaches if isinstance(each, Rows)]
        widths = [each.before for each in self._reaches if isinstance(each, Interval)]
        self._most_rows, self._widest = max(rows, default=0), max(widths, default=None)
        self._windows = ReachesAt(self._reaches, times)
        self.evaluate(self.empty(0), self.dtypes[0].type(0), [None] * len(features.columns))  # checks all

    def empty(self, room: int) -> _Held:
        """Return no rows, with room for some."""
        return _Held([np.empty(room, dtype) for dtype in self.dtypes])

    def _plan(self, numbers: Sequence[int]) -> list[_Job]:
        """Return the calls: of a feature over all windows that need as many observations."""
        known: dict[Any, int] = {}
        found: dict[Any, dict[int, list[int]]] = {}
        for number in numbers:
            column = self.features.columns[number]
            options = self.features.call_options(column.feature, column.window)
            key = repr(column.window), options.get("center", False), options["closed"]
            if key not in known:
                known[key] = len(known)
                self._reaches.append(self._reach(column, *key[1:]))
            reach = self._reaches[known[key]]
            default = REGISTRY[column.feature.statistic].min_periods
            if default is None:
                default = reach.periods if isinstance(reach, Rows) else 1
            needs = options.get("min_periods")
            needs = default if needs is None else needs
            found.setdefault((id(column.feature), needs), {}).setdefault(known[key], []).append(number)
        jobs = []
        for (_, needs), by_window in found.items():
            first = self.features.columns[next(iter(by_window.values()))[0]]
            options = {k: v for k, v in first.feature.options.items() if k not in ("center", "closed")}
            call = partial(first.feature.call, threads=1, **options | {"min_periods": needs})
            numbers_of_results = [list(each) for each in zip(*by_window.values())]
            jobs.append(_Job(call, first, tuple(by_window), numbers_of_results))
        return jobs

    def _reach(self, column: FeatureColumn, center: bool, closed: Any) -> Rows | Interval:
        """Return the rows or the times of a window."""
        width = by_width(column.window)
        times = np.empty(0, np.float64 if width and self.dtypes[0].kind == "f" else "M8[ns]")
        with naming(column.feature, column.window):
            checked = Options.check(center=center, closed=closed, times=times, at=times)
            return checked.reach(column.window, _ALL_ROWS, checked.own_times(_NO_ROWS, 0))

    # Rows.

    def push(self, key: tuple[Any, ...], values: Sequence[Any]) -> None:
        """Put a row in its place."""
        held = self.held.get(key)
        if held is None:
            held = self.held[key] = self.empty(SMALLEST)
        if held.last == len(held.columns[0]):
            held.keep_from(self.needed(held))
        row, times = held.last, held.part(0)
        if len(times) and values[0] <= times[-1]:
            row = held.first + int(np.searchsorted(times, values[0], "right"))
            low = held.first + int(np.searchsorted(times, values[0]))
            order = [i for i, (kind, _) in enumerate(self.names, 1) if kind == "order"]
            own = [_place(values[i]) for i in order]
            while order and row > low and [_place(held.columns[i][row - 1]) for i in order] > own:
                row -= 1
        if row == held.last:  # the keys remain in the order of their newest rows
            self.held[key] = self.held.pop(key)
        held.insert(row, values)

    def needed(self, held: _Held) -> int:
        """Return the first row that a window at the time of the newest row, or later, can hold."""
        times = held.part(0)
        newest = times[-1].item()
        first = int(np.searchsorted(times, newest)) - self._most_rows
        if self._widest is not None:
            limit = newest - np.asarray(self._widest).item()
            limit = np.nextafter(limit, -np.inf) if times.dtype.kind == "f" else max(limit, -(2**63))
            first = min(first, int(np.searchsorted(times, limit)))
        return held.first + max(first, 0)

    def load(
        self, key: tuple[Any, ...], columns: list[NDArray[Any]], first: int, last: int, dropped: int = 0
    ) -> None:
        """Hold the rows ``first, ..., last - 1`` of columns, in order of time, that windows may need."""
        held = self.held[key] = _Held(list(columns))
        held.first, held.last, held.dropped = first, last, dropped
        held.keep_from(self.needed(held))

    def expire(self, limit: Any) -> int:
        """Drop the keys whose newest row is at or before `limit`; return how many."""
        number = 0
        while self.held:
            key = next(iter(self.held))
            held = self.held[key]
            if not held.columns[0][held.last - 1] <= limit:
                break
            del self.held[key]
            number += 1
        return number

    # Results.

    def evaluate(self, held: _Held, time: Any, found: list[Any]) -> None:
        """Compute the features at a time into their places."""
        start, end = self._windows.bounds(held.part(0), time)
        shared: dict[Any, Windows] = {}
        columns: dict[Any, Any] = {}
        for job in self._jobs:
            which, feature = job.windows, job.column.feature
            if which not in shared:
                bounds = start[list(which)], end[list(which)]
                shared[which] = WindowsAt(*bounds, len(held.part(0)), kind="at").arranged(any_order=False)
            arrays, coded = [], feature.statistic if feature.statistic in frames.CODED else ""
            for name in feature.inputs:
                key = coded, name, feature.condition
                if key not in columns:
                    with naming(feature):
                        columns[key] = self._values(held, *key)
                arrays.append(columns[key][0])
            with naming(feature, job.column.window):
                results = job.run(arrays, shared[which], len(held.columns[0]))
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

    def _values(self, held: _Held, coded: str, name: str, condition: str | None) -> tuple[NDArray[Any], Any]:
        """Return a column of the rows as the functions take it, and the values that codes stand for."""
        values, known = held.part(1 + self.names.index(("value", name))), None
        if values.dtype == _OBJECT and not coded:
            raise TypeError(f"column {name!r} of object serves only {', '.join(frames.CODED)}")
        if values.dtype == _OBJECT or (values.dtype.kind in "mM" and coded in ("first", "last", "count")):
            known = sorted({value for value in values if _place(value)[0] and value == value})
            codes = {value: code for code, value in enumerate(known)}
            values = np.array([codes.get(value, np.nan) for value in values], np.float64)
        if condition is not None:
            values = frames.where(values, held.part(1 + self.names.index(("where", condition))))
        return values, known


def _place(value: Any) -> tuple[bool, bool, Any]:
    """Return what orders values as frames do: missing first, NaN last."""
    if value is None or value != value:
        return value is not None, value is not None, 0
    return True, False, value


def _key(value: Any) -> Any:
    """Return the value of a key: missing ones are one key."""
    value = value.item() if isinstance(value, (np.bool_, np.number, np.str_)) else value
    return None if value is None or value != value else value


class FeatureStream:
    """Features of the rows of a stream, at any time; :meth:`Features.stream` makes it.

    Parameters
    ----------
    features : Features
        The set, with a column `on` of times.
    dtypes : mapping of str to dtype, optional
        Dtypes of the columns that features take: default float64. ``object`` is for strings and other values
        without arithmetic, which serve ``count``, ``nunique``, ``mode``, ``first`` and ``last``.
    ttl : float, str or timedelta, optional
        Keys whose newest row is this much older than the newest row of all are dropped. Default: never.

    Attributes
    ----------
    keys : tuple of str
        The columns of all keys, in the order in which :meth:`query` takes their values.
    expired : int
        Keys that have been dropped.

    Notes
    -----
    Each set of keys holds the rows of each key that its windows can still need, once for all features.
    Cost: a row of the newest time takes O(1) amortised, another one O(d), d rows from the newest. A query
    takes the time of the functions over the rows of its windows.

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
        self, features: Features, *, dtypes: Mapping[str, DTypeLike] | None = None, ttl: Any = None
    ) -> None:
        if features.on is None:
            raise ValueError("a stream of features needs on=, the column of the times")
        self.features, self._on, self.expired = features, features.on, 0
        self.keys = tuple(dict.fromkeys(key for column in features.columns for key in column.by))
        self._dtypes = {name: np.dtype(dtype) for name, dtype in (dtypes or {}).items()}
        self._codecs = {name: Codec(dtype) for name, dtype in self._dtypes.items() if dtype != _OBJECT}
        self._ttl = None if ttl is None else WindowSpec.parse(ttl)
        if self._ttl is not None and not self._ttl.timed:
            raise TypeError(f"ttl must be a width, such as '90D', a timedelta or a float; got {ttl!r}")
        widths = [column.window for column in features.columns if by_width(column.window)]
        kinds = ["number" if float in map(type, sizes(width)) else "time" for width in widths]
        kinds += [] if self._ttl is None else [self._ttl.kind]
        self._decided = bool(kinds)  # else the first time decides
        self._start((kinds or ["time"])[0])

    def _start(self, kind: str) -> None:
        self._spec, self._kind_of_times = WindowSpec(kind), ""
        self._newest: Any = None
        if self._ttl is not None and self._ttl.kind != kind:
            raise TypeError("ttl and the windows must be widths of the same kind of times")
        sets = dict.fromkeys(column.by for column in self.features.columns)
        dtype = self._spec.time_dtype
        self._series = [_Series(self.features, keys, dtype, self._dtypes) for keys in sets]

    def __len__(self) -> int:
        """Keys that are held; those of several sets are added."""
        return sum(len(series.held) for series in self._series)

    def _time(self, time: Any) -> tuple[Any, str]:
        """Return a time in stored form, and its kind; raise if that is not the kind of times before."""
        duration: Any = np.timedelta64
        number = isinstance(time, Real) and not isinstance(time, duration)
        if not self._decided and number != (self._spec.kind == "number"):
            self._start("number" if number else "time")
        if self._spec.kind == "number":
            return self._spec.encode_time(time), ""
        found, kind = numpy_times(self._on, time)
        if self._kind_of_times not in ("", kind):
            raise TypeError(f"{self._on} must be {self._kind_of_times}, like the times before; got {kind}")
        return self._spec.encode_time(found[()]), kind

    def push(self, row: Mapping[str, Any]) -> None:
        """Add a row.

        Parameters
        ----------
        row : mapping
            The columns and their values: keys, times, those that features take and those of conditions. None
            and NaN are missing; in a condition None is NaN, as in pandas. A row may be older than others;
            equal times remain in the order of arrival, or are ordered by the columns `order_by`.

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
        time, self._kind_of_times = self._time(frames.item(row, self._on))
        self._decided = True
        for series in self._series:
            own = [time, *(values[name] for name in series.names)]
            series.push(tuple(keys[name] for name in series.keys), own)
        self._advance(time)

    def _value(self, kind: str, name: str, row: Mapping[str, Any]) -> Any:
        """Return a value of a row as it is stored."""
        if kind == "where":
            return frames.holds(name, row)
        value = frames.item(row, name)
        if kind == "order" or self._dtypes.get(name) == _OBJECT:
            return value
        codec = self._codecs.setdefault(name, Codec(np.float64))
        try:
            number, missing = codec.encode(value)
        except (TypeError, ValueError) as error:
            raise type(error)(f"column {name!r}: {error}") from None
        if missing and codec.kind in "iub":
            raise ValueError(f"column {name!r} of {codec.dtype} must not be missing; declare float64")
        return np.array("NaT", codec.dtype) if missing and codec.kind in "mM" else number

    def _advance(self, time: Any) -> None:
        """Note a time, and drop the keys that have expired."""
        if self._newest is None or time > self._newest:
            self._newest = time
        if self._ttl is not None:
            limit = self._ttl.limit(self._newest)
            self.expired += sum(series.expire(limit) for series in self._series)

    def query(self, *keys_and_time: Any) -> dict[str, Any]:
        """Return the features of a row of some keys at a time.

        Parameters
        ----------
        *keys_and_time
            A value of each of `keys`, then the time: not before the newest row of these keys.

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
        found: list[Any] = [None] * len(self.features.columns)
        for series in self._series:
            held = series.held.get(tuple(given[name] for name in series.keys))
            if held is None:
                held = series.empty(SMALLEST)
            elif time < held.columns[0][held.last - 1]:
                raise ValueError(
                    f"{self._on} must not be before the newest row of {given}; got {keys_and_time[-1]!r}"
                )
            series.evaluate(held, time, found)
        return dict(zip([column.name for column in self.features.columns], found))

    @classmethod
    def from_frame(
        cls,
        features: Features,
        frame: Any,
        *,
        dtypes: Mapping[str, DTypeLike] | None = None,
        ttl: Any = None,
    ) -> Self:
        """Return a stream as if the rows of a frame had been pushed, in the order of their times.

        Parameters
        ----------
        features : Features
            The set.
        frame : pandas.DataFrame, polars.DataFrame or pyarrow.Table
            The rows, in any order.
        dtypes, ttl
            As of the class. Dtypes that are not given are those of the columns, float64 for integers of which
            some are missing.
        """
        rows = frames.frame_of("frame", frame)
        columns = {name: frames.held_of(rows[name]) for each in features.features for name in each.inputs}
        own = {name: values.dtype for name, values in columns.items()}
        stream = cls(features, dtypes={**own, **(dtypes or {})}, ttl=ttl)
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
                    series_columns.append(frames.condition_of(name, rows))
                elif role == "order":
                    series_columns.append(np.array([*rows[name].to_list(), None], object)[:-1])
                else:
                    series_columns.append(columns[name].astype(stream._dtypes[name]))
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
        """Return the state as bytes that :meth:`restore` reads; operators of users cannot be stored."""
        arrays: list[NDArray[Any]] = []
        objects: list[Any] = []
        for series in self._series:
            held = list(series.held.values())
            for each in held:
                each.keep_from(series.needed(each))
            arrays.append(np.array([[each.last - each.first, each.dropped] for each in held]).reshape(-1, 2))
            for i, dtype in enumerate(series.dtypes):
                joined = np.concatenate([np.empty(0, dtype), *(each.part(i) for each in held)])
                if dtype == _OBJECT:
                    objects.append(list(map(_key, joined)))
                else:
                    arrays.append(joined)
        own = {
            "features": self.features.to_json(),
            "dtypes": {name: dtype.str for name, dtype in self._dtypes.items()},
            "ttl": None if self._ttl is None else [self._ttl.kind, self._ttl.size],
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
            If the bytes are truncated, damaged, of another format, or hold no stream of features.
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
        ttl = None if own["ttl"] is None else WindowSpec.restored(*own["ttl"])
        stream = cls(Features.from_json(own["features"]), dtypes=own["dtypes"], ttl=ttl)
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
