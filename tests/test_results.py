"""Missing results are NaN, NaT, -1 for a position, `fill_value` or masked; `out` may overlap arguments."""

import warnings

import numpy as np
import pytest

import rollstat
from rollstat.options import Options
from tests.test_contract import FIRST, arrays_for, call, outputs, taken

LONG = 300_000  # several blocks


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


@pytest.mark.parametrize("name", ["sum", "median", "max", "mean", "argmax"])
def test_out_may_be_the_times(name):
    function = getattr(rollstat, f"rolling_{name}")
    rng = np.random.default_rng(1)
    values = rng.integers(0, 50, LONG).astype(np.float64)
    dtype = np.int64 if name == "argmax" else np.float64
    times = np.cumsum(rng.integers(0, 3, LONG)).astype(dtype)
    wanted = function(values, 40, times=times.copy())
    assert function(values, 40, times=times, out=times) is times
    np.testing.assert_array_equal(times, wanted)


def test_out_may_be_the_bounds_or_a_part_of_the_input():
    rng = np.random.default_rng(2)
    values = rng.integers(0, 50, LONG).astype(np.float64)
    start = np.arange(LONG) // 3 * 2
    end = np.minimum(start + np.arange(LONG) % 2 + 5, LONG)
    end = np.maximum.accumulate(end)
    wanted = rollstat.rolling_argmax(values, (start.copy(), end.copy()))
    for number in range(2):
        bounds = [start.copy(), end.copy()]
        result = rollstat.rolling_argmax(values, tuple(bounds), out=bounds[number])
        np.testing.assert_array_equal(result, wanted)
    memory = np.concatenate([values, np.zeros(100)])
    wanted = rollstat.rolling_max(values, 7, min_periods=1)
    np.testing.assert_array_equal(
        rollstat.rolling_max(memory[:LONG], 7, min_periods=1, out=memory[100:]), wanted
    )
    memory = values.copy()
    np.testing.assert_array_equal(
        rollstat.rolling_max(memory[::-1], 7, min_periods=1, out=memory),
        rollstat.rolling_max(values[::-1], 7, min_periods=1),
    )


def test_outputs_that_overlap_are_rejected_before_they_are_written():
    values = np.arange(10.0)
    memory = np.full(30, 5.0)
    for out in ((memory[:10], memory[:10]), (memory[:10], memory[5:15]), (memory[:20:2], memory[2:22:2])):
        with pytest.raises(ValueError, match="share no memory"):
            rollstat.rolling_minmax(values, 3, out=out)
    broadcast = np.lib.stride_tricks.as_strided(memory, (10,), (0,))
    sliding = np.lib.stride_tricks.sliding_window_view(memory, 5, writeable=True)[:2]
    with pytest.raises(ValueError, match="memory for every result"):
        rollstat.rolling_min(values, 3, out=broadcast)
    with pytest.raises(ValueError, match="memory for every result"):
        rollstat.rolling_kth(values[:5], [1, 2], 3, out=sliding)
    with pytest.raises(TypeError, match="out must be a writable"):
        rollstat.rolling_kth(values, [1, 2], 3, out=5)
    assert (memory == 5).all()
    rollstat.rolling_minmax(values, 3, min_periods=1, out=(memory[:20:2], memory[1:20:2]))
    low, high = rollstat.rolling_minmax(values, 3, min_periods=1)
    np.testing.assert_array_equal(memory[:20], np.stack([low, high], axis=1).ravel())
    np.testing.assert_array_equal(memory[20:], 5)


def test_outputs_may_be_the_inputs():
    rng = np.random.default_rng(3)
    x, y = rng.random(100), rng.random(100)
    wanted = rollstat.rolling_minmax(x, 4)
    memory = np.stack([x, y])
    rollstat.rolling_minmax(memory[0], 4, out=(memory[1], memory[0]))
    np.testing.assert_array_equal(memory, [wanted[1], wanted[0]])
    memory = np.stack([x, y])
    wanted = rollstat.rolling_cov(x, y, 4)
    np.testing.assert_array_equal(rollstat.rolling_cov(memory[0], memory[1], 4, out=memory[1]), wanted)


def test_several_order_statistics_in_one_array(rng):
    values = rng.random((4, 30))
    out = np.empty((2, 4, 30))
    assert rollstat.rolling_kth(values, [1, 2], 3, out=out) is out
    np.testing.assert_array_equal(out, rollstat.rolling_kth(values, [1, 2], 3))
    for bad in ((out[0], out[1]), np.empty((3, 4, 30)), np.empty((2, 4, 29))):
        with pytest.raises((ValueError, TypeError), match="out must"):
            rollstat.rolling_kth(values, [1, 2], 3, out=bad)


def test_out_is_unchanged_if_a_warning_is_an_error():
    values = np.zeros(LONG, np.int64)
    values[-1] = 2**60
    out = np.full(LONG, 5.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(rollstat.PrecisionWarning):
            rollstat.rolling_max(values, 3, out=out)
    assert (out == 5).all()
