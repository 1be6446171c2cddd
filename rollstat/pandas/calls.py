"""A statistic of columns: what the window objects pass to pandas in place of a kernel.

There are two conversions of columns to arrays. `float_values` converts like pandas: every number becomes
float64. The functions of :mod:`rollstat.columns` keep the kind of a column: float32, integers, nullable and
Arrow-backed columns, and zoned datetimes. `as_codes` replaces strings, objects and categories by codes.
"""

from functools import cache
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas._libs.internals import BlockPlacement  # type: ignore[import-not-found]  # not in the stubs
from pandas.core.internals import SingleBlockManager  # type: ignore[import-not-found]  # as above
from pandas.core.internals.blocks import NumpyBlock  # type: ignore[import-not-found]  # as above
from pandas.errors import DataError

from rollstat.columns import from_decimals, to_array, to_decimals, to_series
from rollstat.dtypes import flattened, warn_of_rounding
from rollstat.registry import REGISTRY

# Statistics for which codes can stand for values.
_CODED = ("nunique", "mode", "first", "last")
# The statistic of each method of windows.
STATISTICS = {method: name for method, name in REGISTRY.methods.items() if name in REGISTRY.rolling}
# Methods that return labels of rows, and the statistics that find the rows.
LABELLED = {"idxmin": "argmin", "idxmax": "argmax"}
# Statistics whose results are rows.
POSITIONS = ("argkth", "argmin", "argmax", "argminmax")
_ELEMENTS = "lower", "higher", "nearest"  # interpolations whose results are elements
_MOST_DIGITS = 38  # of sums of decimals, as in Arrow
_FLOAT64 = np.dtype(np.float64)
_Series: Any = pd.Series


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
    labels : Index or None
        Labels of the results, if these belong to no rows.
    """

    window: Any
    options: dict[str, Any]
    step: int | None = None
    labels: Any = None


class ColumnCall(NamedTuple):
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
    function : callable or None
        What computes it in place of the function of the registry.
    together : bool
        Whether it takes all columns together, not each by itself.
    """

    name: str
    windows: RowWindows
    parameters: dict[str, Any]
    keep_dtype: bool = False
    observed: bool = False
    group_starts: NDArray[np.int64] | None = None
    function: Any = None
    together: bool = False

    @property
    def labels(self) -> Any:
        """Labels of the columns of the result if there are several, else None."""
        return next((value for value in self.parameters.values() if np.ndim(value) == 1), None)

    def compute(self, values: Any, **options: Any) -> Any:
        """Return what rollstat's function returns for an array."""
        name, (window, given, _, _), parameters, _, _, group_starts, own_function, _ = self
        function = own_function or REGISTRY[LABELLED.get(name, name)].function
        options = {"window": window, **given, **parameters, **options}
        if group_starts is None or name not in POSITIONS or options.get("relative_to", "data") != "data":
            return function(values, **options)
        fill = options.pop("fill_value", None)
        found = function(values, **options)
        for result in found if isinstance(found, tuple) else (found,):
            rows = np.ma.getdata(result).T if options.get("axis") == 0 else np.ma.getdata(result)
            rows -= np.where(rows >= 0, group_starts, 0)
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
        decimals = from_decimals(column, digits := int(self.name == "median"))
        if decimals is not None and self.name not in LABELLED:
            return self._of_decimals(decimals, column, digits)
        if self.name in LABELLED:
            values = to_array(column) if decimals is None else decimals
            rows = np.ma.getdata(self.compute(values, fill_value=None))
            found = np.where(rows < 0, np.nan, rows)
            fill = self.windows.options.get("fill_value")
            return from_codes(found, column.index, self._index(column), column, fill)
        is_object = self.name == "aggregate" and column.dtype == np.dtype(object)
        return self._labelled(self.compute(column.to_numpy() if is_object else to_array(column)), column)

    def _of_decimals(self, values: Any, column: Any, digits: int) -> Any:
        """Return the result for decimals, which are integers in units of so many more digits than those."""
        given, name, index = column.dtype.pyarrow_dtype, self.name, self._index(column)
        size = given.precision + digits, given.scale + digits
        if name in ("sum", "ptp"):
            size = _MOST_DIGITS, given.scale
        elif name not in ("min", "max", "minmax", "kth", "median", "count", "rank", *POSITIONS):
            if name != "quantile" or self.parameters.get("interpolation") not in _ELEMENTS:
                hint = ", or take an interpolation such as 'lower'" * (name == "quantile")
                text = f"{name} of {column.dtype} may be no decimal: cast it to double[pyarrow]{hint}"
                raise TypeError(text)
        if self.windows.options.get("fill_value") is not None:
            raise TypeError(f"fill_value does not apply to {column.dtype}: use fillna afterwards")
        try:  # the middle of two durations is one
            found = self.compute(values.view("m8[ns]") if name == "median" else values)
        except OverflowError as error:
            error.add_note(f"cast {column.dtype} to double[pyarrow]")
            raise
        if name in ("count", "rank", *POSITIONS):
            return self._labelled(found, column)
        if not isinstance(found, tuple) and found.ndim == 1:
            return to_decimals(found, column, index, column.name, *size)
        labels = REGISTRY[name].output_names((), len(found)) or self.labels
        made = {label: to_decimals(part, column, index, label, *size) for label, part in zip(labels, found)}
        return column._constructor_expanddim(made)

    def frame(self, frame: Any) -> Any:
        """Return the result for all columns together: a Series, or a DataFrame of several results."""
        columns = [frame.iloc[:, i] for i in range(frame.shape[1])]
        values, parameters = [to_array(column) for column in columns], dict(self.parameters)
        names = list(frame.columns)
        if parameters.get("weights") is not None:
            parameters["weights"] = values.pop()
            names.pop()
        (_, first), *further = REGISTRY[self.name].given(values).items()
        found = self._replace(parameters=parameters).compute(first, **dict(further))
        return self._labelled(found, columns[0].rename(None), names)

    def _index(self, data: Any) -> Any:
        """Return the labels of the rows of a result."""
        _, _, step, labels = self.windows
        if labels is not None:
            return labels
        index = data.index
        if step is None or len(index) < 2:  # pandas keeps the frequency of an index of one row
            return index.view() if self.observed else index
        return index[::step]

    def _labelled(self, found: Any, like: Any, names: Any = ()) -> Any:
        """Return the result of a column, or of columns of these names, with the labels of its rows.

        Several results are columns.
        """
        index = self._index(like)
        plain = type(found) is np.ndarray and type(like) is _Series
        if plain and found.dtype is _FLOAT64 and found.shape == (len(index),):
            return plain_series(found, index, like._name)
        if isinstance(found, tuple):
            found = flattened(found)
            labels = REGISTRY[self.name].output_names(names, len(found)) or range(len(found))
        elif found.ndim == 2:
            labels = self.labels
        else:
            return to_series(found, like, index, like.name)
        columns = {label: to_series(part, like, index, label) for label, part in zip(labels, found)}
        return like._constructor_expanddim(columns)

    def table(self, frame: Any) -> Any:
        """Return the result for all columns in one call; None if columns must be computed one by one."""
        dtypes = {block.dtype for block in frame._mgr.blocks}  # faster than `frame.dtypes`, a Series
        kinds = {dtype.kind if isinstance(dtype, np.dtype) else "O" for dtype in dtypes}
        one_call = len(dtypes) == 1 and kinds == {"f"} if self.keep_dtype else kinds <= set("fiub")
        several = (
            self.name in ("aggregate", "apply", *LABELLED)
            or len(REGISTRY[self.name].outputs) > 1
            or self.labels is not None
        )
        if not one_call or several or REGISTRY[self.name].series > 1 or "x" in self.parameters:
            return None
        for i, dtype in enumerate(frame.dtypes if kinds & set("iu") else ()):
            if dtype.kind in "iu":
                warn_of_rounding(frame.iloc[:, i].to_numpy())
        values = frame.to_numpy() if self.keep_dtype else frame.to_numpy(np.float64)
        found = self.compute(values, axis=0)
        index = self._index(frame)
        return frame._constructor(found, index=index, columns=frame.columns.view(), copy=False)


