"""Compute features: one order of the rows for each set of keys, windows that features share, and threads.

::

    keys --> order, segments --> bounds of each window --> calls, one for each selection --> columns

Features of one column and window share work; see :mod:`rollstat.statistics.joint_calls`.
"""

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rollstat.calendar_units import depends_on_time, in_zone
from rollstat.dtypes import without_infinities
from rollstat.engine import work_on_threads
from rollstat.features import frames
from rollstat.features.definition import FeatureColumn, Features, by_width, naming
from rollstat.foreign import missing_results
from rollstat.kernels.placing import LINE
from rollstat.options import Options
from rollstat.pandas.calls import POSITIONS
from rollstat.registry import REGISTRY
from rollstat.statistics.joint_calls import JointCall, joint_calls
from rollstat.windows import Edges, Windows

# Masks of earlier features that a new one is compared with.
_MASKS = 8


def compute(features: Features, frame: Any, at: Any, threads: Any) -> Any:
    """Return the rows of a frame, or of `at`, with the features; see :meth:`Features.compute`."""
    rows = frames.frame_of("frame", frame)
    labels = None if at is None else frames.frame_of("at", at)
    if labels is not None and features.on is None:
        raise ValueError("at needs on=, the column of the times")
    _check_columns(features, rows, labels)
    found: list[Any] = [None] * len(features.columns)
    threads = Options.check(threads=threads).threads
    for keys in dict.fromkeys(column.by for column in features.columns):
        _Series(features, keys, rows, labels).compute(found, threads)
    to = rows if labels is None else labels
    return to.with_columns(*found).to_native()


def _check_columns(features: Features, rows: Any, labels: Any) -> None:
    """Raise if a frame does not have a column that a feature needs, or has one with the name of a feature."""
    to = rows if labels is None else labels
    own = [] if features.on is None else [features.on]
    for column in features.columns:
        with naming(column.feature):
            needed = {"frame": (rows, [*column.feature.inputs, *column.by, *own, *features.order_by])}
            if labels is not None:
                needed["at"] = labels, [*column.by, *own]
            for name, (frame, columns) in needed.items():
                for each in columns:
                    if each not in frame.columns:
                        raise ValueError(f"{name} has no column {each!r}; it has {', '.join(frame.columns)}")
            if column.name in to.columns:
                raise ValueError(f"the frame already has a column {column.name!r}: rename with alias()")
    if labels is not None and labels.implementation != rows.implementation:
        raise TypeError(f"at must be a frame of the same kind as the rows; got {type(labels.to_native())}")


class Order:
    """Rows, and perhaps labels, in the order of keys and times.

    Attributes
    ----------
    rows, results : ndarray of int64 or None
        The rows and the result rows in that order; None if they already are.
    options : dict
        Segments and times in that order, as the functions take them.
    zone : str or None
        The time zone of the results.
    """

    def __init__(self, features: Features, keys: Sequence[str], given: Sequence[Any]) -> None:
        times = [[] if features.on is None else [frames.times_of(features.on, each)] for each in given]
        within = [[*times[0], *(frames.codes_of(given[0][name]) for name in features.order_by)], *times[1:]]
        ids = frames.ids_of(given, keys)
        orders = [frames.order_by([own, *others]) for own, others in zip(ids, within)]
        ids = [frames.take(own, order) for own, order in zip(ids, orders)]
        firsts = [own[np.append(own[:1] == own[:1], own[1:] != own[:-1])] for own in ids]
        groups = np.unique(np.concatenate(firsts))
        offsets = [np.append(np.searchsorted(own, groups), len(own)) for own in ids]
        if not len(groups):
            offsets = [np.zeros(2, np.int64)] * len(given)
        self.rows, self.results = orders[0], orders[-1]
        self.zone = None if features.on is None else getattr(given[-1][features.on].dtype, "time_zone", None)
        self.options = dict(zip(("segments", "at_segments"), offsets))
        for name, own, order in zip(("times", "at"), times, orders):
            self.options.update((name, frames.take(each, order)) for each in own)

    @property
    def starts(self) -> NDArray[np.int64]:
        """The first row of the series of each result."""
        segments = self.options["segments"]
        return np.repeat(segments[:-1], np.diff(self.options.get("at_segments", segments)))


@dataclass
class _Job:
    """A call, what converts its results, and the numbers of the columns that these are, by feature."""

    call: JointCall
    convert: Callable[[Any, Any, str], Any]
    numbers: list[list[int]]


