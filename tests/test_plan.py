"""Plans: cached ones give the results of any other, however often and in whatever order calls are made."""

import warnings
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import pytest

import rollstat
from rollstat.blocks import UNKNOWN, Block, Outcome
from rollstat.operators.interface import key_of
from rollstat.options import Options, ordered_times
from rollstat.plan import Plan, forget_plans, kept_plans
from rollstat.registry import REGISTRY
from rollstat.results import MinPeriods
from rollstat.statistics.extrema.computation import ExtremaOf

FUNCTIONS = [
    rollstat.rolling_min,
    rollstat.rolling_minmax,
    rollstat.rolling_argmax,
    rollstat.rolling_argminmax,
    rollstat.rolling_ptp,
    rollstat.rolling_sum,
    rollstat.rolling_mean,
    rollstat.rolling_std,
    rollstat.rolling_count,
    rollstat.rolling_first,
    rollstat.rolling_median,
]


def series(length, dtype=np.float64, missing=0.0):
    rng = np.random.default_rng(20261121)
    values = rng.integers(-9, 9, length).astype(dtype)
    values[rng.random(length) < missing] = np.nan
    return values


def apart(array):
    """Return the elements of an array as a list, if there are any: its calls are planned anew."""
    return list(array) or array


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_plain_and_other_calls_agree(function, dtype, missing):
    for length in (0, 1, 5, 200):
        for window in (1, 4, 5, 60, 300):
            for options in ({}, {"min_periods": 1}, {"center": True}, {"closed": "left", "min_periods": 0}):
                plain = series(length, dtype, missing)
                other = apart(plain)
                for _ in range(2):
                    found = function(plain, window, **options)
                    np.testing.assert_array_equal(found, function(other, window, **options))
                    assert np.asarray(found).dtype == np.asarray(function(other, window)).dtype


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("shift", [0, 2**56])
def test_plain_and_other_calls_of_integers_agree(function, shift):
    for length, window in ((0, 4), (5, 4), (200, 1), (200, 5), (200, 60), (5, 300)):
        for options in ({}, {"min_periods": 1}, {"center": True}, {"closed": "left", "min_periods": 0}):
            plain = series(length).astype(np.int64) + shift
            other = apart(plain)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", rollstat.PrecisionWarning)
                for _ in range(2):
                    found = function(plain, window, **options)
                    np.testing.assert_array_equal(found, function(other, window, **options))


@pytest.mark.parametrize("missing", [0.0, 0.3])
@pytest.mark.parametrize("order", [np.asarray, np.sort], ids=["mixed", "sorted"])
def test_plain_and_other_order_statistics_agree(missing, order):
    for window in (5, 6):
        for dtype in (np.float64, np.int64) if not missing else (np.float64,):
            values = order(series(200, missing=missing)).astype(dtype)
            other = apart(values)
            for k in (1, 2, -1):
                for _ in range(2):
                    found = rollstat.rolling_kth(values, k, window)
                    np.testing.assert_array_equal(found, rollstat.rolling_kth(other, k, window))
            for interpolation in ("linear", "midpoint", "nearest"):
                options = {"interpolation": interpolation, "min_periods": 2}
                for _ in range(2):
                    found = rollstat.rolling_quantile(values, window, 0.3, **options)
                    expected = rollstat.rolling_quantile(other, window, 0.3, **options)
                    np.testing.assert_array_equal(found, expected)


def test_a_known_call_knows_all_that_decides_it():
    values = series(50)
    expected = rollstat.rolling_median(values, 7)
    assert rollstat.explain(rollstat.rolling_median, values, 7).one_call
    np.testing.assert_array_equal(rollstat.rolling_median(values, 7), expected)
    for window in (True, 7.0):
        with pytest.raises((TypeError, ValueError), match="window"):
            rollstat.rolling_median(values, window)
    with pytest.raises(ValueError, match="min_periods must be at most the window, 7; got 8"):
        rollstat.rolling_median(values, 7, min_periods=8)
    for other in (values.astype(np.float32), values[:40].copy(), values[::-1].copy()[::-1], list(values)):
        result = rollstat.rolling_median(other, 7)
        np.testing.assert_array_equal(result, expected[: len(other)])
        assert result.dtype == np.asarray(other).dtype
    missing = np.where(np.arange(50) == 20, np.nan, values)
    for _ in range(2):
        assert np.isnan(rollstat.rolling_median(missing, 7)[20:27]).all()
        np.testing.assert_array_equal(rollstat.rolling_median(values, 7), expected)