def no_numbers(text: str, name: str) -> DataError:
    """Return pandas' error for a column without numbers, with a note that names the way out."""
    error = DataError(text)
    taken = "strings, objects and categories" if name in _CODED else "times, durations and decimals"
    error.add_note(f"with keep_dtype=True, {name} supports columns of {taken}")
    return error


class NotNumbers(TypeError):
    """A column does not hold numbers."""


@cache
def _exact_floats() -> Any:
    """Return the function that converts integers, whose module imports kernels."""
    from rollstat.blocks import exact_floats

    return exact_floats


def float_values(column: Any) -> NDArray[np.float64]:
    """Return the values of a Series as float64, NaN where missing; raise NotNumbers if there are none.

    Integers that float64 may round cause a warning.
    """
    known: Any = column._values
    dtype = known.dtype
    if dtype is _FLOAT64:
        return known  # type: ignore[no-any-return]  # pandas-stubs leave the type open
    if type(known) is np.ndarray and dtype.kind in "fiub":
        floats = _exact_floats()(known)
        if floats is None:
            warn_of_rounding(known)
            floats = known.astype(np.float64)
        return floats  # type: ignore[no-any-return]  # as above
    if dtype.kind in "mM" or isinstance(dtype, pd.PeriodDtype):
        raise NotNumbers(f"values of {dtype} are not numbers")
    try:
        if isinstance(known, np.ndarray):
            return known.astype(np.float64)
        if dtype.kind in "iu":
            numpy_dtype = dtype.subtype if isinstance(dtype, pd.SparseDtype) else dtype.numpy_dtype
            warn_of_rounding(column.array.to_numpy(numpy_dtype, na_value=0))
        return column.array.to_numpy(np.float64, na_value=np.nan)  # type: ignore[no-any-return]  # as above
    except (TypeError, ValueError) as error:
        raise NotNumbers(f"values of {dtype} are not numbers") from error


