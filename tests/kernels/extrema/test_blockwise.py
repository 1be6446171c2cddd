"""Long windows block by block, with blocks so small that every case comes up."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rollstat.kernels.comparator import Arg, Greatest, Least, Newest, Oldest, worst
from rollstat.kernels.extrema import blockwise, doubling
from rollstat.kernels.extrema.any_windows import correct_positions
from tests.arrays import read_only

NOTHING = np.empty(0, np.bool_)


def windows(values, width):
    return np.lib.stride_tricks.sliding_window_view(values, width)


def expected_positions(order, last, values, width):
    """Return the position of the extremum of each window by a search; -1 without an observation."""
    positions = []
    for i, window in enumerate(windows(values, width)):
        rows = [j for j in range(width) if window[j] == window[j]]
        if not rows:
            positions.append(-1)
            continue
        extremum = (min if isinstance(order, Least) else max)(window[j] for j in rows)
        found = [i + j for j in rows if window[j] == extremum]
        positions.append(found[-1 if last else 0])
    return positions


def extrema_and_positions(order, last, values, width, block, shift=0):
    values = read_only(values)
    rows = len(values) - width + 1
    found = []
    for by in (order, Arg(order, Newest() if last else Oldest())):
        out = np.empty(rows + 1, np.int64 if isinstance(by, Arg) else values.dtype)[1:]
        scratch = doubling.allocate(by, values.dtype, out, block, len(values) // block + 4)
        nan = blockwise.rolling(by, values, width, block, scratch, shift, out)
        assert nan or not np.isnan(values).any()
        found.append(out)
    if nan:
        correct_positions(order, values, NOTHING, width, last, shift, found[1])
    return found[0], found[1] - shift


def assert_right(order, last, values, width, block):
    out, position = extrema_and_positions(order, last, values, width, block)
    positions = expected_positions(order, last, values, width)
    answered = np.array(positions) >= 0
    np.testing.assert_array_equal(position[answered], np.array(positions)[answered])
    found = np.array([worst(order, values.dtype) if p < 0 else values[p] for p in positions])
    np.testing.assert_array_equal(out, found)


@pytest.mark.parametrize("last", [False, True])
@pytest.mark.parametrize("order", [Least(), Greatest()])
def test_data_with_and_without_a_trend(order, last, rng):
    steps = np.repeat([1, 0, -1, 0, 1, -1, 1, -1], [60, 20, 90, 40, 7, 9, 3, 3])
    trends = np.cumsum(np.concatenate([steps, -steps]))
    several = [trends, np.sort(rng.standard_normal(300)), np.arange(300) % 8, -np.arange(300)]
    several += [rng.standard_normal(300), np.cumsum(rng.standard_normal(300)), np.zeros(200)]
    for data in several:
        values = data.astype(np.float64)
        for width in (16, 17, 23, 24, 40, 100, 199, 200):
            assert_right(order, last, values, width, 8)
            if width >= 32:
                assert_right(order, last, values, width, 16)
        gaps = values.copy()
        gaps[rng.random(len(gaps)) < 0.3] = np.nan
        gaps[50:90] = np.nan
        for width in (16, 25, 100):
            assert_right(order, last, gaps, width, 8)


@pytest.mark.parametrize(
    "dtype",
    [np.int64, *(pytest.param(dtype, marks=pytest.mark.long) for dtype in (np.uint64, np.float32, np.int32))],
)
def test_other_dtypes(dtype, rng):
    values = rng.integers(0, 9, 300).astype(dtype)
    for width in (32, 45, 128):
        for order in (Least(), Greatest()):
            for last in (False, True):
                assert_right(order, last, values, width, 16)


@pytest.mark.parametrize("order", [Least(), Greatest()])
def test_a_fall_that_begins_behind_the_newest_row_of_a_window(order):
    for begin in range(150, 166):
        values = np.zeros(220)
        values[begin - 1] = 5
        values[begin:] = -1.0 - np.arange(220 - begin)
        for last in (False, True):
            assert_right(order, last, values if isinstance(order, Least) else -values, 64, 16)


@given(
    values=st.lists(
        st.sampled_from([np.nan, np.inf, -np.inf, 0.0, -0.0, 5e-324, 1.0]), min_size=16, max_size=90
    ),
    width=st.integers(16, 90),
    last=st.booleans(),
)
def test_special_values(values, width, last):
    assert_right(Least(), last, np.array(values), min(width, len(values)), 8)


def test_positions_count_from_where_they_are_told(rng):
    values = rng.standard_normal(200)
    _, position = extrema_and_positions(Least(), False, values, 40, 8, shift=1000)
    np.testing.assert_array_equal(position, expected_positions(Least(), False, values, 40))


@pytest.mark.parametrize("dtype", [np.float64, np.uint8])
def test_the_best_of_any_number_of_values(dtype, rng):
    for length in (0, 1, 7, 8, 31, 64, 300):
        values = rng.integers(0, 99, length).astype(dtype)
        for order, best in ((Least(), np.min), (Greatest(), np.max)):
            never = worst(order, values.dtype)
            assert blockwise.best_in(order, read_only(values)) == (best(values, initial=never), False)