def test_medians_of_one_thread_do_not_mix():
    values, long = series(200), series(1000)
    expected = [rollstat.rolling_median(apart(x), 6) for x in (values, long)]
    for _ in range(2):
        for x, result in zip((values, long), expected):
            np.testing.assert_array_equal(rollstat.rolling_median(x, 6), result)


@pytest.mark.parametrize("function", [rollstat.rolling_cov, rollstat.rolling_corr, rollstat.rolling_beta])
@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_plain_and_other_calls_of_two_series_agree(function, missing):
    for length, window in ((0, 4), (5, 4), (200, 5), (200, 60)):
        for options in ({}, {"min_periods": 2}, {"center": True}):
            x, y = series(length, missing=missing), series(length)[::-1].copy()
            for first, second in ((x, y), (y, x), (y, y.astype(np.int64))):
                expected = function(apart(first), second, window, **options)
                for _ in range(2):
                    np.testing.assert_array_equal(function(first, second, window, **options), expected)


def test_operators_and_pairs_have_cached_plans():
    values = series(100)
    for call in (
        lambda: rollstat.rolling_aggregate(values, rollstat.operators.Product(), 5),
        lambda: rollstat.rolling_sum(values.astype(np.int64), 5),
        lambda: rollstat.rolling_cov(values, values, 5),
    ):
        forget_plans()
        call()
        (plan,) = kept_plans.values()
        call()
        assert [*kept_plans.values()] == [plan]


class Weighted(NamedTuple):
    """A sum of values times a factor."""

    factor: float

    def lift(self, x):
        return x * self.factor

    def combine(self, older, newer):
        return older + newer


def test_plans_of_operators_that_are_equal_as_tuples_differ():
    values = np.arange(6)
    for operator in (rollstat.operators.Sum(), rollstat.operators.Product()):
        expected = rollstat.rolling_aggregate(apart(values), operator, 2)
        np.testing.assert_array_equal(rollstat.rolling_aggregate(values, operator, 2), expected)
    assert key_of(Weighted(1)) != key_of(Weighted(1.0))
    assert key_of(Weighted(0.0)) != key_of(Weighted(-0.0))
    assert key_of(Weighted(np.ones(2))) is None


@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_both_extrema_of_a_long_series(missing):
    """Both extrema are those of two calls, also in the rows that have none."""
    values = series(900_000, missing=missing)
    for window, least in ((2, None), (100, None), (20_000, None), (20_000, 7_000)):
        alone = [f(values, window, min_periods=least) for f in (rollstat.rolling_min, rollstat.rolling_max)]
        if not missing:
            assert np.isnan(alone[0][: (least or window) - 1]).all()
            assert not np.isnan(alone[0][(least or window) - 1 :]).any()
        for _ in range(2):
            np.testing.assert_array_equal(rollstat.rolling_minmax(values, window, min_periods=least), alone)


def test_results_of_two_calls_are_different_memory():
    values = series(100)
    first, second = rollstat.rolling_min(values, 5), rollstat.rolling_min(values, 5)
    assert not np.may_share_memory(first, second)
    assert first.flags.writeable
    assert first.flags.c_contiguous


def test_a_call_made_before_hides_no_error():
    values = series(100)
    rollstat.rolling_min(values, 1, min_periods=1)
    rollstat.rolling_min(values, 2, min_periods=1)
    for window in (True, 1.0, np.bool_(True)):
        with pytest.raises((TypeError, ValueError), match="window"):
            rollstat.rolling_min(values, window, min_periods=1)
    for least in (True, 1.0, [1]):
        with pytest.raises(TypeError, match="min_periods must be an integer"):
            rollstat.rolling_min(values, 2, min_periods=least)
    for _ in range(2):
        with pytest.raises(ValueError, match="min_periods must be at most the window, 2; got 3"):
            rollstat.rolling_min(values, 2, min_periods=3)


