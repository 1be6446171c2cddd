"""A statistic of columns: what the window objects pass to pandas in place of a kernel."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rollstat.dtypes import warn_of_rounding
from rollstat.pandas.columns import (
    as_codes,
    float_series,
    float_values,
    from_codes,
    observed,
    to_array,
    to_series,
)
from rollstat.pandas.methods import window_name
from rollstat.registry import REGISTRY

__all__ = ["Call", "RowWindows"]

# Statistics for which codes can stand for values.
_CODED = ("nunique", "mode", "first", "last")
# Statistics whose results are rows.
_POSITIONS = ("argkth", "argmin", "argmax", "argminmax")

# Up to these sizes, one call for each column takes less time than one call for all.
_FEW_ROWS, _FEW_COLUMNS = 10_000, 8


class RowWindows(NamedTuple):
    """The windows of the rows.

    Attributes
    ----------
    window : int, Forward, Expanding, (start, end) or number
        The window that rollstat's functions take.
    options : dict
        Their options for it.
    step : int or None
        Which rows have a result, as in pandas.
    """

    window: Any
    options: dict[str, Any]
    step: int | None = None


class Call(NamedTuple):
    """A statistic and its parameters, which take the place of a kernel of pandas.

    Attributes
    ----------
    name : str
        Of the statistic in the registry.
    windows : RowWindows
        The windows of the rows.
    parameters : dict
        Its own parameters.
    keep_dtype : bool
        Whether columns keep their kind, as in rollstat's functions over arrays.
    observed : bool
        Whether to compute it over 1 for each observation and 0 for each missing value.
    group_starts : ndarray of int64 or None
        For windows within groups, the first row of the group of each row: positions count from there.
    """

    name: str
    windows: RowWindows
    parameters: dict[str, Any]
    keep_dtype: bool = False
    observed: bool = False
    group_starts: NDArray[np.int64] | None = None

    @property
    def labels(self) -> Any:
        """Labels of the columns of the result if there are several, else None."""
        return next((value for value in self.parameters.values() if np.ndim(value) == 1), None)

    def compute(self, values: Any, **options: Any) -> Any:
        """Return what rollstat's function returns for an array."""
        window, given, _ = self.windows
        options = {window_name(self.name): window, **given, **self.parameters, **options}
        in_data = self.name in _POSITIONS and options.get("relative_to", "data") == "data"
        if self.group_starts is None or not in_data:
            return REGISTRY[self.name].function(values, **options)
        fill = options.pop("fill_value", None)
        found = REGISTRY[self.name].function(values, **options)
        for result in found if isinstance(found, tuple) else (found,):
            rows = np.ma.getdata(result).T if options.get("axis") == 0 else np.ma.getdata(result)
            rows -= np.where(rows >= 0, self.group_starts, 0)
            if fill is not None:
                rows[rows < 0] = fill
        return found

    def column(self, column: Any) -> Any:
        """Return the result for a Series: a Series, or a DataFrame of several results."""
        if not self.keep_dtype:
            values = observed(column) if self.observed else float_values(column)
            return self._labelled(self.compute(values), column)
        coded = as_codes(column, self.name) if self.name in _CODED else None
        if coded is not None:
            codes, values = coded
            if self.name == "nunique":
                return self._labelled(self.compute(codes), column)
            found = self.compute(codes, fill_value=None)  # it would be a code
            fill = self.windows.options.get("fill_value")
            return from_codes(found, values, self._index(column), column, fill)
        is_object = self.name == "aggregate" and column.dtype == np.dtype(object)
        return self._labelled(self.compute(column.to_numpy() if is_object else to_array(column)), column)

    def _index(self, data: Any) -> Any:
        """Return the labels of the rows of a result."""
        step = self.windows.step
        if step is None or len(data.index) < 2:  # pandas keeps the frequency of an index of one row
            return data.index.view() if self.observed else data.index
        return data.index[::step]

    def _labelled(self, found: Any, like: Any) -> Any:
        """Return the result of a column with the labels of its rows, and columns if there are several."""
        if type(found) is np.ndarray and found.ndim == 1 and found.dtype.kind == "f":
            return float_series(found, like, self._index(like))
        if isinstance(found, tuple):
            outputs = REGISTRY[self.name].outputs
            labels = outputs if len(outputs) == len(found) else range(len(found))
        elif found.ndim == 2:
            labels = self.labels
        else:
            return to_series(found, like, self._index(like), like.name)
        index = self._index(like)
        columns = {label: to_series(part, like, index, label) for label, part in zip(labels, found)}
        return like._constructor_expanddim(columns)

    def table(self, frame: Any) -> Any:
        """Return the result for all columns in one call; None if columns must be computed one by one."""
        dtypes = {block.dtype for block in frame._mgr.blocks}  # faster than `frame.dtypes`, a Series
        kinds = {dtype.kind if isinstance(dtype, np.dtype) else "O" for dtype in dtypes}
        one_call = len(dtypes) == 1 and kinds == {"f"} if self.keep_dtype else kinds <= set("fiub")
        several = self.name == "aggregate" or len(REGISTRY[self.name].outputs) > 1 or self.labels is not None
        if not one_call or several or REGISTRY[self.name].series > 1 or "x" in self.parameters:
            return None
        for i, dtype in enumerate(frame.dtypes if kinds & set("iu") else ()):
            if dtype.kind in "iu":
                warn_of_rounding(frame.iloc[:, i].to_numpy())
        values = frame.to_numpy() if self.keep_dtype else frame.to_numpy(np.float64)
        if len(frame) <= _FEW_ROWS and frame.shape[1] <= _FEW_COLUMNS:
            columns = np.ascontiguousarray(values.T)
            found = np.array([self.compute(column) for column in columns]).T
        else:
            found = self.compute(values, axis=0)
        index = self._index(frame)
        return frame._constructor(found, index=index, columns=frame.columns.view(), copy=False)
