"""Windows within groups: ``data.rollstat.groupby(keys).rolling(window)``.

::

    keys --> pandas' groupby --> rows in the order of groups --> one call with segments --> pandas' index

pandas factorises the keys. The rows of each group are laid end to end, and the engine takes the groups as
segments. So windows never cross groups, and there is no loop over groups.
"""

from collections.abc import Callable
from typing import Any, ClassVar, NamedTuple, Unpack

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas.api import typing as pandas_types

import rollstat
from rollstat.pandas.calls import ColumnCall, RowWindows
from rollstat.pandas.exponential import NAMES, ExponentialMovingWindow
from rollstat.pandas.weighted import WeightedGroups
from rollstat.pandas.windows import (
    Expanding,
    Mixin,
    Rolling,
    WindowIndexer,
    WindowOptions,
    by_name,
    checked_options,
    hand_back,
    is_plainly_expanding,
    pandas_window,
    reject_options,
)

MANY_GROUPS = 10_000
OWN_ATTRIBUTES = ("_align_to", "_rows", "_times")

# pandas 3.1 writes "By".
BY = "By" if hasattr(pandas_types, "RollingGroupBy") else "by"
PandasRollingGroups: Any = getattr(pandas_types, f"RollingGroup{BY}")
PandasEwmGroups: Any = getattr(pandas_types, f"ExponentialMovingWindowGroup{BY}")
PandasExpandingGroups: Any = getattr(pandas_types, f"ExpandingGroup{BY}")


class GroupRows(NamedTuple):
    """The rows of all groups, one group after the other.

    Attributes
    ----------
    order : ndarray of intp, shape (rows,)
        The rows; those without a group are left out.
    offsets : ndarray of int64, shape (groups + 1,)
        Where each group starts in `order`, and its length.
    """

    order: NDArray[np.intp]
    offsets: NDArray[np.int64]

    @classmethod
    def of(cls, grouper: Any) -> "GroupRows":
        """Return the rows of the groups of a grouper of pandas, in the order of its results."""
        if _has_many_groups(grouper):
            from rollstat.sorting import order  # imports kernels

            ids = grouper.ids
            count = np.bincount(ids + 1)  # the first counts rows without a group
            return cls(order(ids)[count[0] :].astype(np.intp, copy=False), np.cumsum(count) - count[0])
        groups = list(grouper.indices.values()) or [np.empty(0)]
        offsets = np.cumsum([0, *map(len, groups)], dtype=np.int64)
        return cls(np.concatenate(groups).astype(np.intp, copy=False), offsets)

    @property
    def starts(self) -> NDArray[np.int64]:
        """The first row of the group of each row."""
        return np.repeat(self.offsets[:-1], np.diff(self.offsets))

    def ascending(self, times: NDArray[np.int64]) -> NDArray[np.int64] | None:
        """Return the times of these rows, negated where a group descends; None if a group is unordered."""
        times = times.take(self.order)
        start, end = self.offsets[:-1], self.offsets[1:]
        kept = start < end
        descending = np.zeros(len(start), np.bool_)
        descending[kept] = times[start[kept]] > times[end[kept] - 1]
        if descending.any():
            times = np.where(np.repeat(descending, end - start), -times, times)
        falls = np.flatnonzero(times[1:] < times[:-1]) + 1
        return times if np.isin(falls, start).all() else None


def _has_many_groups(grouper: Any) -> bool:
    """Return whether a grouper has so many groups that a dictionary of them costs more than a sort.

    Only where its groups come in the order of their numbers: not with bins, nor with one key of categories,
    nor before pandas 3.
    """
    if hasattr(grouper, "bins") or not hasattr(grouper, "ids"):
        return False
    groups = grouper.result_index
    return len(groups) > MANY_GROUPS and not isinstance(groups, pd.CategoricalIndex)