class _Series:
    """The series of one set of keys: the order of their rows, and what features share."""

    def __init__(self, features: Features, keys: tuple[str, ...], rows: Any, labels: Any) -> None:
        self._features, self._rows = features, rows
        self._to = rows if labels is None else labels
        self._own = Order(features, keys, [rows] if labels is None else [rows, labels])
        self._columns = [i for i, column in enumerate(features.columns) if column.by == keys]
        self._shared: dict[Any, Any] = {}  # first the feature that needs it, then what is shared
        self._edges: Edges = {}
        self._masks: deque[tuple[NDArray[np.bool_], NDArray[np.bool_]]] = deque(maxlen=_MASKS)

    def compute(self, found: list[Any], threads: int) -> None:
        """Compute the columns of these keys into their places."""
        jobs = self._jobs()
        work_on_threads(self._share, [(key,) for key in self._shared], threads)
        work_on_threads(partial(self._run, found), [(job,) for job in self._merged(jobs)], threads)
        parts = [(self._columns[i : i + LINE],) for i in range(0, len(self._columns), LINE)]
        work_on_threads(partial(self._convert, found), parts, threads)

    def _jobs(self) -> dict[Any, list[int]]:
        """Return the numbers of the columns of each feature and window, and note what these share."""
        jobs: dict[Any, list[int]] = {}
        for number in self._columns:
            column = self._features.columns[number]
            jobs.setdefault((id(column.feature), repr(column.window)), []).append(number)
            for key in (self._windows_key(column), *self._values_keys(column)):
                self._shared.setdefault(key, column.feature)
        return jobs

    def _windows_key(self, column: FeatureColumn) -> Any:
        options = self._features.call_options(column.feature, column.window)
        return "windows", repr(column.window), column.window, options.get("center", False), options["closed"]

    def _values_keys(self, column: FeatureColumn) -> list[Any]:
        feature = column.feature
        coded = partial(frames.code_of, statistic=feature.statistic)
        how = feature.condition, self._features.is_finite(feature)
        return [("values", name, coded(self._rows[name].dtype), *how) for name in feature.inputs]

    def _share(self, key: Any) -> None:
        """Make what features share, values in the order of the rows or windows."""
        kind, *of = key
        with naming(self._shared[key]):
            self._shared[key] = self._values(*of) if kind == "values" else self._make_windows(*of[1:])

    def _values(self, name: str, coded: str, condition: str | None, finite: bool) -> frames.Column:
        column = frames.column_of(self._rows[name], coded, self._to)
        values = without_infinities(column.values) if finite else column.values
        if condition is not None:
            values = frames.where(values, frames.condition_of(condition, self._rows))
        return column._replace(values=frames.take(values, self._own.rows))

    def _make_windows(self, window: Any, center: bool, closed: Any) -> Windows:
        given: Any = dict(self._own.options)
        if not by_width(window) and "at" not in given:
            given.pop("times", None)
        elif not by_width(window) and given["times"].dtype.kind not in "mM":  # else a number is a width
            given["times"], given["at"] = frames.in_microseconds(given["times"], given["at"])
        elif depends_on_time(window) and self._own.zone is not None:
            given |= {name: in_zone(given[name], self._own.zone) for name in ("times", "at") if name in given}
        checked = Options.check(center=center, closed=closed, **given)
        windows = checked.windows(window, checked.offsets(len(self._rows)))
        return windows if windows.few_cut else windows.explicit(0, windows.rows, self._edges)

    def _merged(self, jobs: dict[Any, list[int]]) -> list[_Job]:
        """Return the calls, one for those that share work."""
        calls, converts, every = [], [], list(jobs.values())
        for numbers in every:
            column = self._features.columns[numbers[0]]
            feature, keys, windows = column.feature, self._values_keys(column), self._windows_key(column)
            sources = [self._shared[key] for key in keys]
            options = {k: v for k, v in feature.options.items() if k not in ("center", "closed")}
            with naming(feature, column.window):
                arrays = [source.values for source in sources]
                call = feature.call(arrays, self._shared[windows], threads=1, **options)
            calls.append(((windows, *keys), call))
            converts.append(sources[0].convert)
        return [
            _Job(joint, converts[joint.numbers[0]], [every[number] for number in joint.numbers])
            for joint in joint_calls(calls)
        ]

    def _run(self, found: list[Any], job: _Job) -> None:
        """Compute a job, and note for each column its result, where that is missing, and `convert`."""
        columns = self._features.columns
        feature = columns[job.numbers[0][0]].feature
        with naming(feature, columns[job.numbers[0][0]].window):
            results = job.call.run()
        name = REGISTRY[feature.statistic].function.__name__
        if feature.statistic in POSITIONS and feature.parameters.get("relative_to", "data") == "data":
            for rows in map(np.ma.getdata, results):
                rows -= np.where(rows >= 0, self._own.starts, 0)
        missing: list[Any] = [None] * len(results)
        if not self._rows.implementation.is_pandas():
            missing = [self._put_mask(mask) for mask in missing_results(name, results, filled=False)]
            results = list(map(np.ma.getdata, results))
        numbers = (number for each in job.numbers for number in each)
        for number, result, mask in zip(numbers, results, missing):
            found[number] = result, mask, job.convert

    def _convert(self, found: list[Any], numbers: Sequence[int]) -> None:
        """Convert results, put in the order of the rows, to columns."""
        results, *others = zip(*(found[number] for number in numbers))
        placed = frames.put_several(list(results), self._own.results)
        for number, result, mask, convert in zip(numbers, placed, *others):
            name = self._features.columns[number].name
            found[number] = frames.series_of(convert(result, mask, name), name)

    def _put_mask(self, mask: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Return where results are missing, in the order of the rows: often as for other features."""
        for known, placed in list(self._masks):
            if np.array_equal(known, mask):
                return placed
        own: NDArray[np.bool_] = frames.put(mask, self._own.results)
        self._masks.append((mask, own))
        return own
