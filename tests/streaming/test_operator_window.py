"""Arrays given to the general windows: what pushes give, to the bit, however the input is cut."""

import tracemalloc
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import rollstat
from rollstat import operators
from rollstat.registry import REGISTRY
from rollstat.streaming import STREAMS, FixedAggregate, SlidingAggregate, TimeAggregate, operator_window
from rollstat.streaming.base import NO_STEP
from tests.streaming.cases import outputs, push_all

N = 300
OPERATORS = {
    "sum": (operators.Sum(), "f8"),
    "variance": (operators.Variance(1), "f8"),
    "narrow": (operators.Mean(), "f4"),
    "whole": (operators.Sum(), "i8"),
    "unsigned": (operators.Maximum(), "u8"),
    "row": (operators.ArgMinimum(), "f8"),
    "order": (operators.First(), "i4"),
    "pair": (operators.Covariance(1), "f8"),
    "several": (operators.LinearFit(), "f8"),
}
WINDOWS = {
    "2 rows": lambda operator, **kw: FixedAggregate(operator, 2, min_periods=1, **kw),
    "6 rows": lambda operator, **kw: FixedAggregate(operator, 6, **kw),
    "7 rows": lambda operator, **kw: FixedAggregate(operator, 7, **kw),
    "64 rows": lambda operator, **kw: FixedAggregate(operator, 64, min_periods=0, **kw),
    "by time": lambda operator, **kw: TimeAggregate(operator, 20, **kw),
    "free": SlidingAggregate,
}
FURTHER_TYPES = ("narrow", "unsigned", "order")
# Each operator is compiled once more for another algorithm than that of "auto".
SHORT = {"daba": set(OPERATORS) - set(FURTHER_TYPES), "two_stacks": {"sum", "several"}}
# And once more for windows by time.
TIMED = {"sum", "row"}


def cases(algorithms):
    """Return each operator in each window by some algorithms, marked if they are left to longer runs."""
    return [
        pytest.param(
            *(name, window, algorithm),
            marks=()
            if name in SHORT[algorithm] and (window != "by time" or name in TIMED)
            else pytest.mark.long,
            id=f"{name}-{window}-{algorithm}",
        )
        for algorithm in algorithms
        for name in OPERATORS
        for window in WINDOWS
    ]


def columns_for(operator, dtype, rng, gaps):
    number = 2 if isinstance(operator, (operators.Covariance, operators.LinearFit)) else 1
    columns = []
    for _ in range(number):
        column = (rng.normal(size=N) * 100 + 300).astype(dtype)
        if gaps:
            column = np.ma.MaskedArray(column, rng.random(N) < 0.2)
        columns.append(column)
    return columns


@pytest.mark.parametrize(("name", "window", "algorithm"), cases(SHORT))
@pytest.mark.parametrize("gaps", [False, True])
@pytest.mark.filterwarnings("error")
def test_arrays_are_pushes(name, window, gaps, algorithm, rng, monkeypatch):
    monkeypatch.setattr(operator_window, "_BLOCK", 50)
    operator, dtype = OPERATORS[name]
    columns = columns_for(operator, dtype, rng, gaps)
    times = np.cumsum(rng.choice([0, 1, 2, 60], N, p=[0.3, 0.5, 0.19, 0.01])) if window == "by time" else None
    single = WINDOWS[window](operator, dtype=dtype, algorithm=algorithm)
    pushed = push_all(single, columns, None if times is None else times.tolist())
    for splits in ([], [1, 2, 3, 40, 41, 170], sorted(rng.integers(0, N, 9).tolist())):
        stream = WINDOWS[window](operator, dtype=dtype, algorithm=algorithm)
        for k, (first, last) in enumerate(zip([0, *splits], [*splits, N])):
            rows = slice(first, last)
            part = [column[rows] for column in columns]
            later = None if times is None else times[rows]
            if k % 4 == 3:
                got = push_all(stream, part, None if times is None else later.tolist())
            else:
                got = outputs(stream.extend(*part, **({} if times is None else {"times": later})))
            for one, wanted in zip(got, pushed):
                np.testing.assert_array_equal(np.array(one, float), np.array(wanted[rows], float))
            assert len(stream) <= N
        assert repr(stream.value) == repr(single.value)
        twin = rollstat.restore(stream.snapshot())
        assert repr(twin.value) == repr(stream.value)


