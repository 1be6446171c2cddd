"""Exponentially weighted statistics over arrays, beside pandas."""

import itertools

import numpy as np
import pandas as pd
import pytest

import rollstat
from rollstat.plan import forget_plans, kept_plans

SPEEDS = [{"alpha": 0.05}, {"com": 0.7}, {"span": 20}, {"halflife": 3.5}, {"alpha": 0.9}, {"alpha": 1.0}]
FUNCTIONS = {
    "mean": rollstat.ewm_mean,
    "sum": rollstat.ewm_sum,
    "var": rollstat.ewm_var,
    "std": rollstat.ewm_std,
    "cov": rollstat.ewm_cov,
    "corr": rollstat.ewm_corr,
}
EVERY = pytest.mark.parametrize("name", FUNCTIONS)


def series_of(rng, n, missing):
    values = rng.standard_normal(n).cumsum() + 3
    values[rng.random(n) < missing] = np.nan
    values[: n // 50] = np.nan
    return values


def by_pandas(name, arrays, bias=None, **options):
    one, *other = map(pd.Series, arrays)
    given = {} if bias is None else {"bias": bias}
    return getattr(one.ewm(**options), name)(*other, **given).to_numpy()


def close(result, wanted):
    np.testing.assert_allclose(result, wanted, rtol=1e-12, atol=1e-12)


@EVERY
@pytest.mark.parametrize("n", [1, 7, 300, 9000])
def test_equal_to_pandas(name, n, rng):
    for speed, missing, adjust, ignore_na in itertools.product(
        SPEEDS, (0.0, 0.1, 0.7), (True, False), (False, True)
    ):
        # A gap leaves earlier rows so little weight that pandas loses all digits of the correlation.
        lost = name == "corr" and missing and (missing > 0.5 or speed.get("alpha", 0) > 0.5)
        if (name == "sum" and not adjust) or lost:
            continue
        arrays = [series_of(rng, n, missing) for _ in range(1 + (name in ("cov", "corr")))]
        options = {**speed, "ignore_na": ignore_na, **({} if name == "sum" else {"adjust": adjust})}
        if name in ("var", "std", "cov"):
            # pandas subtracts squares of weights for an unbiased result, which loses digits after long gaps.
            options["bias"] = missing > 0.5 or speed.get("alpha", 0) > 0.5
        result = FUNCTIONS[name](*arrays, min_periods=3, **options)
        close(result, by_pandas(name, arrays, min_periods=3, **options))


@pytest.mark.parametrize("name", ["var", "std", "cov"])
def test_bias(name, rng):
    arrays = [series_of(rng, 300, 0.1) for _ in range(1 + (name == "cov"))]
    close(FUNCTIONS[name](*arrays, span=5, bias=True), by_pandas(name, arrays, span=5, bias=True))


def test_a_gap_ages_earlier_rows_where_pandas_takes_com_1_for_times():
    given = {"com": 1, "adjust": False}
    np.testing.assert_allclose(rollstat.ewm_mean([1.0, np.nan, 5.0], **given), [1, 1, 11 / 3], rtol=1e-15)
    close(by_pandas("mean", [[1.0, np.nan, 5.0]], **given), [1, 1, 4])


@pytest.mark.parametrize("adjust", [True, False])
@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_times(adjust, missing, rng):
    values = series_of(rng, 500, missing)
    seconds = np.cumsum(rng.integers(0, 5000, 500))
    times = seconds.astype("M8[s]")
    for ignore_na in (False, True):
        options = {"adjust": adjust, "ignore_na": ignore_na, "min_periods": 2}
        result = rollstat.ewm_mean(values, halflife="1h", times=times, **options)
        close(result, by_pandas("mean", [values], halflife="1h", times=times, **options))
        close(rollstat.ewm_mean(values, halflife=3600, times=seconds, **options), result)
        close(rollstat.ewm_mean(values, halflife=3600, times=-seconds, **options), result)


@pytest.mark.parametrize(("window", "rows"), [(rollstat.Expanding(), 9000), (40.0, 200)])
def test_plans_are_kept_for_other_times(window, rows, rng):
    every = np.cumsum(rng.integers(1, 9, (3, rows)), axis=1)
    values = rng.standard_normal((2, rows))
    forget_plans()
    for times in every:
        found = rollstat.ewm_cov(*values, window=window, halflife=5.0, times=times)
        wanted = rollstat.ewm_cov(*values, window=window, halflife=5.0, times=times.tolist())
        np.testing.assert_array_equal(found, wanted)
        assert len(kept_plans) == 1
    with pytest.raises(ValueError, match="times must be in order"):
        rollstat.ewm_cov(*values, window=window, halflife=5.0, times=every[0][::-1] % 7)


@EVERY
@pytest.mark.parametrize("adjust", [True, False])
def test_times_of_regular_rows_are_rows(name, adjust, rng):
    arrays = [series_of(rng, 200, 0.2) for _ in range(1 + (name in ("cov", "corr")))]
    own = {} if name == "sum" else {"adjust": adjust}
    times = np.arange(200) * 7
    for window in (rollstat.Expanding(), 70, (np.maximum(np.arange(200) - 9, 0), np.arange(200) + 1)):
        options = {**own, "ignore_na": True, "min_periods": 2}
        by_time = FUNCTIONS[name](*arrays, window, halflife=14, times=times, **options)
        rows = 10 if window == 70 else window
        by_row = FUNCTIONS[name](*arrays, rows, halflife=2, **options)
        close(by_time, by_row)


def test_a_gap_after_which_pandas_loses_digits():
    values = [1.0, 2.0, *[np.nan] * 12, 3.0]
    weights = 0.05 ** np.array([14.0, 13.0, 0.0])
    weights /= weights.sum()
    squares = (weights * (np.array([1.0, 2.0, 3.0]) - weights @ [1.0, 2.0, 3.0]) ** 2).sum()
    pairs = 2 * (weights[0] * weights[1] + weights[0] * weights[2] + weights[1] * weights[2])
    np.testing.assert_allclose(rollstat.ewm_var(values, alpha=0.95)[-1], squares / pairs, rtol=1e-13)


@EVERY
@pytest.mark.parametrize("ignore_na", [False, True])
def test_segments_steps_axes_masks_and_dtypes(name, ignore_na, rng):
    arrays = [series_of(rng, 90, 0.2) for _ in range(1 + (name in ("cov", "corr")))]
    options = {"alpha": 0.1, "ignore_na": ignore_na}
    function = FUNCTIONS[name]
    parts = [function(*(a[i:j] for a in arrays), **options) for i, j in ((0, 13), (13, 13), (13, 90))]
    whole = np.concatenate(parts)
    segments = [0, 13, 13, 90]
    np.testing.assert_array_equal(function(*arrays, segments=segments, **options), whole)
    stepped = function(*arrays, segments=segments, step=4, **options)
    np.testing.assert_array_equal(stepped, np.concatenate([part[::4] for part in parts]))
    table = [np.stack([a[:13], a[13:26]]) for a in arrays]
    by_line = [function(*(a[i] for a in table), **options) for i in (0, 1)]
    close(function(*table, **options), by_line)
    close(function(*(a.T for a in table), axis=0, **options), np.transpose(by_line))
    masked = [np.ma.MaskedArray(np.nan_to_num(a), np.isnan(a)) for a in arrays]
    close(function(*masked, **options).filled(np.nan), function(*arrays, **options))
    for window in (rollstat.Expanding(), 9):
        timed = {"halflife": 5, "times": np.cumsum(rng.integers(0, 9, 90)), "ignore_na": ignore_na}
        close(function(*masked, window, **timed).filled(np.nan), function(*arrays, window, **timed))
    wholes = [np.nan_to_num(a).round().astype(np.int32) for a in arrays]
    close(function(*wholes, **options), function(*(w.astype(float) for w in wholes), **options))
    single = function(*(a.astype(np.float32) for a in arrays), **options)
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, function(*arrays, **options), rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("adjust", [True, False])
@pytest.mark.parametrize("n", [40, 20_000])
def test_values_of_any_size(adjust, n):
    values = np.full(n, 1.7e308)
    values[1::2] = -1.7e308
    close(
        rollstat.ewm_mean(values, alpha=0.01, adjust=adjust) / 1e308,
        by_pandas("mean", [values / 1e308], alpha=0.01, adjust=adjust),
    )
    values[5], values[6:] = np.inf, 1.0
    np.testing.assert_array_equal(rollstat.ewm_mean(values, alpha=0.5, adjust=adjust)[5:], np.inf)
    constant = np.full(n, 0.1)
    constant[3] = np.nan
    np.testing.assert_array_equal(rollstat.ewm_mean(constant, alpha=0.3, adjust=adjust), 0.1)
    np.testing.assert_array_equal(rollstat.ewm_std(constant, alpha=0.3, adjust=adjust)[1:], 0.0)


@pytest.mark.parametrize("name", ["ewm_mean", "ewm_var"])
@pytest.mark.parametrize("adjust", [True, False])
def test_a_large_first_value_leaves_no_rounding_when_its_weight_is_gone(name, adjust, rng):
    values = rng.standard_normal(1_000)
    values[::7] = np.nan
    after = getattr(rollstat, name)(values, span=4, adjust=adjust)
    found = getattr(rollstat, name)(np.append(1e17, values), span=4, adjust=adjust)
    np.testing.assert_allclose(found[401:], after[400:], rtol=1e-9)


@pytest.mark.parametrize("gap", [30, 70, 90, 120])
@pytest.mark.parametrize("adjust", [True, False])
def test_two_observations_have_their_moments_however_far_apart(adjust, gap):
    for lead in range(8):
        values = np.full(lead + gap + 20, np.nan)
        values[[lead, lead + gap]] = 1.0, 3.5
        options = {"alpha": 0.4, "adjust": adjust}
        for found, wanted in (
            (rollstat.ewm_var(values, **options), 3.125),
            (rollstat.ewm_cov(values, -2.0 * values, **options), -6.25),
            (rollstat.ewm_corr(values, -2.0 * values, **options), -1.0),
        ):
            np.testing.assert_allclose(found[lead + gap :], wanted, rtol=1e-13)


@pytest.mark.parametrize("adjust", [True, False])
def test_equal_values_have_their_mean(adjust):
    values = np.full(100, 0.1)
    values[[0, 40, 41]] = np.nan
    values[-3] = 0.2  # the rows before still have the mean of equal values
    found = rollstat.ewm_mean(values, alpha=0.3, adjust=adjust)
    assert (found[1:-3] == 0.1).all()
    assert (found[-3:] > 0.1).all()


@pytest.mark.parametrize("adjust", [True, False])
def test_rows_before_a_gap_of_any_length_do_not_gain_weight(adjust):
    for length in range(90, 130):
        values = np.concatenate([np.full(5000, 3.0), np.full(length, np.nan), np.ones(20)])
        close(rollstat.ewm_mean(values, alpha=0.5, adjust=adjust)[-20:], 1.0)


def test_a_gap_of_any_length_keeps_the_mean():
    values = np.full(5000, np.nan)
    values[[0, 1, 4000]] = 1.0, 3.0, 8.0
    result = rollstat.ewm_mean(values, alpha=0.5)
    np.testing.assert_allclose(result[1:4000], 7 / 3, rtol=1e-15)
    np.testing.assert_array_equal(result[4000:], 8.0)


TIMES = np.array(["2026-01-01", "2026-01-02", "2026-01-06"], "M8[D]")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "exactly one of alpha, com, span and halflife must be given; got none"),
        ({"alpha": 0.5, "com": 1}, "exactly one of .* must be given; got alpha, com"),
        ({"alpha": 0.0}, "alpha must be a number above 0 and at most 1; got 0.0"),
        ({"alpha": "5"}, "alpha must be a number above 0 and at most 1; got '5'"),
        ({"com": -1}, "com must be a number at least 0; got -1"),
        ({"span": 0.5}, "span must be a number at least 1; got 0.5"),
        ({"halflife": 0}, "halflife must be a number above 0, or a duration.*got 0"),
        ({"halflife": np.inf}, "halflife must be a number above 0, or a duration.*got inf"),
        (
            {"halflife": "5D"},
            "halflife must be .*, or a duration .* together with times=; got '5D'",
        ),
        (
            {"halflife": 5, "times": TIMES},
            "halflife must be a duration such as '5D' for times of this type; got 5",
        ),
        (
            {"halflife": "5D", "times": [1, 2, 3]},
            "halflife must be a number for times of this type; got '5D'",
        ),
        ({"halflife": "5", "times": TIMES}, "halflife must be a duration such as '5min'.*; got '5'"),
        ({"halflife": -1, "times": [1, 2, 3]}, "halflife must be a number above 0, or a duration.*got -1"),
        ({"halflife": "5D", "alpha": 0.5, "times": TIMES}, "exactly one of .*; got alpha, halflife"),
        ({"halflife": 1, "times": [1.0, 2.0, np.inf]}, "times must be finite"),
        ({"halflife": 1, "times": [1, 3, 2]}, "times must be in order; row 2"),
        ({"halflife": 1, "times": [1, 3]}, "times must be 1-d and as long as the data"),
        ({"alpha": 0.5, "times": TIMES}, "times needs halflife"),
        ({"alpha": 0.5, "adjust": 1}, "adjust must be True or False; got 1"),
    ],
)
def test_errors(options, message):
    with pytest.raises((TypeError, ValueError), match=message):
        rollstat.ewm_mean([1.0, 2.0, 4.0], **options)


def test_weights_of_a_window_that_ends():
    values = [1.0, 2.0, np.nan, 4.0]
    wanted = [1.0, 5 / 3, 2.0, 4.0]
    close(rollstat.ewm_mean(values, 2, alpha=0.5, min_periods=1), wanted)
    close(rollstat.ewm_mean(values, 2, alpha=0.5, min_periods=1, adjust=False), [1.0, 1.5, 2.0, 4.0])
    for window in ("3D", np.timedelta64(3, "D")):
        close(
            rollstat.ewm_mean([1.0, 2.0, 4.0], window, halflife="2D", times=TIMES),
            [1.0, (1 + 2 * 2**0.5) / (1 + 2**0.5), 4.0],
        )