def test_threads_set_later_are_used():
    before = rollstat.get_threads()
    try:
        rollstat.set_threads(before + 1)
        assert Options.check(min_periods=1).threads == Options.check(threads=before + 1).threads
    finally:
        rollstat.set_threads(before)


@pytest.mark.parametrize("array", [np.zeros(5, "f2"), [1.0, 2.0], np.ma.zeros(5)])
def test_calls_of_other_arrays_keep_no_plan(array):
    forget_plans()
    rollstat.rolling_min(array, 2)
    assert not kept_plans


@pytest.mark.parametrize(
    "array",
    [
        np.zeros((3, 4)),
        np.arange(12).reshape(3, 4).T,
        np.arange(9.0)[::-2],
        np.zeros(5, "M8[s]"),
        np.zeros(5, ">f8"),
    ],
)
def test_calls_of_aligned_arrays_keep_their_plan(array):
    forget_plans()
    found = [rollstat.rolling_min(array, 2, min_periods=1) for _ in range(2)]
    assert len(kept_plans) == 1
    np.testing.assert_array_equal(*found)
    np.testing.assert_array_equal(found[0], rollstat.rolling_min(apart(array), 2, min_periods=1))
    assert found[0].dtype == found[1].dtype


def test_segments_of_a_kept_plan_may_change_afterwards():
    forget_plans()
    values, segments = np.array([5.0, 4.0, 3.0, 2.0, 1.0]), np.array([0, 2, 5])
    expected = {2: [5.0, 5.0, 3.0, 3.0, 2.0], 3: [5.0, 5.0, 4.0, 2.0, 2.0]}
    for start in (2, 3, 2):
        segments[1] = start
        found = rollstat.rolling_max(values, 2, min_periods=1, segments=segments)
        np.testing.assert_array_equal(found, expected[start])
    assert len(kept_plans) == 2


def test_calls_with_and_without_out_share_a_plan():
    forget_plans()
    values = np.array([3.0, 1.0, 2.0])
    first, second = np.zeros((2, 3))
    assert rollstat.rolling_min(values, 2, min_periods=1, out=first) is first
    assert rollstat.rolling_min(values, 2, min_periods=1, out=second) is second
    third = rollstat.rolling_min(values, 2, min_periods=1)
    with pytest.raises(ValueError, match="out must have shape"):
        rollstat.rolling_min(values, 2, min_periods=1, out=np.zeros(4))
    for found in (first, second, third):
        np.testing.assert_array_equal(found, [3.0, 1.0, 1.0])
    assert len(kept_plans) == 1


def test_calls_whose_plan_serves_no_other():
    forget_plans()
    rollstat.rolling_min(np.zeros(5), 2, min_periods=1, nan_policy="raise")
    assert not kept_plans


def test_lists_are_kept_by_their_elements():
    forget_plans()
    values, q = np.array([4.0, 1.0, 3.0, 2.0]), [0.0, 1.0]
    for q[1], last in ((1.0, 3.0), (0.5, 2.0), (1.0, 3.0)):
        np.testing.assert_array_equal(rollstat.rolling_quantile(values, 3, q)[:, -1], [1.0, last])
    assert len(kept_plans) == 2
    np.testing.assert_array_equal(rollstat.rolling_min(values, 2, segments=[0, 2, 4])[1::2], [1.0, 2.0])
    np.testing.assert_array_equal(rollstat.rolling_min(values, 2, segments=[0, 3, 4])[1:3], [1.0, 1.0])


