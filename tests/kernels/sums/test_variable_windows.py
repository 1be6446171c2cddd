"""Sums over any monotone windows: gaps, jumps, empty windows, without effect of values that have left."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rollstat.blocks import UNKNOWN, Block
from rollstat.operators import Sum, Variance
from rollstat.statistics.sums.window_sums import evaluate, observations

UNIT = 2.0**-53


def sums(values, start, end, summand):
    block = Block(values, UNKNOWN, np.asarray(start), np.asarray(end))
    out = np.empty((1, block.rows))
    evaluate(block, summand, out, observations(block))
    return out[0]


@st.composite
def windows(draw):
    length = draw(st.integers(1, 60))
    rows = draw(st.integers(1, 40))
    first = sorted(draw(st.lists(st.integers(0, length), min_size=rows, max_size=rows)))
    last = sorted(draw(st.lists(st.integers(0, length), min_size=rows, max_size=rows)))
    values = draw(
        st.lists(st.sampled_from([0.0, 1.0, -3.0, 7.0, np.nan, np.nan]), min_size=length, max_size=length)
    )
    return np.array(values), np.minimum(first, last), np.array(last)


@given(windows())
def test_integers_are_summed_exactly(case):
    values, start, end = case
    plain = [np.nansum(values[i:j]) for i, j in zip(start, end)]
    assert sums(values, start, end, Sum()).tolist() == plain
    variances = sums(values, start, end, Variance(0))
    for i, j, variance in zip(start, end, variances):
        observed = values[i:j][~np.isnan(values[i:j])]
        if len(observed):
            assert variance == pytest.approx(
                np.var(observed), rel=1e-14, abs=0.0 if np.ptp(observed) == 0 else 1e-15
            )


def test_error_of_expanding_sums():
    values = np.full(20_000, 0.1)
    end = np.arange(1, len(values) + 1)
    out = sums(values, np.zeros_like(end), end, Sum())
    for i in (0, 9, 99, 999, 9_999, 19_999):
        exact = math.fsum(values[: i + 1])
        assert abs(out[i] - exact) <= 7 * UNIT * exact


@pytest.mark.parametrize("huge", [1e16, 1e300, np.inf])
def test_values_that_left_have_no_effect(huge, rng):
    values = rng.integers(-9, 9, 400).astype(np.float64)
    start = np.sort(rng.integers(0, 380, 300))
    end = np.maximum.accumulate(start + rng.integers(1, 40, 300))
    end = np.minimum(end, 400)
    spoilt = values.copy()
    spoilt[[100, 200]] = huge
    touched = ((start <= 100) & (end > 100)) | ((start <= 200) & (end > 200))
    for summand in (Sum(), Variance(1)):
        before, after = sums(values, start, end, summand), sums(spoilt, start, end, summand)
        assert np.allclose(before[~touched], after[~touched], rtol=1e-14, atol=1e-14, equal_nan=True)
    if huge == np.inf:
        assert np.isinf(sums(spoilt, start, end, Sum())[touched]).all()


@pytest.mark.parametrize("widest", [1, 3, 9, 60, 700])
@pytest.mark.parametrize("steps", [[1], [0, 1, 2], [1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0], [0, 0, 5]])
def test_ends_that_follow_one_another_or_not(rng, widest, steps):
    end = np.minimum(rng.choice(steps, 1200).cumsum(), 1000)
    start = np.maximum(end - rng.integers(0, 2, len(end)).cumsum() % 3 - widest + 1, 0)
    start = np.minimum(np.maximum.accumulate(start), end)
    values = rng.integers(-9, 9, 1000).astype(np.float64)
    total = np.concatenate([[0.0], values.cumsum()])
    expected = total[end] - total[start]
    for rows in (1, 7, 8, 9, len(end)):
        assert sums(values, start[:rows], end[:rows], Sum()).tolist() == expected[:rows].tolist()
    some = np.flatnonzero(end > start)
    variances = [np.var(values[start[row] : end[row]]) for row in some]
    assert np.allclose(sums(values, start, end, Variance(0))[some], variances, rtol=0.0, atol=1e-12)