@pytest.mark.parametrize(("name", "window", "algorithm"), cases(["daba"]))
def test_what_does_not_fit_changes_nothing(name, window, algorithm, rng):
    operator, dtype = OPERATORS[name]
    columns = columns_for(operator, dtype, rng, False)
    timed = window == "by time"
    stream = WINDOWS[window](operator, dtype=dtype, algorithm=algorithm)
    stream.extend(*columns, **({"times": np.arange(N)} if timed else {}))
    before = stream.snapshot()
    words = [column.astype(str) for column in columns]
    for bad in (words, [column[:, None] for column in columns], [*columns, columns[0]]):
        with pytest.raises((TypeError, ValueError)):
            stream.extend(*bad, **({"times": np.arange(N, 2 * N)} if timed else {}))
    for times in (np.arange(N), np.arange(2 * N)) if timed else (np.arange(N, 2 * N),):
        with pytest.raises((TypeError, ValueError)):
            stream.extend(*columns, times=times)
    assert stream.snapshot() == before


def test_a_sum_that_does_not_fit_changes_nothing():
    stream = FixedAggregate(operators.Sum(), 3, dtype=np.int64, min_periods=1)
    stream.extend(np.array([5, 6]))
    before = stream.snapshot()
    with pytest.raises(OverflowError, match="64 bits"):
        stream.extend(np.array([2**62, 2**62, 1, 2, 3]))
    assert stream.snapshot() == before
    assert stream.extend(np.array([7, 8])).tolist() == [18, 21]
    # A result that is not wanted may be too large.
    few = FixedAggregate(operators.Sum(), 3, dtype=np.int64)
    with pytest.warns(rollstat.PrecisionWarning, match=r"beyond 2\*\*53"):
        found = few.extend([2**62, 2**62, -(2**62), 0])
    np.testing.assert_array_equal(found, [np.nan, np.nan, 2**62, 0])


@pytest.mark.slow
@pytest.mark.parametrize("dtype", ["f8", "f4", "i8"])
def test_memory_beyond_results_is_that_of_a_block(dtype, rng):
    values = (rng.normal(size=1_000_000) * 1000).astype(dtype)
    stream = FixedAggregate(operators.Sum(), 100, min_periods=1, dtype=dtype)
    stream.extend(values[:1000])
    tracemalloc.start()
    try:
        result = stream.extend(values)
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    # float32 results are computed in float64; two bytes a row say what is missing or too large.
    room = {"f8": 8, "f4": 12, "i8": 8}[dtype]
    assert result.itemsize == np.dtype(dtype).itemsize
    assert most <= (room + 3) * len(values) + 2**21


class TwoDecays(NamedTuple):
    """States that are arrays, and combinations that are not associative, so that their order shows."""

    def lift(self, x):
        state = np.zeros(2)
        state[0], state[1] = x, x * x
        return state

    def combine(self, older, newer):
        return 0.5 * older + newer

    def lower(self, state):
        return state[0] + state[1]


@pytest.mark.parametrize("window", [2, 3, 6, 7])
def test_states_that_are_arrays(window, rng, monkeypatch):
    monkeypatch.setattr(operator_window, "_BLOCK", 50)
    stream, single = (FixedAggregate(TwoDecays(), window, min_periods=1, check=False) for _ in range(2))
    values = rng.normal(size=N)
    for part in (values[:7], values[7:]):
        np.testing.assert_array_equal(stream.extend(part), [single.push(x) for x in part.tolist()])


def test_an_operator_that_raises_stops_a_stream():
    def positive(x):
        if x < 0:
            raise ValueError("x must not be negative")
        return x

    def add(older, newer):
        return older + newer

    stream = FixedAggregate(operators.function_operator(add, positive), 4, min_periods=1)
    stream.extend(np.arange(9.0))
    with pytest.raises(ValueError, match="must not be negative"):
        stream.extend([*range(7), -1.0])
    with pytest.raises(RuntimeError, match="reset"):
        stream.extend([1.0])
    stream.reset()
    np.testing.assert_array_equal(stream.extend([1.0, 2, 3, 4, 5]), [1, 3, 6, 10, 14])


@pytest.mark.parametrize("kind", [rollstat.RollingMin, rollstat.RollingMax, rollstat.RollingMinMax])
@pytest.mark.parametrize("window", [2, 9, 130])
def test_extrema_of_rows_held_and_new_ones(kind, window, rng):
    """Where a window is full and nothing is missing, where it is not, and where something is."""
    for held, gaps in ((3 * window, ()), (window - 1, ()), (2 * window, (window,)), (window, (window + 1,))):
        values = rng.standard_normal(held + 20 * window)
        values[list(gaps)] = np.nan
        stream, single = (kind(window, min_periods=1) for _ in range(2))
        stream.extend(values[:held])
        push_all(single, [values[:held]])
        found, expected = stream.extend(values[held:]), push_all(single, [values[held:]])
        for one, other in zip(found if isinstance(found, tuple) else (found,), expected):
            np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("kind", [rollstat.RollingMin, rollstat.RollingMax, rollstat.RollingMinMax])