@pytest.mark.parametrize(
    "options",
    [
        {"step": 3},
        {"mode": "valid"},
        {"fill_value": 7},
        {"threads": 2},
        {"axis": 0},
        {"nan_policy": "propagate", "min_periods": 2},
    ],
)
@pytest.mark.parametrize("window", [4, rollstat.Expanding(), rollstat.Forward(3)])
@pytest.mark.parametrize("name", ["min", "argmax", "median", "sum"])
def test_a_kept_plan_equals_a_new_one(name, window, options):
    function = REGISTRY[name].function
    for dtype in (np.float64, np.int64):
        values = series(50).astype(dtype)
        forget_plans()
        first = function(values, window, **options)
        assert len(kept_plans) == 1
        for data in (values, values[::-1].copy()):
            expected = function(apart(data), window, **options)
            assert first.dtype == expected.dtype
            np.testing.assert_array_equal(function(data, window, **options), expected)


def test_calls_at_the_same_time_do_not_mix():
    lines = [series(5_000) * k for k in range(1, 9)]
    expected = [rollstat.rolling_min(apart(line), 7) for line in lines]
    with ThreadPoolExecutor(4) as pool:
        for _ in range(5):
            found = list(pool.map(lambda line: rollstat.rolling_min(line, 7), lines))
            np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("ddof", [0, 1])
def test_parameters_are_told_apart(ddof):
    values = series(50)
    for _ in range(2):
        wanted = [np.var(values[i - 4 : i + 1], ddof=ddof) for i in range(4, 50)]
        np.testing.assert_allclose(rollstat.rolling_var(values, 5, ddof=ddof)[4:], wanted, rtol=1e-12)


def plan_of(window, length=100, **options):
    make = partial(ExtremaOf, names=("min",))
    return Plan(np.dtype(float), (length,), window, make, Options.check(**options))


def test_a_plan_divides_the_rows():
    plan = plan_of(4)
    assert plan.insufficient == (slice(0, 3),)
    assert plan.blocks == ((3, 100, 4, 1),)
    plan = plan_of(4, min_periods=2)
    assert plan.insufficient == (slice(0, 1),)
    assert plan.blocks == ((1, 3, 0, 1), (3, 100, 4, 1))
    plan = plan_of(4, min_periods=2, center=True)
    assert plan.insufficient == ()
    assert plan.blocks == ((0, 2, 0, 1), (2, 99, 4, 1), (99, 100, 0, 1))
    assert plan_of(200).insufficient == (slice(0, 100),)
    assert plan_of(200).blocks == ()
    many = plan_of(3, 3_000_000)
    rows = [(part.start, part.stop) for part in many.insufficient]
    rows += [(block.first, block.last) for block in many.blocks]
    assert len(rows) > 2
    assert rows[0][0] == 0
    assert rows[-1][1] == 3_000_000
    assert all(end == start for (_, end), (start, _) in pairwise(rows))


@pytest.mark.parametrize("propagate", [False, True])
def test_one_rule_says_which_rows_are_insufficient(propagate):
    values = np.array([1.0, np.nan, 2.0, 3.0, np.nan, 4.0])
    rule = MinPeriods((1, 2), propagate, False)
    assert rule.lowest == 1
    few = rule.insufficient(Block.regular(values, UNKNOWN, 2), Outcome())
    count = np.array([1, 1, 2, 1, 1])
    for rows, need in zip(few, (2, 2) if propagate else (1, 2)):
        np.testing.assert_array_equal(rows, count < need)
    other = Outcome(undefined=np.array([True, False, False, False, False]))
    assert rule.insufficient(Block.regular(values, UNKNOWN, 2), other)[0][0]
    assert rule.insufficient(Block.regular(values[2:4], None, 2), Outcome()) is None
    assert MinPeriods((2, 2), propagate, True).nan_below(5) == (5 if propagate else 2)
    assert MinPeriods((2, 2), propagate, True).nan_below(0) == (None if propagate else 2)
    assert MinPeriods((2, 2), propagate, False).nan_below(5) is None


def times_of(kind, n, seed=0):
    steps = np.random.default_rng(seed).integers(1, 9, n)
    if kind == "regular":
        return np.arange(n) * 3 + seed
    if kind == "equal":
        return np.cumsum(steps % 2)
    return np.cumsum(steps).astype("M8[s]" if kind == "datetimes" else np.int64)