class Groups(Mixin):  # type: ignore[misc]  # Any as a base
    """What windows within groups share; listed before the base class of pandas."""

    # Objects for selected columns get all of these from `_attributes`.
    def __init__(
        self,
        *args: Any,
        _grouper: Any,
        _align_to: pd.Index | None = None,
        _rows: GroupRows | None = None,
        _times: NDArray[np.int64] | None = None,
        **kwargs: Any,
    ) -> None:
        self._align_to: Any = _align_to  # the index of the data if results have it
        self._rows = GroupRows.of(_grouper) if _rows is None else _rows
        self._times = _times  # of these rows, ascending in each group
        super().__init__(*args, _grouper=_grouper, **kwargs)

    def _row_windows(self) -> RowWindows | None:
        windows: RowWindows | None = super()._row_windows()
        if windows is None or isinstance(windows.window, tuple):  # the bounds of an indexer know the groups
            return windows
        windows.options["segments"] = self._rows.offsets
        if windows.labels is None:
            return windows
        if self._align_to is not None:
            raise ValueError("transform=True does not apply to at=, whose results belong to no rows")
        # The same times for each group.
        count, groups = len(windows.labels), len(self._rows.offsets) - 1
        labels = windows.labels.take(np.tile(np.arange(count), groups))
        windows.options.update(at=labels, at_segments=np.arange(groups + 1) * count)
        return windows._replace(labels=labels)

    def _create_data(self, obj: Any, numeric_only: bool = False) -> Any:
        """Return the columns to compute, their rows in the order of the groups."""
        return Rolling._create_data(self, obj.take(self._rows.order), numeric_only)

    def _apply(self, func: Any, name: str, numeric_only: bool = False, *args: Any, **kwargs: Any) -> Any:
        """Compute a :class:`ColumnCall`, and return its result with the index of groups and rows."""
        call = self._call_for(func, name)
        if call is None:
            result = super()._apply(func, name, numeric_only, *args, **kwargs)
            return result if self._align_to is None else self._aligned(result)
        return self._compute(call, name, numeric_only)

    def _compute(self, call: ColumnCall, name: str, numeric_only: bool) -> Any:
        """Compute a call, and return its result with the index of groups and rows."""
        second = {key: call.parameters[key] for key in ("other", "x") if key in call.parameters}
        for key, values in second.items():
            if values is not None and len(values) != len(self.obj):
                raise ValueError(
                    f"{key} must be as long as the data, {len(self.obj)}; got {len(values)} rows"
                )
        rows = {key: values[self._rows.order] for key, values in second.items() if values is not None}
        starts, labels = self._rows.starts, call.windows.labels
        if labels is not None:
            starts = np.repeat(self._rows.offsets[:-1], len(self._labels()))
        call = call._replace(parameters=call.parameters | rows, group_starts=starts)
        result = super()._compute(call, name, numeric_only)
        return self._indexed(result, labels) if self._align_to is None else self._aligned(result)

    def _indexed(self, result: Any, at: Any) -> Any:
        """Return results with the keys of their groups and the labels of their rows."""
        keys, labels = list(self._grouper.names), self.obj.index.names
        in_index = [key is not None and key in labels for key in keys]
        if any(in_index) and result.ndim == 2:
            columns = [key for key, found in zip(keys, in_index) if not found]
            result = result.drop(columns=columns, errors="ignore")
        result.index = self._index() if at is None else self._index_at(at)
        return result if self._as_index else result.reset_index(level=list(range(len(keys))))

    def _index(self) -> pd.MultiIndex:
        """Return the index of the keys of groups and the labels of rows."""
        order, index = self._rows.order, self.obj.index
        codes = [key.take(order) for key in self._grouper.codes]
        levels = list(self._grouper.levels)
        is_level = len(index) > 1 and index.is_unique and index.is_monotonic_increasing
        if isinstance(index, pd.MultiIndex) or not is_level:
            taken = index.take(order)
            labels = taken if isinstance(taken, pd.MultiIndex) else pd.MultiIndex.from_arrays([taken])
            codes += labels.codes
            levels += labels.levels
        else:  # it is its own level, and the rows are the codes
            codes.append(order)
            levels.append(index)
        names = [*self._grouper.names, *index.names]
        return pd.MultiIndex(levels, codes, names=names, verify_integrity=False)

    def _index_at(self, at: pd.Index) -> pd.MultiIndex:
        """Return the index of the keys of groups and the times of results in each."""
        first = np.repeat(self._rows.order[self._rows.offsets[:-1]], len(self._labels()))
        labels: Any = pd.MultiIndex.from_arrays([at])
        codes = [*(key.take(first) for key in self._grouper.codes), *labels.codes]
        names = [*self._grouper.names, *at.names]
        return pd.MultiIndex([*self._grouper.levels, *labels.levels], codes, names=names)

    def _aligned(self, result: Any) -> Any:
        """Return results in the order of the data, missing where a row has no group."""
        order = self._rows.order
        place = np.full(len(self.obj), -1, np.intp)
        place[order] = np.arange(len(order))
        result = result.reset_index(drop=True)
        result = result.take(place) if len(order) == len(place) else result.reindex(place)
        result.index = self._align_to.view()
        return result

    def _reject_transform(self, name: str) -> None:
        """Raise if results of pairs of columns are to have the rows of the data."""
        if self._align_to is not None:
            raise ValueError(
                f"transform=True does not apply to {name}, which returns several rows for each row"
            )

    def _pairwise(self, name: str, other: Any, pairwise: Any, ddof: Any, numeric_only: bool) -> Any:
        """Leave covariance and correlation to pandas."""
        self._reject_transform(name)
        hand_back(name, "windows within groups")
        return self._pandas(name)(other, pairwise, ddof, numeric_only)


