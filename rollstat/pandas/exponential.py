"""Exponentially weighted windows: a subclass of pandas' class."""

from functools import cached_property, lru_cache, partial
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas.api import typing as pandas_types

from rollstat.pandas.calls import ColumnCall, RowWindows
from rollstat.pandas.windows import Columns, all_rows, hand_back

_PandasEwm: Any = pandas_types.ExponentialMovingWindow
# The parameters in the order of pandas 3; pandas 2 has `axis` before `times`.
NAMES = ("com", "span", "halflife", "alpha", "min_periods", "adjust", "ignore_na", "times", "method")
_DEFAULTS = dict(zip(NAMES, (None, None, None, None, 0, True, False, None, "single")))
_OF_DATA = {"obj", "_on", "_selection", "_deltas", "times"}
_REASON = "times out of order, or together with com, span or alpha"


@lru_cache(maxsize=256, typed=True)
def _accepted(dtype: Any, *values: Any) -> dict[str, Any] | None:
    """Return what pandas' constructor sets for times of a dtype, or none; None where it raises."""
    given = dict(zip([name for name in NAMES if name != "times"], values))
    try:
        times = None if dtype is None else pd.Series([0]).astype(dtype)
        windows: Any = pd.Series(0.0).ewm(**given, times=times)
    except Exception:
        return None
    return {name: value for name, value in vars(windows).items() if name not in _OF_DATA}


@lru_cache(maxsize=256, typed=True)
def _width(halflife: Any) -> str:
    """Return a width of pandas in the form that rollstat's functions keep plans for."""
    width = pd.Timedelta(halflife)
    return f"{width.to_timedelta64().astype(np.int64)}{width.unit}"


@lru_cache(maxsize=256, typed=True)
def _in_units(halflife: Any, dtype: np.dtype[Any]) -> float:
    """Return a width in units of times, whole ones as in pandas."""
    unit: Any = np.datetime_data(dtype)[0]
    width = pd.Timedelta(halflife).as_unit(unit)
    return float(width.to_timedelta64().astype(np.int64))