def observed(column: Any) -> NDArray[np.float64]:
    """Return 1 for each observation of a Series and 0 for each missing value."""
    if column.dtype is _FLOAT64:
        values = column.to_numpy()
        return (values == values).astype(np.float64)  # type: ignore[no-any-return]  # as above
    return column.notna().to_numpy().astype(np.float64)  # type: ignore[no-any-return]  # as above


def plain_series(values: NDArray[Any], index: pd.Index, name: Any) -> Any:
    """Return floats as a pandas.Series, made from its parts.

    pandas makes its own results so: the constructor takes longer than a statistic of a hundred rows.
    """
    block = NumpyBlock(values, BlockPlacement(slice(len(values))), 1)
    manager = SingleBlockManager(block, index)
    result = _Series._from_mgr(manager, manager.axes)
    object.__setattr__(result, "_name", name)
    return result


def factorized(values: Any, *, ordered: bool = False) -> NDArray[np.int64]:
    """Return equal codes for equal values, in the order of these if it is asked for; -1 where missing."""
    return pd.factorize(values, sort=ordered)[0].astype(np.int64, copy=False)  # type: ignore[no-any-return]  # as above


def as_codes(series: Any, name: str) -> tuple[NDArray[np.float64], Any] | None:
    """Return codes for a statistic of strings, objects or categories, NaN where missing, and their values.

    Codes for ``first`` and ``last``, also of datetimes and timedeltas, are rows. For other statistics equal
    values have equal codes, in the order of the values for ``mode``. None for a column of any other kind.
    """
    dtype = series.dtype
    is_category, is_object = isinstance(dtype, pd.CategoricalDtype), dtype == np.dtype(object)
    is_text = isinstance(dtype, pd.StringDtype) or (isinstance(dtype, pd.ArrowDtype) and dtype.kind in "OUS")
    by_row = name in ("first", "last")
    if not (is_category or is_object or is_text or (by_row and dtype.kind in "mM")):
        return None
    values: Any = series.to_numpy() if is_object else series.array
    if by_row:
        return np.where(series.isna(), np.nan, np.arange(len(series), dtype=np.float64)), values
    if is_category:
        codes = series.cat.codes.to_numpy()
        values = pd.Categorical.from_codes(np.arange(len(dtype.categories)), dtype=dtype)
    else:
        codes, values = pd.factorize(values, sort=is_text)
        if is_object and name == "mode":
            order = _order(values)
            values, codes = values[order], np.append(np.argsort(order), -1)[codes]
    return np.where(codes < 0, np.nan, codes.astype(np.float64)), values


def _order(values: NDArray[Any]) -> NDArray[np.intp]:
    """Return the order of different objects; raise unless every two of them have one."""
    try:
        order = sorted(range(len(values)), key=values.__getitem__)
        if all(values[i] < values[j] for i, j in pairwise(order)):
            return np.array(order, np.intp)
    except TypeError:
        pass
    raise TypeError(
        "a column of objects must hold values in an order for mode, the smallest of the most frequent ones; "
        "got objects that < does not order (categories of pandas have an order)"
    )


def from_codes(codes: NDArray[np.float64], values: Any, index: pd.Index, like: Any, fill: Any = None) -> Any:
    """Return the values of codes as a Series like `like`; `fill`, or missing, where a code is NaN."""
    positions = np.where(np.isnan(codes), -1.0, codes).astype(np.intp)
    if isinstance(values, pd.Index):  # which pandas 2 takes the last label of, in place of a missing one
        array = values.array
        values = array.to_numpy() if isinstance(array, pd.arrays.NumpyExtensionArray) else array
    taken = pd.api.extensions.take(values, positions, allow_fill=True, fill_value=fill)
    return like._constructor(taken, index=index, name=like.name, dtype=taken.dtype)