def _checking(make: Callable[..., Any]) -> Callable[..., Any]:
    """Return what makes indexers of groups as `make` does, which raise if a bound lies outside of the group.

    pandas takes bounds as positions in the group, so a start of -1 would be its last row.
    """

    def made(*args: Any, **kwargs: Any) -> Any:
        indexer = make(*args, **kwargs)
        given = indexer.get_window_bounds

        def bounds(num_values: int, *options: Any) -> Any:
            found = given(num_values, *options)
            for name, places in zip(("start", "end"), map(np.asarray, found)):
                outside = (places < 0) | (places > num_values)
                if outside.any():
                    row = int(outside.argmax())
                    raise ValueError(
                        f"window {name} must lie in 0..{num_values} in a group of {num_values} rows; "
                        f"got {places[row]} at row {row}"
                    )
            return found

        indexer.get_window_bounds = bounds
        return indexer

    return made


class RollingGroupBy(Groups, PandasRollingGroups, Rolling):  # type: ignore[misc]  # a class found by name
    """Windows within groups, with pandas' parameters and methods, and a method for each statistic.

    ``data.rollstat.groupby(keys).rolling(window, ...)`` returns these windows.

    Examples
    --------
    >>> import pandas as pd, rollstat.pandas
    >>> frame = pd.DataFrame({"key": ["b", "a", "b", "a"], "x": [1.0, 2.0, 3.0, 5.0]})
    >>> frame.rollstat.groupby("key").rolling(2, min_periods=1).sum()["x"].to_dict()
    {('a', 1): 2.0, ('a', 3): 7.0, ('b', 0): 1.0, ('b', 2): 4.0}
    """

    _attributes: ClassVar[list[str]] = [*PandasRollingGroups._attributes, *OWN_ATTRIBUTES]

    def _row_windows(self) -> RowWindows | None:
        windows = super()._row_windows()
        if windows is not None and windows.labels is None and isinstance(self.window, WindowIndexer):
            windows = windows._replace(window=self._in_order(windows.window))
        if windows is not None and "times" in windows.options:
            times = windows.options["times"]
            times = times if isinstance(times, pd.Index) else np.asarray(times)
            windows.options["times"] = times.take(self._rows.order) if self._times is None else self._times
        return windows

    def _get_window_indexer(self) -> Any:
        indexer = super()._get_window_indexer()
        indexer.window_indexer = _checking(indexer.window_indexer)
        return indexer

    def _in_order(self, window: Any) -> Any:
        """Return a window whose sizes, if there is one for each row, have the order of the groups."""
        if isinstance(window, (rollstat.Around, rollstat.Forward)):
            return type(window)(*map(self._in_order, vars(window).values()))
        return np.asarray(window).take(self._rows.order) if np.ndim(window) == 1 else window

    def _validate_datetimelike_monotonic(self) -> None:
        if self._times is not None:
            return
        if self._on.hasnans:
            self._raise_monotonic_error("values must not have NaT")
        times = self._index_array
        if times is None:  # pandas takes data without values whose index holds no times
            times = pd.factorize(self._on, sort=True)[0]
        self._times = self._rows.ascending(times)
        if self._times is None:
            on = "index" if self.on is None else self.on
            raise ValueError(f"Each group within {on} must be monotonic. Sort the values in {on} first.")


