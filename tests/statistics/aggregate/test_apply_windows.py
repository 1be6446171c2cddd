"""Functions of the values of each window; the contract tests compare one with brute force."""

import math
import warnings

import numba
import numpy as np
import pytest

import rollstat
from rollstat.operators.interface import _classes
from rollstat.statistics.aggregate.functions import rolling_apply
from tests.operators.builtin import needs_compiled_code

X = np.array([1.0, 5.0, np.nan, 4.0, 7.0, 2.0])
Y = np.array([3, 1, 4, 1, 5, 9])


def by_hand(function, columns, m, least, with_missing):
    """Return the results of windows of `m` rows with at least `least` observations, NaN elsewhere."""
    columns = [np.asarray(column, float) for column in columns]
    seen = ~np.isnan(columns).any(axis=0)
    results = []
    for end in range(1, len(seen) + 1):
        rows = np.arange(max(end - m, 0), end)
        enough = seen[rows].sum() >= least
        rows = rows if with_missing else rows[seen[rows]]
        results.append(function(*(column[rows] for column in columns)) if enough else np.nan)
    return results


@numba.njit
def spread(x):
    return x.max() - x.min()


@pytest.mark.parametrize("with_missing", [False, True])
@pytest.mark.parametrize(
    "function",
    [
        lambda x, y: float(len(x)) * 10 + len(y),
        lambda x, y: np.nansum(x) + y[-1],
        lambda x, y: np.sort(x[~np.isnan(x)])[0] * math.sqrt(y[0]),
        lambda x, y: spread(y),
    ],
)
def test_several_series(function, with_missing):
    found = rolling_apply((X, Y), function, 3, min_periods=2, with_missing=with_missing)
    np.testing.assert_array_equal(found, by_hand(function, (X, Y), 3, 2, with_missing))
    assert found.dtype == np.float64


def test_several_results_and_their_dtypes():
    low, rising, count = rolling_apply(Y, lambda y: (y.min() / 2, y[-1] > y[0], len(y)), 2, mode="valid")
    assert [low.tolist(), rising.tolist(), count.tolist()] == [
        [0.5, 0.5, 0.5, 0.5, 2.5],
        [False, True, False, True, True],
        [2, 2, 2, 2, 2],
    ]
    assert [low.dtype, rising.dtype, count.dtype] == [np.float64, np.bool_, np.int64]
    out = np.empty(6), np.empty(6)
    assert rolling_apply(X, lambda x: (x.min(), x.max()), 2, min_periods=1, out=out)[1] is out[1]
    assert out[0].tolist() == [1.0, 1.0, 5.0, 4.0, 4.0, 2.0]


def test_further_arguments():
    def scaled(x, share, power=1):
        return share * (x**power).sum()

    wanted = by_hand(lambda x: 0.5 * (x**2).sum(), [X], 2, 1, False)
    for given in ((0.5, 2), {}), ((0.5,), {"power": 2}), ((), {"share": 0.5, "power": 2}):
        np.testing.assert_allclose(rolling_apply(X, scaled, 2, *given, min_periods=1), wanted)
    assert rolling_apply(Y, lambda y, w: (y * w).sum(), 2, (np.array([1, 10]),), mode="valid")[0] == 13
    assert rolling_apply(Y, lambda y, w: (y * w).sum(), 2, (np.array([1, 20]),), mode="valid")[0] == 23
    with pytest.raises(TypeError, match="missing a required argument: 'share'"):
        rolling_apply(X, scaled, 2, kwargs={"power": 2})
    with pytest.raises(TypeError, match="function must be callable; got 3"):
        rolling_apply(X, 3, 2)


def test_functions_that_differ_in_numbers_share_code_and_keep_their_numbers():
    def more_than(limit):
        return lambda y: (y > limit).sum()

    found, before = rolling_apply(Y, more_than(0), 2, min_periods=1), set(_classes)
    assert found.tolist() == [1.0, 2.0, 2.0, 2.0, 2.0, 2.0]
    assert rolling_apply(Y, more_than(3), 2, min_periods=1).tolist() == [0.0, 0.0, 1.0, 1.0, 1.0, 2.0]
    assert set(_classes) == before


@needs_compiled_code
@pytest.mark.filterwarnings("ignore:Python calls <lambda>")
def test_what_numba_cannot_compile_is_called_by_python_after_one_warning():
    table = {"a": 2.0}

    def listed(x):
        seen.append(len(x))
        return table["a"] * len(x)

    for call in range(2):
        seen = []
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            found = rolling_apply(X, listed, 3, min_periods=1, threads=2)
        assert found.tolist() == [2.0, 4.0, 4.0, 4.0, 4.0, 6.0]
        assert seen == [1, 2, 2, 2, 2, 3]  # the effects of each call
        assert len(caught) == (call == 0)
    assert all("Python calls listed for each window" in str(warning.message) for warning in caught)
    assert "it reads table, a dict" in str(rollstat.explain(rolling_apply, X, lambda x: table["a"], 3))


@needs_compiled_code
@pytest.mark.parametrize(
    ("function", "reason"),
    [
        (lambda x: str(x[0]), "numbers"),
        (lambda x: x * 2, "it returns array"),
        (lambda x: {"a": x[0]}["a"] if len(x) > 9 else None, "None|dict"),
    ],
)
def test_results_that_are_no_numbers(function, reason):
    with pytest.warns(UserWarning, match=reason), pytest.raises((TypeError, ValueError)):
        rolling_apply(X, function, 3)


@needs_compiled_code
def test_python_must_return_one_number():
    with (
        pytest.warns(UserWarning, match="it calls helper, a plain function; decorate helper with numba.njit"),
        pytest.raises(TypeError, match=r"function must return one number where Python calls it.*1\.0.*, 2\)"),
    ):
        rolling_apply(X, lambda x: helper(x), 2, min_periods=1)


def helper(x):
    return x[0], 2


def test_errors_of_functions_are_those_of_python():
    out = np.full(6, 9.0)
    for function, error in ((lambda x: x[2], IndexError), (lambda x: 1 // (len(x) - 2), ZeroDivisionError)):
        with pytest.raises(error):
            rolling_apply(X, function, 3, min_periods=1, out=out)
    assert (out == 9.0).all()


def test_threads_and_long_series(rng):
    x, y = rng.normal(size=(2, 40_000))
    x[::7] = np.nan
    function = lambda x, y: (x * y).sum() / len(x)  # noqa: E731 - called several times
    alone = rolling_apply((x, y), function, 20, min_periods=5)
    np.testing.assert_array_equal(rolling_apply((x, y), function, 20, min_periods=5, threads=2), alone)
    np.testing.assert_allclose(alone[-500:], by_hand(function, (x[-519:], y[-519:]), 20, 5, False)[19:])


def test_masked_arrays_with_missing():
    masked = np.ma.MaskedArray(Y, [0, 0, 1, 0, 0, 0])
    found = rolling_apply(masked, lambda y: np.isnan(y).sum(), 2, with_missing=True, min_periods=1)
    assert found.tolist() == [0, 0, 1, 1, 0, 0]
