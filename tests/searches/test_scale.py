"""Statistics that round, at extreme scale, and that the search finds a missing handling of scale."""

import numpy as np
import pytest

from rollstat.registry import REGISTRY
from rollstat.statistics.sums import window_sums
from tests.fuzz import scale
from tests.fuzz.exact_results import OF_MORE, RESULTS

MOMENTS = [name for name, (kind, _) in RESULTS.items() if kind == "moment"]
pytestmark = pytest.mark.filterwarnings("ignore")


def search(name, faces=("rows", "time", "bounds"), calls=12):
    """Make random calls of one statistic over arrays; return the rows compared."""
    return sum(
        scale.compare(np.random.default_rng([0, number]), REGISTRY[name], {}, faces)
        for number in range(calls)
    )


def test_every_statistic_that_rounds_has_a_bound():
    assert {name for name in REGISTRY if not REGISTRY[name].exact} - OF_MORE == set(RESULTS)


@pytest.mark.parametrize("name", REGISTRY)
def test_every_statistic_that_rounds_states_its_bound(name):
    statistic = REGISTRY[name]
    assert len(statistic.error_bound) == (
        0 if statistic.exact or name in ("aggregate", "regression") else len(statistic.outputs)
    )
    assert all(
        bound in statistic.function.__doc__
        for output, bound in zip(statistic.outputs, statistic.error_bound)
        if output != "intercept"  # made of two bounds
    )


def test_an_error_beyond_its_bound_is_found(monkeypatch):
    def difference_of_totals(statistic, arrays, window, sample, **options):
        total = np.nancumsum(arrays[0])
        return total - np.concatenate([np.zeros(window), total])[: len(total)]

    monkeypatch.setattr(scale, "call", difference_of_totals)
    with pytest.raises(AssertionError):
        search("sum", ["rows"])


@pytest.mark.parametrize("name", RESULTS)
def test_results_are_within_their_bounds(name):
    # Two series have many more pairs of kinds: half a handling of scale is found after about 30 calls.
    assert search(name, calls=60 if REGISTRY[name].series > 1 else 12) > 100


def test_intercepts_over_subnormal_slopes_are_within_their_bound():
    faces = ("rows", "time", "bounds")
    assert scale.compare(np.random.default_rng([9, 58]), REGISTRY["linear_fit"], {}, faces) > 100


@pytest.mark.parametrize("name", MOMENTS)
def test_a_moment_that_is_not_scaled_is_found(name, monkeypatch):
    monkeypatch.setattr(window_sums, "_rescale", lambda *_: None)
    monkeypatch.setattr(window_sums, "_stays_in_range", lambda *_: True)
    with pytest.raises(AssertionError):
        search(name, calls=40)


@pytest.mark.parametrize("name", MOMENTS)
def test_a_moment_that_rounds_large_integers_is_found(name, monkeypatch):
    monkeypatch.setattr(window_sums, "is_large", lambda values: False)
    with pytest.raises(AssertionError):
        search(name, calls=40)


def test_a_new_moment_without_handling_of_scale_is_found(monkeypatch):
    def naive(statistic, arrays, window, sample, **options):
        x, y, ddof = *arrays, sample["ddof"]
        results = np.full(len(x), np.nan)
        for i in range(len(x)):
            rows = slice(max(i + 1 - window, 0), i + 1)
            seen = np.array([x[rows], y[rows]], float)
            seen = seen[:, ~np.isnan(seen).any(axis=0)]
            if seen.shape[1] > ddof:
                results[i] = np.cov(seen, ddof=ddof)[0, 1]
        return results

    monkeypatch.setattr(scale, "call", naive)
    with pytest.raises(AssertionError):
        search("cov", ["rows"], calls=40)