OVER_TIMES = [
    *(rollstat.rolling_sum, rollstat.rolling_mean, rollstat.rolling_std, rollstat.rolling_skew),
    *(rollstat.rolling_min, rollstat.rolling_argmax, rollstat.rolling_median, rollstat.rolling_rank),
]


@pytest.mark.parametrize("kind", ["regular", "irregular", "equal", "datetimes"])
@pytest.mark.parametrize("function", OVER_TIMES)
def test_one_plan_serves_other_times(function, kind):
    width = "11s" if kind == "datetimes" else 11
    for dtype, missing in ((float, 0.0), (float, 0.2), (np.int64, 0.0)):
        values = series(60, missing=missing).astype(dtype)
        for options in ({}, {"center": True}, {"closed": "both"}, {"closed": "left", "min_periods": 2}):
            for seed in (0, 1, 0):
                times = times_of(kind, 60, seed)
                found = function(values, width, times=times, **options)
                expected = function(apart(values), width, times=apart(times), **options)
                np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("rows", [50, 9_000])  # in one call, and by blocks
def test_a_plan_reads_the_times_of_each_call(rows):
    values, times = series(rows), times_of("irregular", rows)
    first = rollstat.rolling_sum(values, 11, times=times)
    times[30:] += 100
    second = rollstat.rolling_sum(values, 11, times=times)
    assert (first[30:] != second[30:]).any()
    np.testing.assert_array_equal(second, rollstat.rolling_sum(apart(values), 11, times=apart(times)))


def test_times_of_a_known_plan_are_checked():
    values, times = series(50), times_of("datetimes", 50)
    for _ in range(2):
        rollstat.rolling_max(values, "9s", times=times)
    missing, swapped = times.copy(), times.copy()
    missing[7], swapped[7] = "NaT", times[20]
    with pytest.raises(ValueError, match="row 7 is NaT"):
        rollstat.rolling_max(values, "9s", times=missing)
    with pytest.raises(ValueError, match="times must be in order; row 8 is out of order"):
        rollstat.rolling_max(values, "9s", times=swapped)
    with pytest.raises(ValueError, match="as long as the data, 50"):
        rollstat.rolling_max(values, "9s", times=times[:-1])
    backwards = rollstat.rolling_max(values, "9s", times=times[::-1].copy())
    np.testing.assert_array_equal(backwards, rollstat.rolling_max(apart(values), "9s", times=times[::-1]))


@pytest.mark.parametrize("times", [[0, 1], [0.0, 1.0], [5, 5, 6], np.arange(9)[::3]])
def test_other_times_are_not_summarised(times):
    array = np.asarray(times)
    accepted = array.dtype.kind == "i" and array.flags.c_contiguous
    assert (ordered_times(array) is not None) == accepted
    assert ordered_times(times if isinstance(times, list) else list(times)) is None


def test_distances_of_times_that_overflow_are_not_regular():
    far = np.array([-(2**63) + 1, 2**63 - 1])
    assert ordered_times(far).gap == 0
    with pytest.raises(ValueError, match="row 2 is out of order"):
        rollstat.rolling_sum(np.ones(3), 5, times=np.append(far, 2**63 - 3))
    np.testing.assert_array_equal(rollstat.rolling_sum(np.ones(2), 2**62, times=far), [1.0, 1.0])


@pytest.mark.parametrize(
    ("labels", "width", "expected"), [(1000, 10, True), (10, 100, True), (100, 10_000, False)]
)
def test_one_call_serves_windows_at_few_times_unless_many_rows_enter_them(labels, width, expected):
    values, times = np.arange(200_000.0) % 1009, np.arange(200_000.0)
    at = np.linspace(width, 199_999, labels).round()
    given = {"times": times, "at": at}
    assert rollstat.explain(rollstat.rolling_median, values, float(width), **given).one_call == expected
    found = rollstat.rolling_median(values, float(width), **given)
    np.testing.assert_array_equal(found, rollstat.rolling_median(values, width)[at.astype(int)])
