"""The window objects: subclasses of pandas' classes.

::

    rolling(3).median() --> ColumnCall --> _apply --> arrays --> rollstat.rolling_median --> pandas' shape
                         or pandas' own method, where rollstat does not compute it

pandas checks the parameters, selects columns, iterates, and runs ``agg`` and ``apply``.
"""

import inspect
import numbers
import re
import warnings
from collections import Counter
from collections.abc import Sequence
from datetime import timedelta
from functools import cache, lru_cache
from types import MappingProxyType
from typing import Any, TypedDict

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas.api.indexers import BaseIndexer

import rollstat
from rollstat.calendar_units import is_calendar
from rollstat.columns import to_array
from rollstat.durations import ALLOWED, nanoseconds
from rollstat.names import nearest
from rollstat.pandas.calls import (
    LABELLED,
    STATISTICS,
    ColumnCall,
    NotNumbers,
    RowWindows,
    float_values,
    no_numbers,
    plain_series,
)
from rollstat.pandas.functions import apply_in_turn, apply_without_inf, known, policy_of
from rollstat.registry import REGISTRY
from rollstat.thresholds import COMPILED_APPLY_ROWS

# The stubs of pandas leave out the methods by which its classes call each other.
_PandasRolling: Any = pd.api.typing.Rolling
_PandasExpanding: Any = pd.api.typing.Expanding
_PandasWindows: Any = _PandasRolling.__base__  # the base class of both
Mixin: Any = object  # pandas supplies the other base classes
_FRAMES = pd.Series, pd.DataFrame
_INTERPOLATIONS = ("linear", "lower", "higher", "nearest", "midpoint")
_WIDTH = re.compile(r"[0-9.]*(?:ns|us|ms|s|min|h|D)")  # durations as pandas writes them
_RANK_METHODS = ("average", "min", "max", "dense", "first")
_PASSED_ON = ("nan_policy", "inf", "fill_value", "threads", "algorithm", "at", "equal_times")
# Statistics without parameters, by the names under which methods of pandas pass their kernels to `_apply`.
_KERNELS = ("sum", "mean", "median", "min", "max", "skew", "kurt", "first", "last", "nunique", "count")
_WITHOUT_PARAMETERS = {name for name in (*_KERNELS, "var", "std", "sem") if hasattr(_PandasRolling, name)}


_handed_back: Counter[tuple[str, str]] = Counter()
_warned: list[set[str]] = []


def handed_back(warn: bool | None = None) -> dict[tuple[str, str], int]:
    """Return how many accessor calls have fallen back to pandas, by method and reason.

    Calls with ``engine=`` are not counted.

    Parameters
    ----------
    warn : bool, optional
        Whether the next fallback for each reason issues a warning. Default: keep the current setting
        (initially False).

    Returns
    -------
    dict
        The number of calls for each pair of a method and a reason.

    Examples
    --------
    >>> import pandas as pd, rollstat.pandas
    >>> before = rollstat.pandas.handed_back()
    >>> _ = pd.Series([4.0, 1.0, 3.0]).rollstat.rolling(0).count()
    >>> {call for call, count in rollstat.pandas.handed_back().items() if count != before.get(call)}
    {('count', 'zero-length windows')}
    """
    if warn is not None:
        _warned[:] = [set()] if warn else []
    return dict(_handed_back)


def hand_back(method: str, reason: str) -> None:
    """Count a call that pandas computes, and warn if warnings are on."""
    _handed_back[method, reason] += 1
    for warned in _warned:
        if reason not in warned:
            warned.add(reason)
            warnings.warn(f"pandas computes {method}: {reason}", pd.errors.PerformanceWarning, stacklevel=3)


class WindowOptions(TypedDict, total=False):
    """Options of the window objects that pandas does not have."""

    keep_dtype: bool
    nan_policy: str
    inf: str
    fill_value: Any
    times: Any
    at: Any
    equal_times: str
    threads: int | str | None
    algorithm: str


def checked_options(method: str, options: Any) -> dict[str, Any]:
    """Return the options that pandas does not have; raise TypeError if `method` does not know one."""
    own = WindowOptions.__annotations__
    unknown = options and sorted(options.keys() - own.keys())
    if unknown:
        of_pandas = {"min_periods", "center", "on", "closed", "step"} - {unknown[0]}
        meant = nearest(unknown[0], list(own), of_pandas)
        hint = f"in addition to those of pandas 3, the options are {', '.join(own)}"
        raise TypeError(
            f"{method}() got an unexpected keyword argument {unknown[0]!r}; "
            f"{f'did you mean {meant}?' if meant else hint}"
            f"{'; transpose the frame instead' * (unknown[0] == 'axis')}"
        )
    return options  # type: ignore[no-any-return]  # the method has collected them


