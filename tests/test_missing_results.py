"""A missing result is NaN, NaT, -1 for a position, `fill_value` or masked: never an invented value."""

import numpy as np
import pytest

import rollstat
from rollstat.options import Options
from tests.test_contract import FIRST, arrays_for, call, outputs, taken


def kept_rows(n, window, **options):
    return Options.check(**options).windows(window, np.array([0, n])).whole


@pytest.mark.parametrize(("statistic", "sample"), FIRST)
@pytest.mark.parametrize(
    "options", [{"closed": "neither"}, {}, {"nan_policy": "propagate", "min_periods": 1}]
)
def test_valid_windows_have_the_results_of_all_windows(statistic, sample, options, rng):
    for dtype in taken(statistic, ["f8", "i8", "M8[s]"] if statistic.kinds != "fiub" else ["f8", "i8"]):
        arrays = arrays_for(statistic, rng, 40, dtype)
        kept = kept_rows(40, 3, **options)
        same = outputs(call(statistic, arrays, 3, sample, **options))
        valid = outputs(call(statistic, arrays, 3, sample, mode="valid", **options))
        for a, b in zip(same, valid):
            if b.dtype.kind == "b":
                b = b.astype(np.float64)
            np.testing.assert_array_equal(a[..., kept], b, err_msg=str(dtype))


@pytest.mark.parametrize("name", ["max", "sum", "nunique", "first", "prod", "last", "mode", "count"])
def test_windows_that_are_too_short_give_nan(name):
    function = getattr(rollstat, f"rolling_{name}")
    result = function(np.array([3, 1, 2, 5]), 3, closed="neither", mode="valid", min_periods=3)
    assert result.dtype == np.float64
    assert np.isnan(result).all()
    assert len(result) == 2
    filled = function(np.array([3, 1, 2, 5]), 3, closed="neither", mode="valid", min_periods=3, fill_value=-7)
    assert filled.dtype == np.int64
    assert filled.tolist() == [-7, -7]
    whole = function(np.array([3, 1, 2, 5]), 3, closed="neither", mode="valid", min_periods=2)
    assert whole.dtype == (np.float64 if name == "count" else np.int64) or name == "count"


def test_truth_of_windows_with_missing_values():
    values = [1.0, np.nan, np.nan, 0.0]
    for function in (rollstat.rolling_any, rollstat.rolling_all):
        for options in ({}, {"nan_policy": "propagate", "min_periods": 1}):
            result = function(values, 2, mode="valid", **options)
            assert np.isnan(result[1])
            assert function(values, 2, mode="valid", fill_value=True, **options)[1]
        assert function([1.0, 0.0], 2, mode="valid", nan_policy="raise").dtype == np.bool_
        assert function([1.0, np.nan], 2, mode="valid", min_periods=0).dtype == np.bool_
        assert function([1, 0], 2, mode="valid").dtype == np.bool_


def test_distinct_values_of_times_with_nat():
    times = np.array(["2024-01-01", "NaT", "NaT"], "M8[D]")
    result = rollstat.rolling_nunique(times, 2, mode="valid", min_periods=1)
    np.testing.assert_array_equal(result, [1, np.nan])
    assert rollstat.rolling_nunique(times, 2, mode="valid", min_periods=1, fill_value=0).tolist() == [1, 0]


def test_a_masked_result_keeps_the_dtype():
    values = np.ma.MaskedArray([3, 1, 2, 5], [False, True, True, False])
    result = rollstat.rolling_kth(values, 1, 2, mode="valid", min_periods=1)
    assert result.dtype == np.int64
    assert result.mask.tolist() == [False, True, False]
