"""Rank, number of distinct values and mode against pandas, and for integers beyond 2**53."""

import itertools

import numpy as np
import pandas as pd
import pytest

import rollstat


def series(rng, n=400):
    values = rng.integers(0, 9, n) * 0.5
    values[rng.random(n) < 0.1] = np.nan
    return values


@pytest.mark.parametrize("algorithm", ["auto", "rank_set"])
@pytest.mark.parametrize("options", [{}, {"closed": "left"}, {"closed": "both"}, {"step": 3}])
def test_rank_equals_pandas(rng, options, algorithm):
    values = series(rng)
    for m in (1, 3, 50, 390):
        rolling = pd.Series(values).rolling(m, min_periods=1, **options)
        for method, ascending, pct in itertools.product(
            ("average", "min", "max"), (True, False), (True, False)
        ):
            result = rollstat.rolling_rank(
                values, m, method, ascending, pct, min_periods=1, algorithm=algorithm, **options
            )
            wanted = rolling.rank(method, ascending=ascending, pct=pct)
            np.testing.assert_array_equal(result, wanted.to_numpy())


@pytest.mark.parametrize("outlier", [1.0, 1.7e308, np.inf])
@pytest.mark.parametrize("duration", [None, "90s"])
def test_ranks_of_wide_windows_with_extremes_equal_pandas(rng, outlier, duration):
    values = np.where(
        rng.random(40_000) < 0.5, rng.standard_normal(40_000), rng.integers(-2, 3, 40_000) * 0.5
    )
    for value in outlier, -outlier, 0.0, -0.0, 5e-324, np.nan:
        values[rng.integers(0, len(values), 40)] = value
    times = np.sort(rng.integers(0, 20_000, 40_000)).astype("datetime64[s]")
    frame = pd.Series(np.clip(values, -1.5e308, 1.5e308), index=times)  # for pandas infinities are missing
    wanted = frame.rolling(duration or 180, min_periods=1).rank("average")
    options = {"times": times} if duration else {}
    result = rollstat.rolling_rank(values, duration or 180, min_periods=1, **options)
    np.testing.assert_array_equal(result, wanted.to_numpy())


def test_nunique_equals_pandas(rng):
    values = series(rng)
    for m, options in itertools.product((1, 3, 50, 390), ({}, {"closed": "neither"}, {"center": True})):
        result = rollstat.rolling_nunique(values, m, min_periods=0, **options)
        # Windows of pandas before 3 have no nunique; their apply takes any function.
        windows = pd.Series(values).rolling(m, min_periods=0, **options)
        wanted = windows.apply(lambda window: len(np.unique(window[~np.isnan(window)])), raw=True)
        if hasattr(windows, "nunique"):
            pd.testing.assert_series_equal(wanted, windows.nunique())
        np.testing.assert_array_equal(result, wanted.to_numpy())


@pytest.mark.parametrize("dtype", ["i1", "u1", "i4", "u8", "i8", "?"])
def test_distinct_integers_of_any_span(rng, dtype):
    limits = (0, 1) if dtype == "?" else (np.iinfo(dtype).min, np.iinfo(dtype).max)
    for low, high in (limits, (limits[0], min(limits[0] + 9, limits[1]))):
        values = rng.integers(
            low, high, 10_000, dtype=np.dtype(dtype) if dtype != "?" else np.int8, endpoint=True
        )
        values = values.astype(dtype)
        masked = np.ma.MaskedArray(values, rng.random(len(values)) < 0.2)
        found = rollstat.rolling_nunique(masked, 9_000, min_periods=1)
        for row in (0, 500, 9_500):
            seen = masked[max(row - 8_999, 0) : row + 1].compressed()
            assert found[row] == len(np.unique(seen)) or (found.mask[row] and not len(seen))


def test_integers_that_are_equal_as_floats_are_distinct():
    close = np.uint64(2**64 - 4) + np.array([3, 1, 2, 1, 0], np.uint64)
    assert rollstat.rolling_rank(close, 3, mode="valid").tolist() == [2, 1.5, 1]
    assert rollstat.rolling_rank(close, 3, algorithm="rank_set", mode="valid").tolist() == [2, 1.5, 1]
    assert rollstat.rolling_nunique(close, 5, mode="valid").tolist() == [4]
    mode = rollstat.rolling_mode(close, 5, mode="valid")
    assert mode.dtype == np.uint64
    assert mode.tolist() == [2**64 - 3]
    low = np.array([-(2**63), 1 - 2**63, 2**63 - 1])
    assert rollstat.rolling_rank(low, 3, mode="valid").tolist() == [3]


def test_rank_is_masked_where_the_newest_value_is_masked():
    values = np.ma.MaskedArray([3, 1, 2, 2], [False, False, True, False])
    result = rollstat.rolling_rank(values, 3, min_periods=1)
    assert result.tolist() == [1.0, 1.0, None, 2.0]
    assert rollstat.rolling_rank(values, 3, min_periods=1, fill_value=0).tolist() == [1.0, 1.0, None, 2.0]


def test_messages_name_the_bad_parameter():
    with pytest.raises(ValueError, match="method must be one of 'average'"):
        rollstat.rolling_rank([1.0], 1, "ordinal")
    with pytest.raises(TypeError, match="pct must be True or False"):
        rollstat.rolling_rank([1.0], 1, pct="yes")
    with pytest.raises(ValueError, match="'comparisons' does not support this call"):
        rollstat.rolling_rank([1.0], 1, "dense", algorithm="comparisons")
    with pytest.raises(ValueError, match="'comparisons' does not support this call"):
        rollstat.rolling_rank([1.0], 1, step=2, algorithm="comparisons")