def test_extrema_go_on_with_any_layout_and_with_masks(kind, rng):
    values = rng.standard_normal((60, 2))
    values.flags.writeable = False
    masked = np.ma.MaskedArray(values[:, 0], np.arange(60) == 3)
    for part, plain in (
        (values[:, 0], values[:, 0]),
        (values[::-1, 1], values[::-1, 1]),
        (masked, masked.filled(np.nan)),
    ):
        stream, single = (kind(5, min_periods=1) for _ in range(2))
        stream.extend(values[:9, 1])
        push_all(single, [values[:9, 1]])
        found, expected = stream.extend(part), push_all(single, [plain])
        for one, other in zip(found if isinstance(found, tuple) else (found,), expected):
            np.testing.assert_array_equal(np.ma.filled(one, np.nan), other)


HALVES = {
    "first": (lambda m: rollstat.RollingFirst(m), lambda x, m: rollstat.rolling_first(x, m)),
    "mean": (
        lambda m: rollstat.RollingMean(m, min_periods=1),
        lambda x, m: rollstat.rolling_mean(x, m, min_periods=1),
    ),
    "var": (lambda m: rollstat.RollingVar(m), lambda x, m: rollstat.rolling_var(x, m)),
    "decayed": (
        lambda m: rollstat.RollingDecayedSum(m, 0.999, min_periods=9),
        lambda x, m: rollstat.rolling_decayed_sum(x, m, 0.999, min_periods=9),
    ),
}


@pytest.mark.parametrize("name", HALVES)
@pytest.mark.parametrize("gaps", [False, True])
def test_half_a_window_at_once(name, gaps, rng):
    make, function = HALVES[name]
    values = rng.standard_normal(26_000)
    if gaps:
        values[rng.random(len(values)) < 0.0003] = np.nan
        values[9_000:15_500] = np.nan
    # Half windows from empty, into one that fills, and into full ones; then fewer rows, by the window itself.
    ends = [0, 4_000, 8_500, 13_000, 20_000, 24_500, 26_000]
    stream = make(7_000)
    parts = [stream.extend(values[first:end]) for first, end in pairwise(ends)]
    results = np.concatenate([*parts, [stream.push(x) for x in values[:50].tolist()]])
    expected = function(np.concatenate([values, values[:50]]), 7_000)
    assert [len(part) for part in parts] == np.diff(ends).tolist()
    np.testing.assert_allclose(results, expected, 1e-11, 1e-11)
    assert len(stream) == 7_000


# Differences of these times and the width round; infinities and distances beyond the largest float occur.
FLOAT_TIMES = st.one_of(
    st.floats(allow_nan=False),
    st.integers(0, 200).map(lambda i: 1e15 + i / 10),
    st.integers(0, 60).map(lambda i: i * 0.1),
)
MAKERS = [
    (rollstat.rolling_min, rollstat.RollingMin),
    (rollstat.rolling_sum, rollstat.RollingSum),
    (rollstat.rolling_sum, lambda width: TimeAggregate(operators.Sum(), width)),
]