class ExpandingGroupBy(Groups, PandasExpandingGroups, Expanding):  # type: ignore[misc]  # as above
    """Windows from the first row of each group on, with pandas' parameters and methods.

    ``data.rollstat.groupby(keys).expanding(...)`` returns these windows.

    Examples
    --------
    >>> import pandas as pd, rollstat.pandas
    >>> series = pd.Series([1.0, 2.0, 3.0, 5.0])
    >>> series.rollstat.groupby(["b", "a", "b", "a"]).expanding(transform=True).max().tolist()
    [1.0, 2.0, 3.0, 5.0]
    """

    _attributes: ClassVar[list[str]] = [*PandasExpandingGroups._attributes, *OWN_ATTRIBUTES]


class ExponentialMovingWindowGroupBy(Groups, PandasEwmGroups, ExponentialMovingWindow):  # type: ignore[misc]  # as above
    """Exponentially weighted windows within groups, with pandas' parameters and methods.

    ``data.rollstat.groupby(keys).ewm(...)`` returns these windows.

    Examples
    --------
    >>> import pandas as pd, rollstat.pandas
    >>> series = pd.Series([1.0, 2.0, 3.0, 5.0])
    >>> windows = series.rollstat.groupby(["b", "a", "b", "a"]).ewm(alpha=0.5, adjust=False, transform=True)
    >>> windows.mean().tolist()
    [1.0, 2.0, 2.0, 3.5]
    """

    _attributes: ClassVar[list[str]] = [*PandasEwmGroups._attributes, *OWN_ATTRIBUTES]

    def _row_windows(self) -> RowWindows | None:
        windows = super()._row_windows()
        if windows is not None and self.times is not None:
            windows.options["times"] = windows.options["times"].take(self._rows.order)
        return windows

    def _in_order(self) -> bool:
        deltas = np.insert(self._deltas, 0, 0.0)
        starts = self._rows.offsets[:-1]
        deltas[starts[starts < len(deltas)]] = 0.0
        return bool((deltas >= 0).all())

    def _reason_for_pairs(self, other: Any) -> str:
        return "windows within groups"

    def _pairs(self, name: str, *args: Any, **parameters: Any) -> Any:
        """Leave covariance and correlation to pandas."""
        self._reject_transform(name)
        return super()._pairs(name, *args, **parameters)