class ExponentialMovingWindow(Columns, _PandasEwm):  # type: ignore[misc]  # Any as a base
    """Windows with exponentially falling weights, with pandas' parameters and methods.

    ``data.rollstat.ewm(...)`` returns these windows.

    Examples
    --------
    >>> import pandas as pd, rollstat.pandas
    >>> pd.Series([1.0, 2.0, 4.0]).rollstat.ewm(alpha=0.5).mean().round(3).tolist()
    [1.0, 1.667, 3.0]
    """

    prefix = "ewm."

    def __init__(self, obj: Any, *args: Any, selection: Any = None, **kwargs: Any) -> None:
        """Check the parameters as pandas does, but check those that do not depend on the data only once."""
        given = _DEFAULTS | dict(zip(NAMES, args)) | kwargs
        times = given.pop("times")
        dtype = getattr(times, "dtype", None)
        usual = isinstance(obj, (pd.Series, pd.DataFrame)) and (times is None) == (dtype is None)
        try:
            attributes = _accepted(dtype, *given.values()) if usual and len(given) == len(NAMES) - 1 else None
        except (TypeError, ValueError):  # a parameter without a hash
            attributes = None
        if attributes is not None:
            self.__dict__.update(attributes, obj=obj, _on=obj.index, _selection=selection, times=times)
            if times is None or (len(times) == len(obj) and not np.isnat(self._stamps).any()):
                return
        super().__init__(obj, *args, selection=selection, **kwargs)

    @cached_property
    def _stamps(self) -> NDArray[Any]:
        """The times, aware ones in UTC, as an array of NumPy, without a copy."""
        times: Any = self.times.array if isinstance(self.times, (pd.Series, pd.Index)) else self.times
        return times if isinstance(times, np.ndarray) else times.asi8.view(f"M8[{times.unit}]")

    @cached_property
    def _deltas(self) -> NDArray[np.float64]:
        if self.times is None:
            return np.ones(max(len(self.obj) - 1, 0))
        stamps, width = self._stamps.astype(np.int64), _in_units(self.halflife, self._stamps.dtype)
        gaps: NDArray[np.float64] = (stamps[1:] - stamps[:-1]) / width
        return gaps

    def _row_windows(self) -> RowWindows | None:
        options = {
            "min_periods": self.min_periods,
            "adjust": bool(self.adjust),
            "ignore_na": bool(self.ignore_na),
            **self._options,
        }
        if self.times is None:
            options["com"] = float(self._com)
            return RowWindows(all_rows(), options)
        if any(each is not None for each in (self.com, self.span, self.alpha)) or not self._in_order():
            return None
        times = {"times": self._stamps, "halflife": _width(self.halflife)}
        return RowWindows(all_rows(), options | times)

    def _in_order(self) -> bool:
        return bool((self._deltas >= 0).all())

    def _call_of(self, name: str, parameters: dict[str, Any]) -> ColumnCall | None:
        """Return the call of a statistic; None where pandas computes it."""
        windows = self._row_windows() if self.method == "single" else None
        if windows is not None and name == "sum":
            windows.options.pop("adjust")  # pandas has checked it
        return None if windows is None else ColumnCall(f"ewm_{name}", windows, parameters)

    def _reason(self) -> str:
        """Return why pandas computes windows that `_call_of` does not return."""
        return f"method={self.method!r}" if self.method != "single" else _REASON

    def _replaces(self, func: Any, name: str) -> bool:
        """Return whether a statistic has the results of a kernel of pandas: of ``mean`` and ``sum``."""
        return type(func) is partial

    def _moment(self, name: str, bias: Any, numeric_only: bool) -> Any:
        """Return a statistic of each column."""
        call = self._call_of(name, {"bias": bool(bias)})
        if call is not None:
            return self._compute(call, name, numeric_only)
        hand_back(f"ewm.{name}", self._reason())
        return getattr(super(), name)(bias, numeric_only)

    def var(self, bias: bool = False, numeric_only: bool = False) -> Any:
        """Return pandas' variance; `times` are also supported.

        Parameters
        ----------
        bias : bool, default False
            Whether to leave out the correction for the number of observations.
        numeric_only : bool, default False
            Skip DataFrame columns that are not numeric.

        Returns
        -------
        Series or DataFrame
            As pandas returns it.
        """
        return self._moment("var", bias, numeric_only)

    def std(self, bias: bool = False, numeric_only: bool = False) -> Any:
        """Return pandas' standard deviation; `times` are also supported.

        Parameters
        ----------
        bias, numeric_only
            As in `var`.

        Returns
        -------
        Series or DataFrame
            As pandas returns it.
        """
        return self._moment("std", bias, numeric_only)

    def cov(
        self, other: Any = None, pairwise: bool | None = None, bias: bool = False, numeric_only: bool = False
    ) -> Any:
        """Return pandas' covariance with other columns; `times` are also supported.

        Parameters
        ----------
        other : Series or DataFrame, optional
            The other columns. Default: the columns of the data.
        pairwise : bool, optional
            Whether to combine all columns, not only columns with the same name.
        bias, numeric_only
            As in `var`.

        Returns
        -------
        Series or DataFrame
            As pandas returns it.
        """
        return self._pairs("cov", other, pairwise, numeric_only, bias=bool(bias))

    def corr(self, other: Any = None, pairwise: bool | None = None, numeric_only: bool = False) -> Any:
        """Return pandas' correlation with other columns; `times` are also supported.

        Parameters
        ----------
        other, pairwise, numeric_only
            As in `cov`.

        Returns
        -------
        Series or DataFrame
            As pandas returns it.
        """
        return self._pairs("corr", other, pairwise, numeric_only)

    def _pairs(self, name: str, other: Any, pairwise: Any, numeric_only: bool, **parameters: Any) -> Any:
        """Return a statistic of pairs of columns."""
        call, reason = self._call_of(name, parameters), self._reason_for_pairs(other)
        if call is None or reason:
            hand_back(f"ewm.{name}", reason or self._reason())
            return getattr(super(), name)(other, pairwise, *parameters.values(), numeric_only)
        return self._of_pairs(call, name, other, pairwise, numeric_only)

    def _reason_for_pairs(self, other: Any) -> str:
        """Return why pandas computes pairs with other columns; empty if rollstat does."""
        same = self.times is None or other is None or self.obj.index.equals(getattr(other, "index", None))
        return "" if same else "times, and columns with another index"