@settings(max_examples=80, deadline=None)
@given(st.lists(FLOAT_TIMES, max_size=12), st.sampled_from([5.9, 0.1, 0.3, 1e15, 1.7e308]))
@example([1e15 + 24, 1e15 + 29.9], 5.9)
@example([-np.inf, -np.inf, 0.0, np.inf, np.inf], 5.9)
@example([-1.7e308, 1.7e308], 1.7e308)
def test_float_times_at_the_edge_of_a_window(times, width):
    times = np.sort(np.array(times, float))
    values = np.arange(1.0, len(times) + 1)
    for function, make in MAKERS:
        wanted = function(values, width, times=times)
        stream = make(width)
        np.testing.assert_array_equal([stream.push(x, t) for x, t in zip(values, times)], wanted)
        for split in (0, len(times) // 2):
            stream = make(width)
            parts = [
                stream.extend(values[part], times=times[part]) for part in (slice(split), slice(split, None))
            ]
            np.testing.assert_array_equal(np.concatenate(parts), wanted)
    if len(times):
        tail = rollstat.RollingMin.from_tail(values, width, times=times)
        assert tail.value == rollstat.rolling_min(values, width, times=times)[-1]


@pytest.mark.parametrize("name", ["var", "std", "sem", "skew", "kurt", "cov", "corr", "beta"])
def test_a_common_offset_costs_no_digits(name, rng):
    """Moments depend on differences alone, which are exact here: the noise has 10 bits below the point."""
    series = REGISTRY[name].series
    noise = np.round(rng.normal(size=(series, 200)) * 2**10) / 2**10
    stream, function = STREAMS[name](20), getattr(rollstat, f"rolling_{name}")
    found = [np.nan if value is None else value for value in map(stream.push, *(2.0**40 + noise).tolist())]
    np.testing.assert_allclose(found, function(*noise, 20), rtol=1e-11)


_PUSHED = {"mean": {}, "ewm_mean": {"alpha": 0.3}, "ewm_std": {"alpha": 0.3}, "ewm_sum": {"halflife": "3s"}}


@pytest.mark.parametrize("statistic", _PUSHED)
@pytest.mark.parametrize("window", [rollstat.Expanding(), 20])
def test_compiled_pushes_equal_those_through_the_window(statistic, window, rng):
    values = np.where(rng.random(300) < 0.2, np.nan, rng.standard_normal(300)).tolist()
    timed = "halflife" in _PUSHED[statistic]

    def make():
        return STREAMS[statistic](window, **_PUSHED[statistic], min_periods=3)

    quick, slow = make(), make()
    slow._window.quick = NO_STEP
    for i, x in enumerate(values):
        assert quick._window.quick[0]
        if i == 150 and window != 20 and not timed:  # the memory of the window may be another one afterwards
            for stream in (quick, slow):
                joined = make()
                joined.merge(stream)
                stream.merge(joined)
            slow._window.quick = NO_STEP
        if i == 200:
            quick = rollstat.restore(quick.snapshot())
        given = np.int64(i) if i % 50 == 7 else x  # which no compiled step takes
        time = [np.datetime64(i // 3, "s")] * timed
        np.testing.assert_equal(quick.push(given, *time), slow.push(given, *time))
        assert len(quick) == len(slow)
    np.testing.assert_equal(quick.value, slow.value)


@pytest.mark.parametrize("window", [rollstat.Expanding(), 7, "9s", 9.0])
@pytest.mark.parametrize("ignore_na", [False, True])
def test_weights_that_fall_with_time_equal_those_of_the_functions(window, ignore_na, rng):
    seconds = np.cumsum(rng.integers(0, 4, 60))  # some are equal
    numbers, times = window == 9.0, seconds.astype("M8[s]")
    times = seconds / 1.0 if numbers else times.astype("M8[ns]")
    arrays = np.where(rng.random((2, 60)) < 0.2, np.nan, rng.standard_normal((2, 60)))
    given = {"halflife": 3.0 if numbers else "3s", "ignore_na": ignore_na, "min_periods": 2}
    for name in ("ewm_mean", "ewm_sum", "ewm_var", "ewm_std", "ewm_cov", "ewm_corr"):
        columns = arrays[: REGISTRY[name].series]
        for adjust in ({},) if name == "ewm_sum" else ({"adjust": True}, {"adjust": False}):
            options = given | adjust
            wanted = REGISTRY[name].function(*columns, window, times=times, **options)
            stream = STREAMS[name](window, **options)
            pushed = [stream.push(*row, t) for *row, t in zip(*columns[:, :20].tolist(), times)]
            stream = rollstat.restore(stream.snapshot())
            later = stream.extend(*columns[:, 20:], times=times[20:])
            np.testing.assert_allclose([*pushed, *later], wanted, rtol=1e-12, atol=1e-12)
            np.testing.assert_equal(stream.value, later[-1])


def test_times_of_streams_whose_weights_fall_with_time():
    first, second = (rollstat.EwmMean(halflife="1min", dtype=np.int64) for _ in range(2))
    for i in range(4):
        (first if i < 2 else second).push(i, np.datetime64(60 * i, "s"))
    first.merge(second)  # the time between the last and the first row counts
    assert first.value == pytest.approx((0 / 8 + 1 / 4 + 2 / 2 + 3) / (1 + 7 / 8), rel=1e-15)
    with pytest.raises(ValueError, match="t must not decrease"):
        first.push(1, np.datetime64(179, "s"))
    with pytest.raises(ValueError, match="merge needs times that do not decrease"):
        first.merge(second)
    with pytest.raises(TypeError, match="t must be given"):
        first.push(1)
    with pytest.raises(ValueError, match="t must not be infinite"):
        rollstat.EwmMean(9.0, halflife=1.0).push(1.0, np.inf)
    with pytest.raises(TypeError, match="halflife must be a duration such as '5D' for times"):
        rollstat.EwmMean("9s", halflife=3)
    with pytest.raises(ValueError, match=r"exactly one of .* got span, halflife"):
        rollstat.EwmMean(halflife="9s", span=3)