def by_name(
    method: str, names: Sequence[str], args: tuple[Any, ...], options: dict[str, Any]
) -> dict[str, Any]:
    """Return all arguments by name; `names` are the names of the positional arguments."""
    if len(args) > len(names):
        raise TypeError(f"{method} takes at most {len(names)} arguments by position; got {len(args)}")
    given = dict(zip(names, args))
    if twice := given.keys() & options.keys():
        raise TypeError(f"{method} got multiple values for argument {min(twice)!r}")
    return given | options


def reject_options(win_type: Any, options: Any) -> None:
    """Raise if options are given that the weighted windows of pandas do not have."""
    if options:
        raise ValueError(
            f"{min(options)} does not apply to win_type={win_type!r}, whose windows pandas computes; "
            f"got {options[min(options)]!r}"
        )


class WindowIndexer(BaseIndexer):
    """A window of rollstat that pandas does not have, in the form that pandas takes.

    Parameters
    ----------
    window
        Any window of rollstat's functions.
    times : array_like, optional
        The time of each row. Default: the index or the column of times, where the window needs one.
    """

    def __init__(self, window: Any, times: Any = None) -> None:
        rows = getattr(window, "m", 1)
        super().__init__(window_size=rows if isinstance(rows, int) else 1)
        self.window = window
        self.times = times

    def times_for(self, on: Any, asked: bool) -> Any:
        """Return the times of the rows, whose index or column of times is `on`, or None.

        They are `asked` for, or the window has a width in time.
        """
        sizes = vars(self.window).values() if _is_named(self.window) else [self.window]
        if self.times is not None or not (asked or any(map(_is_width, sizes))):
            return self.times
        if getattr(on.dtype, "kind", "") not in "mM":
            raise ValueError(f"window {self.window!r} needs an index of times, on= or times=; got {on.dtype}")
        return on

    def __repr__(self) -> str:
        return "(start, end)" if isinstance(self.window, tuple) else repr(self.window)

    def get_window_bounds(
        self,
        num_values: int = 0,
        min_periods: int | None = None,
        center: bool | None = None,
        closed: str | None = None,
        step: int | None = None,
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the start and the end of the window of each row."""
        from rollstat.options import Options  # imports kernels

        given: dict[str, Any] = {"center": bool(center), "closed": closed, "step": step, "times": self.times}
        windows = Options.check(**given).windows(self.window, np.array([0, num_values], np.int64))
        return windows.bounds(0, windows.rows)


def _is_named(window: Any) -> bool:
    """Return whether a window is Forward, Around or Expanding, whose module imports kernels."""
    return type(window).__module__ == "rollstat.windows"


def _is_width(size: Any) -> bool:
    """Return whether a size, or sizes of all rows, are widths in time."""
    if isinstance(size, list):
        size = np.asarray(size)
    widths = (str, timedelta, np.timedelta64, pd.offsets.BaseOffset)
    return isinstance(size, widths) or getattr(getattr(size, "dtype", None), "kind", "") == "m"


def pandas_window(window: Any, options: dict[str, Any], step: Any = None) -> Any:
    """Return a window in a form that pandas takes; move `times` from the options into it."""
    if type(window) is int and not options:
        return window
    times = options.pop("times", None) if options else None
    is_pair = isinstance(window, tuple) and len(window) == 2
    own = is_pair or _is_named(window) or isinstance(window, (list, np.ndarray, pd.Series, pd.Index))
    own = own or times is not None or (bool(options) and options.get("at") is not None)
    if own or is_calendar(window) or (step not in (None, 1) and _is_width(window)):
        return WindowIndexer(window, times)
    if isinstance(window, np.timedelta64):
        return pd.Timedelta(window)
    return _known_width(window) if type(window) is str and not _WIDTH.fullmatch(window) else window


def is_plainly_expanding(window: Any, parameters: dict[str, Any]) -> bool:
    """Return whether arguments of ``rolling`` mean expanding windows as pandas has them."""
    if not (_is_named(window) and isinstance(window, rollstat.Expanding)):
        return False
    return not any(parameters.get(name) for name in ("center", "closed", "on", "step"))


def _known_width(window: str) -> Any:
    """Return a duration that pandas does not read as one that it takes, and other text as it is."""
    length = nanoseconds(window)
    return window if length is None or length.denominator != 1 else pd.Timedelta(int(length), "ns")


def _is_count(ddof: Any) -> bool:
    """Return whether rollstat's functions take `ddof`."""
    return type(ddof) is int and ddof >= 0


def _bounds(indexer: Any, window: Any) -> tuple[NDArray[np.int64], NDArray[np.int64]] | None:
    """Return the bounds that an indexer of pandas gives a window object; None if there are none."""
    rows = len(window.obj) if window._rows is None else len(window._rows.order)
    start, end = indexer.get_window_bounds(
        num_values=rows,
        min_periods=indexer.window_size if window.min_periods is None else window.min_periods,
        center=window.center,
        closed=window.closed,
        step=window.step,
    )
    window._check_window_bounds(start, end, rows)
    start, end = np.asarray(start), np.asarray(end)
    if not len(start) or start.dtype.kind not in "iu" or end.dtype.kind not in "iu":
        return None
    return start, np.maximum(start, end)  # some empty windows of pandas' indexers start after their end


@cache
def all_rows() -> Any:
    """Return the window of all rows up to each one, whose module imports kernels."""
    return rollstat.Expanding()


_CHECKED = ("window", "min_periods", "center", "closed", "step", "method")


@lru_cache(maxsize=256, typed=True)
def _accepted(unit: str | None, *values: Any) -> tuple[int | None, Any] | None:
    """Return the width and `min_periods` that pandas reads from a window; None where it warns or raises.

    The index has times of this unit, or none; `values` are the values of the parameters in `_CHECKED`.
    """
    one: Any = pd.Series(0.0, None if unit is None else np.zeros(1, f"M8[{unit}]"))
    with warnings.catch_warnings(action="error"):
        try:
            windows = one.rolling(**dict(zip(_CHECKED, values)))
        except Exception:
            return None
    return windows._win_freq_i8, windows.min_periods


class Columns(Mixin):  # type: ignore[misc]  # as above
    """Results of a :class:`ColumnCall` in the shape of pandas; a base class before one of pandas."""

    _options: Any = MappingProxyType({})
    prefix = ""
    _rows: Any = None  # of groups

    def _with_options(self, options: Any) -> Any:
        """Set the options that pandas does not have, and return the windows."""
        self._options = options
        return self

    def _gotitem(self, *args: Any, **kwargs: Any) -> Any:
        """Return the windows of selected columns."""
        return super()._gotitem(*args, **kwargs)._with_options(self._options)

    def _call_of(self, name: str, parameters: dict[str, Any]) -> ColumnCall | None:
        """Return the call of a statistic; None where pandas computes it."""
        raise NotImplementedError  # every class has its own

    def _reason(self) -> str:
        """Return why pandas computes windows that `_call_of` does not return."""
        raise NotImplementedError  # every class has its own

    def _replaces(self, func: Any, name: str) -> bool:
        """Return whether a statistic has the results of a kernel of pandas."""
        return name in _KERNELS

    def _call_for(self, func: Any, name: str) -> ColumnCall | None:
        """Return what computes a result in place of a kernel of pandas; None where pandas computes."""
        if type(func) is ColumnCall:
            return func
        return self._call_of(name, {}) if self._replaces(func, name) else None

    def _pandas(self, name: str) -> Any:
        """Return the method of pandas' class."""
        return getattr(super(), name)

    def _apply(
        self,
        func: Any,
        name: str,
        numeric_only: bool = False,
        numba_args: tuple[Any, ...] = (),
        **kwargs: Any,
    ) -> Any:
        """Compute a :class:`ColumnCall`, and the kernels of pandas for which there is one."""
        call = self._call_for(func, name)
        if call is not None:
            return self._compute(call, name, numeric_only)
        if self._replaces(func, name):
            hand_back(f"{self.prefix}{name}", self._reason())
        return self._pandas("_apply")(func, name, numeric_only, numba_args, **kwargs)

    def explanation(self, method: Any, *args: Any, **options: Any) -> Any:
        """Return what a call of a method of these windows would do, as :func:`rollstat.explain` does."""
        from rollstat.explanation import explain, explain_other  # imports kernels

        if method.__name__ == "aggregate":
            name, *others = *args, *options.values()
            if others or not isinstance(name, str):
                raise TypeError(f"func must be the name of one method to be explained; got {name!r}")
            return self.explanation(getattr(self, name))
        given = inspect.signature(method).bind(*args, **options).arguments
        of_pandas = ("numeric_only", "engine", "engine_kwargs")
        parameters = {name: value for name, value in given.items() if name not in of_pandas}
        name, data = STATISTICS.get(method.__name__, method.__name__), self._selected_obj
        if given.get("engine"):
            return explain_other(name, "pandas", "its engine is named", len(data))
        if name == "apply":
            call, reason = self._call_of_function(**parameters)
            if reason:
                by = "pandas" if call is None else "Python" if call.name == name else "rollstat"
                return explain_other(name, by, reason, len(data))
        else:
            call = self._call_of(name, parameters)
        if call is None:
            return explain_other(name, "pandas", self._reason(), len(data))
        column = data if data.ndim == 1 else data.iloc[:, 0]
        return explain(
            REGISTRY[LABELLED.get(call.name, call.name)].function,
            to_array(column) if call.keep_dtype else float_values(column),
            window=call.windows.window,
            **call.windows.options,
            **call.parameters,
        )

    def _compute(self, call: ColumnCall, name: str, numeric_only: bool) -> Any:
        """Return the result of a call for all columns."""
        if numeric_only:
            self._validate_numeric_only(name, numeric_only)
        # `_selected_obj` is the data too, but pandas takes long to find it.
        obj = self._create_data(self.obj if self._selection is None else self._selected_obj, numeric_only)
        if obj.ndim == 1:
            try:
                return call.column(obj)
            except NotNumbers as error:
                raise no_numbers("No numeric types to aggregate", call.name) from error
        if call.observed:
            obj = obj.notna().astype(np.float64)
        if call.together:
            return call.frame(obj)
        if obj.shape[1] == 0:
            return self._resolve_output(obj.iloc[:: call.windows.step].astype(np.float64), obj)
        result = call.table(obj)
        if result is None:
            result = self._by_column(call, obj)
        complete = result.columns.nlevels > obj.columns.nlevels or call.windows.labels is not None
        return result if complete else self._resolve_output(result, obj)

    def _of_pairs(self, call: ColumnCall, name: str, other: Any, pairwise: Any, numeric_only: bool) -> Any:
        """Return the result of a call for pairs of columns."""

        def pair(one: Any, two: Any) -> Any:
            try:
                values = float_values(one), float_values(two)
            except NotNumbers:
                values = self._prep_values(one), self._prep_values(two)
            found = call.compute(values[0], other=values[1])
            return plain_series(found, one.index, one.name)  # not of a subclass, as in pandas

        self._validate_numeric_only(name, numeric_only)
        return self._apply_pairwise(self._selected_obj, other, pairwise, pair, numeric_only)

    def _by_column(self, call: ColumnCall, frame: Any) -> Any:
        """Return a statistic of a DataFrame, column by column."""
        columns = []
        for i in range(frame.shape[1]):
            column = frame.iloc[:, i]
            try:
                columns.append(call.column(column))
            except NotNumbers as error:
                found = no_numbers(f"Cannot aggregate non-numeric type: {column.dtype}", call.name)
                found.add_note("numeric_only=True skips such columns")
                raise found from error
        if columns[0].ndim == 2:
            names = [*frame.columns.names, *columns[0].columns.names]
            return pd.concat(columns, axis=1, keys=list(frame.columns), names=names)
        result = frame._constructor(dict(enumerate(columns)), index=columns[0].index)
        result.columns = frame.columns.view()
        return result


class Windows(Columns, _PandasWindows):  # type: ignore[misc]  # Any as a base, see above
    """What rolling and expanding windows share; listed before the base class of pandas."""

    def _row_windows(self) -> RowWindows | None:
        """Return the windows for rollstat's functions; None where pandas must compute."""
        raise NotImplementedError  # every class has its own

    def _common_options(self) -> dict[str, Any]:
        """Return a new dictionary of the options that rollstat's functions take and pandas does not have."""
        options = self._options
        return {name: options[name] for name in _PASSED_ON if name in options} if options else {}

    def _labels(self) -> Any:
        """Return the labels of results at times of their own, or None."""
        at = self._options.get("at")
        return None if at is None else at if isinstance(at, pd.Index) else pd.Index(at)

    def _windows_for(self, engine: Any = None) -> Any:
        """Return the windows if rollstat computes the call, else None."""
        if engine not in (None, "cython") or self.method != "single":
            return None
        try:
            return self._row_windows()
        except Exception:
            window = getattr(self, "window", None)
            if not isinstance(window, BaseIndexer) or isinstance(window, WindowIndexer):
                raise
            return None  # pandas asks the indexer after its own checks, and not for data without values

    def _reason(self) -> str:
        """Return why pandas computes windows that `_windows_for` does not return."""
        if self.method != "single":
            return f"method={self.method!r}"
        return "zero-length windows"

    def _pandas(self, name: str) -> Any:
        """Return the method of pandas' class."""
        if name != "aggregate":
            self._reject_at()
        return super()._pandas(name)

    def _reject_at(self) -> None:
        """Raise if results at other times are asked for, which pandas does not compute."""
        if self._options.get("at") is not None:
            raise ValueError(f"at does not apply to calls that pandas computes; got {self!r}")

    def _numba_apply(self, *args: Any, **kwargs: Any) -> Any:
        """Return what pandas computes with its engine."""
        self._reject_at()
        return super()._numba_apply(*args, **kwargs)

    def _statistic(
        self,
        name: str,
        numeric_only: bool,
        parameters: dict[str, Any],
        accepted: bool = True,
        engine: str | None = None,
        engine_kwargs: dict[str, bool] | None = None,
    ) -> Any:
        """Return a statistic that pandas has too; pandas computes where rollstat does not.

        `accepted` says whether rollstat's function takes the parameters.
        """
        windows = self._windows_for(engine) if accepted else None
        if windows is None:
            if engine is None:
                hand_back(name, self._reason() if accepted else "its parameters")
            engines = {"engine": engine, "engine_kwargs": engine_kwargs}
            parameters |= {key: value for key, value in engines.items() if value is not None}
            return self._pandas(name)(**parameters, numeric_only=numeric_only)
        return self._apply(self._call(name, windows, parameters), name, numeric_only)

    def _call_of(self, name: str, parameters: dict[str, Any]) -> ColumnCall | None:
        """Return the call of a statistic; None where pandas computes it."""
        windows = self._windows_for()
        if windows is None or hasattr(_PandasRolling, name):
            return None if windows is None else self._call(name, windows, parameters)
        return ColumnCall(name, windows, parameters, True)

    def _call(self, name: str, windows: RowWindows, parameters: dict[str, Any]) -> ColumnCall:
        """Return the call of a statistic that pandas has too."""
        if name == "count":
            return ColumnCall("sum", windows, {}, observed=True)
        return ColumnCall(name, windows, parameters, bool(self._options.get("keep_dtype", False)))

    def _own_statistic(self, name: str, parameters: dict[str, Any], numeric_only: bool = False) -> Any:
        """Return a statistic that pandas does not have; columns keep their kind."""
        windows = self._row_windows() if self.method == "single" else None
        if windows is None:
            raise ValueError(f"{name} takes windows of at least one row, and method='single'; got {self!r}")
        for other in {"other", "x"} & parameters.keys():
            series = parameters[other]
            if isinstance(series, pd.DataFrame):
                raise TypeError(f"{other} must be a Series or an array; got a DataFrame")
            if isinstance(series, pd.Series):
                if not series.index.equals(self.obj.index):
                    series = series.reindex(self.obj.index)
                parameters[other] = to_array(series)
            elif series is not None and not hasattr(series, "dtype"):
                parameters[other] = np.asarray(series)
        return self._apply(ColumnCall(name, windows, parameters, True), name, numeric_only)

    def var(
        self,
        ddof: int = 1,
        numeric_only: bool = False,
        engine: str | None = None,
        engine_kwargs: dict[str, bool] | None = None,
    ) -> Any:
        """Return pandas' variance of each window.

        Parameters
        ----------
        ddof : int, default 1
            The divisor is the number of observations minus `ddof`.
        numeric_only : bool, default False
            Skip DataFrame columns that are not numeric.
        engine : str, optional
            With ``"numba"``, pandas computes the result.
        engine_kwargs : dict, optional
            Options of pandas' engine.

        Returns
        -------
        Series or DataFrame
            As pandas returns it.
        """
        return self._statistic("var", numeric_only, {"ddof": ddof}, _is_count(ddof), engine, engine_kwargs)

    def std(
        self,
        ddof: int = 1,
        numeric_only: bool = False,
        engine: str | None = None,
        engine_kwargs: dict[str, bool] | None = None,
    ) -> Any:
        """Return pandas' standard deviation of each window.

        Parameters
        ----------
        ddof, numeric_only, engine, engine_kwargs
            As in `var`.

        Returns
        -------
        Series or DataFrame
            As pandas returns it.
        """
        return self._statistic("std", numeric_only, {"ddof": ddof}, _is_count(ddof), engine, engine_kwargs)

    def sem(self, ddof: int = 1, numeric_only: bool = False) -> Any:
        """Return pandas' standard error of the mean of each window.

        Parameters
        ----------
        ddof, numeric_only
            As in `var`.

        Returns
        -------
        Series or DataFrame
            As pandas returns it.
        """
        return self._statistic("sem", numeric_only, {"ddof": ddof}, _is_count(ddof))

    def quantile(self, q: Any, interpolation: str = "linear", numeric_only: bool = False) -> Any:
        """Return pandas' quantile of each window, or several.

        Parameters
        ----------
        q : float or list of float
            Which quantile, from 0 to 1. A list returns a column for each.
        interpolation : {"linear", "lower", "higher", "nearest", "midpoint"}
            How to compute a quantile that lies between two observations.
        numeric_only : bool, default False
            Skip DataFrame columns that are not numeric.

        Returns
        -------
        Series or DataFrame
            As pandas returns it.
        """
        if isinstance(q, (pd.Series, pd.Index)):
            q = q.to_numpy()
        several = isinstance(q, (list, tuple)) or (isinstance(q, np.ndarray) and q.ndim > 0)
        is_number = isinstance(q, numbers.Real) and not isinstance(q, (bool, np.bool_))
        in_range = several or (is_number and 0 <= float(q) <= 1)
        parameters = {"q": q, "interpolation": interpolation}
        accepted = in_range and interpolation in _INTERPOLATIONS
        return self._statistic("quantile", numeric_only, parameters, accepted=accepted)

    def rank(
        self, method: str = "average", ascending: bool = True, pct: bool = False, numeric_only: bool = False
    ) -> Any:
        """Return pandas' rank of the newest value of each window.

        Parameters
        ----------
        method : {"average", "min", "max", "dense", "first"}
            Rank of equal values. pandas has only the first three.
        ascending : bool, default True
            Whether the smallest value has the first rank.
        pct : bool, default False
            Whether to divide the ranks by the number of observations.
        numeric_only : bool, default False
            Skip DataFrame columns that are not numeric.

        Returns
        -------
        Series or DataFrame
            As pandas returns it.
        """
        parameters = {"method": method, "ascending": bool(ascending), "pct": bool(pct)}
        return self._statistic("rank", numeric_only, parameters, accepted=method in _RANK_METHODS)

    def cov(
        self, other: Any = None, pairwise: bool | None = None, ddof: int = 1, numeric_only: bool = False
    ) -> Any:
        """Return pandas' covariance with other columns.

        Parameters
        ----------
        other : Series or DataFrame, optional
            The other columns. Default: the columns of the data.
        pairwise : bool, optional
            Whether to combine all columns, not only columns with the same name.
        ddof : int, default 1
            The divisor is the number of observations minus `ddof`.
        numeric_only : bool, default False
            Skip DataFrame columns that are not numeric.

        Returns
        -------
        Series or DataFrame
            As pandas returns it.
        """
        return self._pairwise("cov", other, pairwise, ddof, numeric_only)

    def corr(
        self, other: Any = None, pairwise: bool | None = None, ddof: int = 1, numeric_only: bool = False
    ) -> Any:
        """Return pandas' correlation with other columns.

        Parameters
        ----------
        other, pairwise, ddof, numeric_only
            As in `cov`. A correlation does not depend on `ddof`.

        Returns
        -------
        Series or DataFrame
            As pandas returns it.
        """
        return self._pairwise("corr", other, pairwise, ddof, numeric_only)

    def _pairwise(self, name: str, other: Any, pairwise: Any, ddof: Any, numeric_only: bool) -> Any:
        """Return a statistic of pairs of columns; pandas computes where rollstat does not."""
        accepted = self.step is None and self._labels() is None and (name == "corr" or _is_count(ddof))
        windows = self._windows_for() if accepted else None
        if windows is not None and other is not None:
            in_time = self._win_freq_i8 is not None or "times" in windows.options
            by_rows = isinstance(windows.window, (int, float)) and not in_time
            if not by_rows and not self.obj.index.equals(getattr(other, "index", None)):
                windows = None  # windows of the union of both indexes
        if windows is None:
            hand_back(name, "its parameters or windows")
            return self._pandas(name)(other, pairwise, ddof, numeric_only)
        call = ColumnCall(name, windows, {"ddof": ddof} if name == "cov" else {})
        return self._of_pairs(call, name, other, pairwise, numeric_only)

    def apply(
        self,
        func: Any,
        raw: bool = False,
        engine: str | None = None,
        engine_kwargs: dict[str, bool] | None = None,
        args: tuple[Any, ...] | None = None,
        kwargs: dict[str, Any] | None = None,
        *,
        columns: Any = None,
    ) -> Any:
        """Return the results of a function for each window, like pandas.

        rollstat computes these functions as statistics: ``len``, the built-in ``sum``, ``min`` and ``max``,
        `numpy.sum`, `mean`, `median`, `min`, `max`, `std`, `var`, their `nan` versions, `numpy.ptp`, `any`,
        `all`, `count_nonzero`, `argmin` and `argmax`, `pandas.Series.nunique`, and `scipy.stats.skew` and
        `kurtosis`. Numba compiles other functions that take arrays; see :func:`rollstat.rolling_apply`.
        Python calls functions that Numba cannot compile. For fewer than 20,000 windows, Python calls every
        other function, because compilation would take longer.

        Parameters
        ----------
        func : callable
            Takes the values of a window. With ``nan_policy="omit"``, these are the observations.
        raw : bool, default False
            Whether the function takes arrays. If it takes Series, pandas calls it.
        engine, engine_kwargs
            With ``engine="numba"``, pandas computes the result.
        args : tuple, optional
            Further positional arguments of the function.
        kwargs : dict, optional
            Further keyword arguments of the function.
        columns : list, optional
            Columns that the function takes together, as one array each; inf remains inf. pandas lacks this
            parameter.

        Returns
        -------
        Series or DataFrame
            As pandas returns it. With `columns` a Series, or a DataFrame if the function returns a tuple.
        """
        call, reason = self._call_of_function(func, raw, engine, engine_kwargs, args, kwargs, columns)
        if call is not None:
            return (self if columns is None else self[list(columns)])._apply(call, "apply")
        if engine is None:
            hand_back("apply", reason)
        return self._pandas("apply")(func, raw, engine, engine_kwargs, args, kwargs)

    def _call_of_function(
        self,
        func: Any,
        raw: bool = False,
        engine: str | None = None,
        engine_kwargs: Any = None,
        args: Any = None,
        kwargs: Any = None,
        columns: Any = None,
    ) -> tuple[ColumnCall | None, str]:
        """Return the call of a function, None where pandas makes it, and why rollstat does not compile it."""
        windows = self._windows_for(engine) if raw is True or columns is not None else None
        if columns is not None and windows is None:
            raise ValueError(f"columns needs windows that rollstat computes; got {self!r}, engine={engine!r}")
        plain = not any((engine, engine_kwargs, args, kwargs, self._options, columns)) and type(raw) is bool
        call = self._known(func, raw) if plain else None
        if call is not None:
            return call, "rollstat has a statistic for it"
        if windows is None:
            return None, self._reason() if raw is True else "a function that takes a Series"
        parameters = {"function": func, "args": args or (), "kwargs": kwargs}
        if not self._options and columns is None:
            reason = self._reason_for_function(func, args or (), kwargs)
            if reason and "segments" in windows.options:
                return None, reason
            if reason:
                return ColumnCall("apply", windows, parameters, function=apply_in_turn), reason
        parameters["with_missing"] = "nan_policy" not in self._options
        if columns is not None:
            return ColumnCall("apply", windows, parameters, True, together=True), ""
        return ColumnCall("apply", windows, parameters, function=apply_without_inf), ""

    def _reason_for_function(self, function: Any, args: Any, kwargs: Any) -> str:
        """Return why Python calls a function that takes arrays; empty if it is compiled."""
        if len(self.obj) < COMPILED_APPLY_ROWS:
            return f"fewer than {COMPILED_APPLY_ROWS:,} windows"
        from rollstat.statistics.aggregate.computation import is_compilable  # imports kernels

        return "" if is_compilable(function, args, kwargs) else "a function that Numba does not compile"

    def idxmin(self, numeric_only: bool = False) -> Any:
        """Return the label of the row with the first minimum of each window.

        Parameters
        ----------
        numeric_only : bool, default False
            Skip DataFrame columns that are not numeric.

        Returns
        -------
        Series or DataFrame
            Labels of the index, missing where there are too few observations; ``argmin`` returns positions.
        """
        return self._own_statistic("idxmin", {}, numeric_only)

    def idxmax(self, numeric_only: bool = False) -> Any:
        """Return the label of the row with the first maximum of each window, like :meth:`idxmin`."""
        return self._own_statistic("idxmax", {}, numeric_only)

    def regression(self, y: Any, x: Any, intercept: bool = True, weights: Any = None) -> Any:
        """Fit one column to others by least squares; see :func:`rollstat.rolling_regression`.

        Parameters
        ----------
        y, x : label, list of labels
            The column of the response, and the column or columns of the regressors.
        intercept : bool, default True
            Whether the fit includes a constant.
        weights : label, optional
            The column of the weights.

        Returns
        -------
        DataFrame
            Coefficients under the names of the regressors and ``intercept``, their standard errors with
            ``_error`` appended to these names, ``determination``, ``residual`` and ``prediction``.
        """
        windows = self._windows_for()
        if windows is None:
            raise ValueError(f"regression needs windows that rollstat computes; got {self!r}")
        columns = [y, *(x if isinstance(x, (list, tuple, pd.Index)) else [x])]
        columns += [] if weights is None else [weights]
        parameters = {"intercept": intercept, "weights": weights}
        call = ColumnCall("regression", windows, parameters, True, together=True)
        return self[columns]._apply(call, "regression")

    def _known(self, func: Any, raw: bool) -> ColumnCall | None:
        """Return the call of a function that rollstat knows; None where pandas calls it for each window."""
        own, entry = isinstance(getattr(self, "window", None), WindowIndexer), known(func)
        if entry is None:
            return None
        windows = (None if own else self._windows_for()) or RowWindows(0, {})
        window, options = windows[:2]
        least = options.get("min_periods", window)
        fixed = type(window) is int and not {"times", "closed"} & options.keys() and least >= window
        try:
            values = self._create_data(self._selected_obj).to_numpy(np.float64, na_value=np.nan)
            policy = policy_of(entry, raw, values, least * fixed) if least else None
        except (TypeError, ValueError):  # no numbers
            policy = None
        if policy is None:
            return None
        options["nan_policy"] = policy
        return ColumnCall("sum", windows, {}, function=entry.function)

    def aggregate(self, func: Any = None, *args: Any, **kwargs: Any) -> Any:
        """Return what :meth:`pandas.api.typing.Rolling.aggregate` returns."""
        if hasattr(func, "combine") and not isinstance(func, (pd.Series, pd.DataFrame)):
            raise TypeError(f"func must be a function, a name, a list or a dict; combine takes {func!r}")
        found = None if args or kwargs else self._side_by_side(func)
        return self._pandas("aggregate")(func, *args, **kwargs) if found is None else found

    agg = aggregate

    def _side_by_side(self, names: Any) -> Any:
        """Return statistics of all columns by their names; None where pandas puts results together.

        pandas computes each statistic of each column by itself, and joins all of these Series.
        """
        data = self.obj
        plain = type(names) is list and type(data) in (pd.Series, pd.DataFrame) and not self._options
        if not plain or not names or not (self.on is self._selection is self._rows is None):
            return None
        columns: Any = getattr(data, "columns", pd.Index([0]))
        labels = set(map(str, names))
        of_numbers = {getattr(block.dtype, "kind", "O") for block in data._mgr.blocks} <= set("fiub")
        if not of_numbers or columns.nlevels > 1 or not columns.is_unique or len(columns) == 0:
            return None
        if len(labels) < len(names) or not labels <= _WITHOUT_PARAMETERS or self._windows_for() is None:
            return None
        results = [getattr(self, name)() for name in names]
        values = np.empty((len(columns), len(names), len(results[0])))
        for i, result in enumerate(results):
            values[:, i] = result.to_numpy().T
        joined: Any = pd.Index(names)
        if data.ndim == 2:
            codes: Any = np.divmod(np.arange(len(columns) * len(names)), len(names))
            joined = pd.MultiIndex([columns, joined], codes, names=[columns.name, None])
        rows = values.reshape(len(columns) * len(names), len(results[0])).T
        return pd.DataFrame(rows, index=results[0].index, columns=joined, copy=False)


class Rolling(Windows, _PandasRolling):  # type: ignore[misc]  # Any as a base, see above
    """Windows over a Series or DataFrame, with pandas' methods and a method for each statistic.

    ``series.rollstat.rolling(window, ...)`` and :func:`rollstat.pandas.rolling` return these windows.

    Examples
    --------
    >>> import pandas as pd, rollstat.pandas
    >>> pd.Series([4.0, 1.0, 3.0, 2.0]).rollstat.rolling(3).kth(2).tolist()
    [nan, nan, 3.0, 2.0]
    """

    min_periods: Any
    _win_freq_i8: Any

    def _validate(self) -> None:
        """Check the parameters as pandas does, but check those that do not depend on the data only once."""
        window = self.window
        in_time = type(window) is str and type(self._on) in (pd.DatetimeIndex, pd.TimedeltaIndex)
        usual = (in_time or type(window) is int) and isinstance(self.obj, _FRAMES)
        unit = self._on.unit if in_time else None
        given = window, self.min_periods, self.center, self.closed, self.step, self.method
        try:
            accepted = _accepted(unit, *given) if usual else None
        except TypeError:  # a parameter without a hash
            accepted = None
        if accepted is None:
            try:
                super()._validate()
            except ValueError as error:
                if isinstance(window, str):
                    error.add_note(f"window may be {ALLOWED}; got {window!r}")
                raise
            return
        if in_time:
            self._validate_datetimelike_monotonic()
        self._win_freq_i8, self.min_periods = accepted

    def _row_windows(self) -> RowWindows | None:
        window, options = self.window, self._common_options()
        if self.min_periods is not None:
            options["min_periods"] = int(self.min_periods)
        if self.step is not None and self.step != 1:
            if self.step == 0:
                return None
            options["step"] = int(self.step)
        if self._win_freq_i8 is not None:
            times, window = self._index_array, int(self._win_freq_i8)
            if window <= 0 or (times is not None and len(times) != len(self.obj)):
                return None
            options["times"] = np.empty(0, np.int64) if times is None else times
        elif isinstance(window, BaseIndexer) and not isinstance(window, WindowIndexer):
            bounds = _bounds(self._get_window_indexer(), self)
            options.setdefault("min_periods", getattr(window, "window_size", 0))
            options.pop("step", None)
            return None if bounds is None else RowWindows(bounds, options, self.step)
        elif isinstance(window, WindowIndexer):
            times = window.times_for(self._on, "at" in options or "equal_times" in options)
            if times is not None:
                options["times"] = times
            window = window.window
        elif window == 0:
            return None
        else:
            window = int(window)
        if self.center:
            options["center"] = True
        if self.closed is not None:
            options["closed"] = self.closed
        return RowWindows(window, options, self.step, self._labels() if self._options else None)


class Expanding(Windows, _PandasExpanding):  # type: ignore[misc]  # Any as a base, see above
    """Windows from the first row on, with pandas' methods and a method for each statistic.

    ``series.rollstat.expanding(...)`` and :func:`rollstat.pandas.expanding` return these windows.

    Examples
    --------
    >>> import pandas as pd, rollstat.pandas
    >>> pd.Series([4.0, 1.0, 3.0, 2.0]).rollstat.expanding(2).kth(2).tolist()
    [nan, 4.0, 3.0, 2.0]
    """

    def _validate(self) -> None:
        """Check the parameters as pandas does, but faster for common values."""
        usual = type(self.min_periods) is int and self.min_periods >= 0 and self.method == "single"
        if not usual or not isinstance(self.obj, _FRAMES):
            super()._validate()

    def _row_windows(self) -> RowWindows | None:
        options = self._common_options()
        options["min_periods"] = int(self.min_periods or 0)
        if "at" in options:
            options["times"] = WindowIndexer(all_rows(), self._options.get("times")).times_for(self._on, True)
        return RowWindows(all_rows(), options, None, self._labels() if self._options else None)
