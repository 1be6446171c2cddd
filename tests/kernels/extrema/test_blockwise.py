"""Long windows block by block, with blocks so small that every case comes up."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rollstat.compile.simd.vectors import aligned_empty, lanes_in
from rollstat.kernels.extrema import blockwise, blockwise_arg
from rollstat.kernels.extrema.doubling_arg import correct_positions
from rollstat.kernels.extrema.nan_policy import ALL, ANY, HAS_NAN, HAS_SENTINEL, SKIP
from rollstat.kernels.missing.nan_bitmap import NO_BITMAP
from rollstat.kernels.simd.comparator import Arg, Greatest, Least, Newest, Oldest, worst
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
    rows, lanes = len(values) - width + 1, lanes_in(values.dtype)
    out, position = np.empty(rows + 1, values.dtype)[1:], np.empty(rows, np.int64)
    scratch = aligned_empty(blockwise.scratch_length(width, rows, block, lanes), values.dtype)
    nan = blockwise.rolling(order, values, width, block, scratch, out, SKIP, NO_BITMAP)
    chunk = max(rows // 3, 1)
    length = blockwise_arg.scratch_length(width, chunk, block, lanes)
    bits = aligned_empty(length, values.dtype)
    memory = aligned_empty(length, values.dtype), bits, bits.view(f"i{values.itemsize}")
    by_value = Arg(order, Newest() if last else Oldest())
    found = blockwise_arg.rolling(by_value, values, width, chunk, block, last, memory, shift, position)
    if nan or found:
        correct_positions(order, values, NOTHING, width, last, shift, position)
    if np.isnan(values).any():
        assert nan
        assert found
    assert_strict(order, values, width, block, scratch)
    return out, position - shift


def assert_strict(order, values, width, block, scratch):
    """Windows with any NaN, or of nothing else, give NaN, unless the sentinel is among the values."""
    rows = len(values) - width + 1
    out, kept = aligned_empty(rows + 1, values.dtype)[1:], windows(values, width)
    lowest, highest = (
        np.where(kept == kept, kept, np.inf).min(1),
        np.where(kept == kept, kept, -np.inf).max(1),
    )
    all_missing = (kept != kept).all(1)
    for rule, lows, highs in (
        (ANY, kept.min(1), kept.max(1)),
        (ALL, np.where(all_missing, np.nan, lowest), np.where(all_missing, np.nan, highest)),
    ):
        out[:] = 77
        found = blockwise.rolling(order, values, width, block, scratch, out, rule, NO_BITMAP)
        if found == HAS_NAN + HAS_SENTINEL:
            assert np.isinf(values).any()
        else:
            np.testing.assert_array_equal(out, lows if isinstance(order, Least) else highs)


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
