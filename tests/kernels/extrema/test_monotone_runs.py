"""Extrema along runs, and their positions, against the definition, and how far along the data they go."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rollstat.compile.simd.vectors import aligned_empty
from rollstat.kernels.extrema.monotone_runs import Results, answer, copy_run
from rollstat.kernels.simd.comparator import Greatest, Least, Newest, Oldest

ORDERS = [Least(), Greatest()]
TIES = [Oldest(), Newest()]


def older_wins(order, ties, older, newer):
    """Return whether the older of two values wins; None where one is NaN."""
    if older != older or newer != newer:
        return None
    if older == newer:
        return isinstance(ties, Oldest)
    return (older < newer) == isinstance(order, Least)


def local_extrema(order, ties, values):
    """Return the number of local extrema within `values`; two where one is NaN, which ends every run."""
    ways = [older_wins(order, ties, *pair) for pair in itertools.pairwise(values)]
    return 2 if None in ways else sum(before != after for before, after in itertools.pairwise(ways))


def position_of(order, ties, values):
    best = min(values) if isinstance(order, Least) else max(values)
    found = [j for j, value in enumerate(values) if value == best]
    return found[0 if isinstance(ties, Oldest) else -1]


def assert_right(order, ties, values, width):
    windows = np.lib.stride_tricks.sliding_window_view(values, width)
    position = np.full(len(windows), -1)
    best = np.zeros(len(windows), values.dtype)
    answered = answer(order, ties, values, width, 10, Results(position, best))
    assert answered == 0 or answered >= 64 or answered == len(windows)
    assert all(local_extrema(order, ties, window.tolist()) <= 1 for window in windows[:answered])
    expected = [
        10 + i + position_of(order, ties, window.tolist()) for i, window in enumerate(windows[:answered])
    ]
    assert position[:answered].tolist() == expected
    extrema = windows.min(axis=1) if isinstance(order, Least) else windows.max(axis=1)
    np.testing.assert_array_equal(best[:answered], extrema[:answered])
    nothing = values[:0]
    alone = np.zeros(len(windows), values.dtype)
    positions = np.zeros(len(windows), np.int64)
    for outputs in (positions, nothing), (nothing, alone):
        assert answer(order, ties, values, width, 10, Results(*outputs)) == answered
    np.testing.assert_array_equal(positions[:answered], position[:answered])
    np.testing.assert_array_equal(alone[:answered], best[:answered])
    return answered


@pytest.mark.parametrize(
    "dtype", ["f8", "i8", *(pytest.param(name, marks=pytest.mark.long) for name in ("f4", "u4"))]
)
@pytest.mark.parametrize("ties", TIES, ids=lambda ties: type(ties).__name__)
@pytest.mark.parametrize("order", ORDERS, ids=lambda order: type(order).__name__)
def test_long_runs_are_answered_whole(order, ties, dtype):
    values = 10 + np.abs(np.arange(1500) % 400 - 200).astype(dtype)
    for width in (2, 3, 7, 8, 9, 64, 65, 130):
        assert assert_right(order, ties, values, width) == len(values) - width + 1


@pytest.mark.parametrize("ties", TIES, ids=lambda ties: type(ties).__name__)
@pytest.mark.parametrize("order", ORDERS, ids=lambda order: type(order).__name__)
def test_runs_end_anywhere(order, ties, rng):
    for length in (70, 71, 72, 79, 80, 81):
        up = np.arange(float(length))
        for tail in (
            [],
            up[::-1],
            up[::-1] + 0.5,
            [np.nan],
            [*up[::-1], np.nan, *up],
            [3.0, 5.0, 4.0],
            np.zeros(90),
        ):
            values = np.concatenate([up, tail])
            for width in (2, 5, 16, 70):
                assert_right(order, ties, values, width)
                assert_right(order, ties, -values, width)


@given(
    steps=st.lists(st.tuples(st.integers(1, 90), st.sampled_from([-1, 0, 1])), min_size=1, max_size=8),
    holes=st.lists(st.integers(0, 400), max_size=1),
    width=st.integers(2, 100),
    order=st.sampled_from(ORDERS),
    ties=st.sampled_from(TIES),
)
def test_any_runs(steps, holes, width, order, ties):
    values = np.cumsum(np.concatenate([np.full(count, step, np.float64) for count, step in steps]))
    for hole in holes:
        values[hole % len(values)] = np.nan
    if len(values) >= width:
        assert_right(order, ties, values, width)


def test_windows_of_one_value_are_left_to_others():
    outputs = np.full(3, -1), np.zeros(3)
    assert answer(Least(), Oldest(), np.array([1.0, np.nan, 2.0]), 1, 0, Results(*outputs)) == 0
    nothing = Results(*(out[:0] for out in outputs))
    assert answer(Least(), Oldest(), np.ones(4), 5, 0, nothing) == 0


@pytest.mark.parametrize("ties", TIES, ids=lambda ties: type(ties).__name__)
@pytest.mark.parametrize("order", ORDERS, ids=lambda order: type(order).__name__)
def test_a_run_is_copied_if_it_is_one(order, ties):
    sign = 1 if isinstance(order, Least) else -1
    for length in (1, 2, 7, 8, 9, 16, 17, 40):
        for older_wins in (True, False):
            run = sign * (1 if older_wins else -1) * np.arange(1.0, length + 1)
            out = aligned_empty(length, np.float64)
            assert copy_run(order, ties, older_wins, run, out, run) == (length > 1)
            if length > 1:
                np.testing.assert_array_equal(out, run)
                assert not copy_run(order, ties, not older_wins, run, out, run)
            for i in range(length):
                for value in (np.nan, sign * (-100.0 if older_wins else 100.0) if i else np.nan):
                    broken = run.copy()
                    broken[i] = value
                    assert not copy_run(order, ties, older_wins, broken, out, run)
                if i:
                    broken[i] = broken[i - 1]
                    same = copy_run(order, ties, older_wins, broken, out, run)
                    assert same == (isinstance(ties, Oldest) == older_wins)
