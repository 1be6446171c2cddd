"""Windows all of whose rows are needed, without NaN, against windows in which values may be missing."""

import numpy as np
import pytest

import rollstat

CALLS = [
    (rollstat.rolling_median, {}),
    (rollstat.rolling_quantile, {"q": 0.3}),
    (rollstat.rolling_kth, {"k": 2}),
    (rollstat.rolling_iqr, {}),
]
SPECIAL = np.array([-np.inf, np.inf, -0.0, 0.0, 5e-324, 1.0, 1.0, -1.7e308])


@pytest.mark.parametrize("width", [5, 6, 70, 600])
@pytest.mark.parametrize(("function", "arguments"), CALLS)
def test_all_rows_are_needed(rng, function, arguments, width):
    values = np.concatenate(
        [rng.choice(SPECIAL, 5000), rng.standard_normal(5000).round(1), np.full(3000, np.nan)]
    )
    values[rng.integers(0, len(values), len(values) // width)] = np.nan
    found = function(values, window=width, **arguments, mode="valid")
    some = function(values, window=width, **arguments, mode="valid", min_periods=width - 1)
    complete = rollstat.rolling_count(values, width, mode="valid") == width
    assert complete.any()
    np.testing.assert_array_equal(found, np.where(complete, some, np.nan))


@pytest.mark.parametrize("kind", ["m8[s]", "M8[s]"])
def test_spreads_of_times_are_missing_where_windows_have_too_few_rows(kind):
    times = np.array([48, 7, 5, 1, 9, 2, 8]).astype(kind)
    found = rollstat.rolling_iqr(times, [2, 1, 1, 2, 0, 2, 0], 0.3, interpolation="nearest", min_periods=2)
    wanted = np.array(["NaT", "NaT", "NaT", 4, "NaT", 7, "NaT"], "m8[s]")
    np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("function", [rollstat.rolling_median, rollstat.rolling_iqr])
def test_results_share_no_memory_with_later_calls(rng, function):
    values = rng.standard_normal(40_000)
    values[rng.random(len(values)) < 0.1] = np.nan
    found = function(values, 600, min_periods=100)
    copy = found.copy()
    for length in (40_000, 39_000, 17_000):  # some in memory that the thread keeps
        np.testing.assert_array_equal(function(values[:length], 600, min_periods=100), copy[:length])
        function(-values[:length], 600, min_periods=100)
    np.testing.assert_array_equal(found, copy)