class GroupBy:
    """A pandas groupby whose windows rollstat computes.

    ``data.rollstat.groupby(keys, ...)`` returns it. All other methods are pandas' own.

    Parameters
    ----------
    groups : DataFrameGroupBy or SeriesGroupBy
        What :meth:`pandas.DataFrame.groupby` returns.

    Examples
    --------
    >>> import pandas as pd, rollstat.pandas
    >>> frame = pd.DataFrame({"key": ["b", "a", "b"], "x": [1.0, 2.0, 3.0], "y": [1.0, 2.0, 3.0]})
    >>> frame.rollstat.groupby("key")["x"].rolling(2, transform=True).mean().tolist()
    [nan, nan, 2.0]
    """

    def __init__(self, groups: Any) -> None:
        self._groups = groups

    def rolling(
        self,
        window: Any,
        min_periods: int | None = None,
        center: bool = False,
        win_type: str | None = None,
        on: Any = None,
        closed: Any = None,
        method: str = "single",
        *,
        transform: bool = False,
        **options: Unpack[WindowOptions],
    ) -> Any:
        """Return pandas' rolling windows within groups, computed by rollstat.

        Parameters
        ----------
        window, min_periods, center, win_type, on, closed, method
            As in :meth:`pandas.api.typing.DataFrameGroupBy.rolling`.
        transform : bool, default False
            Whether results have the index and order of the data instead of the groups. Rows without a group
            have a missing result.
        **options
            As in :func:`rollstat.pandas.rolling`.

        Returns
        -------
        RollingGroupBy or WeightedGroups
            The windows, for calls such as ``rolling(3).median()``.
        """
        given = checked_options("rolling", options)
        parameters = {"min_periods": min_periods, "center": center, "on": on, "closed": closed}
        parameters["method"] = method
        if win_type is not None:
            reject_options(win_type, given)
            parameters |= {"window": window, "min_periods": min_periods and max(min_periods, 1)}
            return WeightedGroups(self._windows(RollingGroupBy, parameters, given, transform), win_type)
        if is_plainly_expanding(window, parameters):
            least = 1 if min_periods is None else min_periods
            return self.expanding(least, method, transform=transform, **options)
        if isinstance(window, tuple) and len(window) == 2:
            raise TypeError(f"window must not be (start, end) within groups; got {window!r}")
        parameters["window"] = pandas_window(window, given)
        return self._windows(RollingGroupBy, parameters, given, transform)

    def expanding(
        self,
        min_periods: int = 1,
        method: str = "single",
        *,
        transform: bool = False,
        **options: Unpack[WindowOptions],
    ) -> Any:
        """Return pandas' expanding windows within groups, computed by rollstat.

        Parameters
        ----------
        min_periods, method
            As in :meth:`pandas.api.typing.DataFrameGroupBy.expanding`.
        transform : bool, default False
            As in :meth:`rolling`.
        **options
            As in :func:`rollstat.pandas.rolling`.

        Returns
        -------
        ExpandingGroupBy
            The windows, for calls such as ``expanding().median()``.
        """
        given = checked_options("expanding", options)
        parameters = {"min_periods": min_periods, "method": method}
        return self._windows(ExpandingGroupBy, parameters, given, transform)

    def ewm(self, *args: Any, transform: bool = False, inf: str = "value", **options: Any) -> Any:
        """Return pandas' exponentially weighted windows within groups, computed by rollstat.

        Parameters
        ----------
        *args, **options
            As in :meth:`pandas.api.typing.DataFrameGroupBy.ewm`.
        transform : bool, default False
            As in :meth:`rolling`.
        inf : {"value", "missing"}, default "value"
            Whether infinities are ordinary values, or missing values as in pandas.

        Returns
        -------
        ExponentialMovingWindowGroupBy
            The windows, for calls such as ``ewm(span=20).mean()``.
        """
        return self._windows(
            ExponentialMovingWindowGroupBy, by_name("ewm", NAMES, args, options), {"inf": inf}, transform
        )

    def _windows(self, cls: Any, parameters: dict[str, Any], options: dict[str, Any], transform: bool) -> Any:
        """Return window objects of a class."""
        data = self._groups._selected_obj
        own = {"_align_to": data.index if transform else None}
        if cls is RollingGroupBy:
            own["_as_index"] = self._groups.as_index or transform
        return cls(data, _grouper=self._groups._grouper, **own, **parameters)._with_options(options)

    def __getitem__(self, key: Any) -> "GroupBy":
        return GroupBy(self._groups[key])

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        found = getattr(self._groups, name)
        return (
            GroupBy(found)
            if isinstance(found, (pandas_types.DataFrameGroupBy, pandas_types.SeriesGroupBy))
            else found
        )

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *dir(self._groups)})

    def __iter__(self) -> Any:
        return iter(self._groups)

    def __len__(self) -> int:
        return len(self._groups)

    def __repr__(self) -> str:
        return f"GroupBy({self._groups!r})"
