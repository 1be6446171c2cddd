"""One kernel call for a short series gives what blocks give, and rejects what it does not serve."""

import warnings
from functools import partial

import numpy as np
import pytest

import rollstat
from rollstat.plan import Plan, forget_plans
from rollstat.registry import REGISTRY
from tests.test_plan import series


@pytest.mark.parametrize("function", [rollstat.rolling_min, rollstat.rolling_mean, rollstat.rolling_median])
def test_growing_windows_are_part_of_the_one_call(function):
    values, blocks = series(100), []
    for least in (1, 3):
        function(values, 7, min_periods=least)
        forget_plans()
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("rollstat.engine.Execution.work", lambda *block: blocks.append(block))
            found = function(values, 7, min_periods=least)
        np.testing.assert_array_equal(found, function(np.repeat(values, 2)[::2], 7, min_periods=least))
    assert not blocks


KINDS = ["ties", "noise", "missing", "infinite", "whole", "float32", "bool"]


WINDOWS = [
    (5, {}),
    (5, {"min_periods": 1}),
    (4, {"center": True, "min_periods": 2}),
    (4, {"closed": "left", "min_periods": 0}),
    (6, {"step": 3, "min_periods": 0}),
    (60, {"min_periods": 2}),
    (5, {"mode": "valid"}),
    (5, {"fill_value": 1, "min_periods": 2}),
    (5, {"segments": np.array([0, 3, 17, 40]), "min_periods": 1}),
    (rollstat.Expanding(), {}),
    (rollstat.Forward(3), {"min_periods": 1}),
    ("7s", {"times": np.cumsum(np.arange(40) % 4).astype("M8[s]")}),
    ("7s", {"times": np.cumsum(np.arange(40) % 4).astype("M8[s]"), "center": True, "min_periods": 0}),
]


def values_of(kind, rng):
    """Return 40 values, whose integers are exact as floats."""
    ties = rng.integers(0, 6, 40) * 0.25
    return {
        "ties": ties,
        "noise": rng.standard_normal(40),
        "missing": np.where(rng.random(40) < 0.3, np.nan, ties),
        "infinite": np.where(rng.random(40) < 0.1, rng.choice([np.inf, -np.inf], 40), ties),
        "whole": rng.integers(-5, 6, 40),
        "float32": ties.astype(np.float32),
        "bool": ties > 0.5,
    }[kind]


@pytest.mark.parametrize(
    ("name", "sample"), [*((name, None) for name in REGISTRY), ("quantile", {"q": [0.9, 0.2]})]
)
def test_short_series_in_one_call_equal_their_blocks(name, sample, rng, monkeypatch):
    statistic = REGISTRY[name]
    sample = sample or statistic.samples[-1]
    for kind in KINDS:
        series = [values_of(kind, rng) for _ in range(statistic.series)]
        for window, options in WINDOWS if series[0].dtype.kind in statistic.kinds else ():
            call = partial(statistic.function, *series, window=window, **sample, **options)
            forget_plans()
            found = call()
            with monkeypatch.context() as patch:
                patch.setattr(Plan, "call", None)
                forget_plans()
                expected = call()
            several = isinstance(found, tuple)
            for one, other in zip(found if several else (found,), expected if several else (expected,)):
                assert one.dtype == other.dtype
                if statistic.exact:
                    np.testing.assert_array_equal(one, other)
                else:
                    np.testing.assert_allclose(one, other, 1e-6 if kind == "float32" else 1e-11, 1e-12)
    forget_plans()


@pytest.mark.parametrize("name", ["mean", "std", "linear_fit", "decayed_mean", "trimmed_mean"])
def test_no_option_changes_a_bit_of_a_short_series(name, rng):
    statistic, values = REGISTRY[name], rng.standard_normal(100)
    call = partial(statistic.function, window=7, **statistic.samples[0])
    expected = np.array(call(values))
    given = np.empty_like(expected)
    out = given if given.ndim == 1 else tuple(given)
    lines = call(values[None])
    for other in (
        call(values, threads=2),
        call(values.tolist()),
        call(np.repeat(values, 2)[::2]),
        call(values, out=out),
        [line[0] for line in lines] if isinstance(lines, tuple) else lines[0],
    ):
        np.testing.assert_array_equal(np.array(other).reshape(expected.shape), expected)


@pytest.mark.parametrize("dtype", [np.int64, np.uint64])
def test_integers_that_float64_may_round_are_not_computed_in_floats(dtype):
    base = 2**62
    values = (base + np.arange(60) % 7 * 3).astype(dtype)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", rollstat.PrecisionWarning)
        for name in ("mad", "iqr", "std", "cov", "ptp"):
            series = [values] * REGISTRY[name].series
            small = [values - values.dtype.type(base)] * REGISTRY[name].series
            function = REGISTRY[name].function
            np.testing.assert_array_equal(function(*series, 7), function(*small, 7))


def test_values_that_one_call_does_not_serve_are_computed_by_blocks():
    blocks = []
    for values in (series(100).astype(np.int64) + 2**60, series(100).astype(np.int64)):
        expected = rollstat.rolling_argmin(values - values.min(), 7, min_periods=1)
        np.testing.assert_array_equal(rollstat.rolling_argmin(values, 7, min_periods=1), expected)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("rollstat.engine.Execution.work", lambda _, line, rows: blocks.append(rows.width))
            rollstat.rolling_argmin(values, 7, min_periods=1)
    assert blocks == [0, 7]  # of the large integers alone: they do not change how the next call runs
