"""Calls that the sessions ``types`` and ``pyright`` check; a test runs them too."""

from typing import Any, assert_type  # noqa: F401 - types in quotes name Any

import pandas as pd

import rollstat.pandas

series = pd.Series([4.0, 1.0, 3.0, 2.0])
frame = pd.DataFrame({"a": series, "b": [1, 2, 3, 4]})
keys = [0, 0, 1, 1]

assert_type(rollstat.pandas.rolling(series, 3).median(), "pd.Series[Any]")
assert_type(rollstat.pandas.rolling(frame, 3, min_periods=1).median(), pd.DataFrame)
assert_type(rollstat.pandas.rolling(series, 3, keep_dtype=True).quantile(0.5), "pd.Series[Any]")
assert_type(rollstat.pandas.rolling(series, 3).quantile([0.25, 0.75]), pd.DataFrame)
assert_type(rollstat.pandas.rolling(series, 3).kth(2), "pd.Series[Any]")
assert_type(rollstat.pandas.rolling(series, 3).minmax(), pd.DataFrame)
assert_type(rollstat.pandas.rolling(frame, 3)["a"].sum(), "pd.Series[Any]")
assert_type(rollstat.pandas.rolling(frame, 3)[["a"]].sum(), pd.DataFrame)
assert_type(rollstat.pandas.expanding(series).max(), "pd.Series[Any]")
assert_type(rollstat.pandas.SeriesAccessor(series).rolling(3).median(), "pd.Series[Any]")
assert_type(rollstat.pandas.SeriesAccessor(series).kth(2, 3, min_periods=1), "pd.Series[Any]")
assert_type(rollstat.pandas.DataFrameAccessor(frame).median(3, center=True), pd.DataFrame)
assert_type(rollstat.pandas.DataFrameAccessor(frame).groupby(keys).rolling(2).median(), pd.DataFrame)
assert_type(rollstat.pandas.DataFrameAccessor(frame).groupby(keys)["a"].expanding().min(), "pd.Series[Any]")
