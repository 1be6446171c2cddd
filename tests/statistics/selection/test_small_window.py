"""The driver under the selection contract, against sorting every window."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import config

from rollstat import rolling_quantile, thresholds, tiers
from rollstat.blocks import Point, Selection
from rollstat.kernels.selection.quantiles import INTERPOLATIONS
from rollstat.statistics.selection import small_window
from tests.selections import check_selection, fixed_block, quantile_rank, values_at_limits


def check(block, rank, upper=True):
    check_selection(small_window.select, block, rank, upper, position=False)


@pytest.mark.parametrize("dtype", ["f8", "u8", "u1"])
def test_dtypes_up_to_their_limits(dtype):
    rng = np.random.default_rng(3)
    values = values_at_limits(dtype, rng, 700)
    for width in (1, 2, 9, 30):
        block = fixed_block(values, width)
        for q in (0.0, 0.3, 1.0):
            rank = quantile_rank(block, q)
            check(block, rank)
            check(block, rank, upper=False)


@pytest.mark.parametrize("width", [3, 4, 5, 7, 8, 12, 13, 31, 32, 63, 64, 100, 150, 512])
def test_widths(width):
    values = np.random.default_rng(width).integers(0, 50, 400 + width).astype(float)
    block = fixed_block(values, width)
    for rank in {0, width // 20, (width - 1) // 2, width - 1}:
        check(block, np.full(block.rows, rank))


def test_several_requests():
    values = np.random.default_rng(5).standard_normal(500)
    block = fixed_block(values, 21)
    constant = (10, 0, 20, 5)
    rank = np.array(constant)[:, None].repeat(block.rows, axis=1)
    check(block, rank)
    check(block, rank, upper=False)


def expected_of_observed(values, missing, width, k, q, interpolation, least):
    """Results by brute force; NaN below `least` observations."""
    results = []
    for row in range(len(values) - width + 1):
        seen = np.sort(values[row : row + width][~missing[row : row + width]].astype(float))
        if len(seen) < least:
            results.append(np.nan)
        elif k:
            results.append(seen[k - 1 if k > 0 else len(seen) + k])
        else:
            rank = int(q * (len(seen) - 1))
            above = seen[min(rank + 1, len(seen) - 1)]
            fraction = q * (len(seen) - 1) - rank
            exact = fraction == 0 or interpolation == INTERPOLATIONS["lower"]
            results.append(seen[rank] if exact else seen[rank] + (above - seen[rank]) * fraction)
    return np.array(results)


@settings(max_examples=100, deadline=None)
@given(
    width=st.integers(1, 20),
    gaps=st.sampled_from([0.0, 0.1, 0.5, 0.95, 1.0]),
    seed=st.integers(0, 2**32 - 1),
    rows=st.integers(1, 90),
    k=st.integers(-20, 20),
    q=st.one_of(st.floats(0, 1), st.sampled_from([0.0, 0.05, 0.5, 1.0])),
    interpolation=st.sampled_from(["linear", "lower"]),
    dtype=st.sampled_from(["f8", "u1"]),
)
def test_observations_among_missing_values(width, gaps, seed, rows, k, q, interpolation, dtype):
    rng = np.random.default_rng(seed)
    pool = [0, 1, 2, 7, 254, 255] if dtype == "u1" else [-np.inf, np.inf, -0.0, 0.0, 1.5, 5e-324]
    values = rng.choice(np.array(pool, dtype), rows + width - 1)
    missing = rng.random(len(values)) < gaps
    k = k if abs(k) <= width else 0
    least = max(1, abs(k), seed % (width + 2))
    interpolation = INTERPOLATIONS["lower" if dtype == "f8" else interpolation]  # no points of infinities
    result = np.empty(rows)
    small_window.select_observed(
        fixed_block(values, width, missing), k, q, interpolation, least, np.nan, result
    )
    np.testing.assert_array_equal(
        result, expected_of_observed(values, missing, width, k, q, interpolation, least)
    )


def test_few_ranks_occur_among_sentinels():
    for width in (1, 2, 20, 101, 331, 512):
        for q in (0.0, 0.05, 0.25, 0.5, 0.9, 0.9908738245429887, 1.0):
            _, first, last = small_window._share_below(width, 0, q, 1)
            assert 0 <= first <= last <= min(first + 3, width - 1)
        for k in (1, -1, width, -width):
            _, first, last = small_window._share_below(width, k, 0.0, abs(k))
            assert first == last == (k - 1 if k > 0 else width + k)


def test_read_only_values_are_left_alone():
    values = np.random.default_rng(7).standard_normal(100)
    values.flags.writeable = False
    before = values.copy()
    block = fixed_block(values, 6)
    check(block, np.full(block.rows, 2))
    np.testing.assert_array_equal(values, before)
    assert not values.flags.writeable


def test_results_do_not_depend_on_where_blocks_are_cut():
    values = np.random.default_rng(8).standard_normal(3000)
    whole, parts = np.empty((1, 2976)), np.empty((1, 2976))
    block = fixed_block(values, 25)
    small_window.select(block, Selection(np.full((1, 2976), 12), whole))
    for low in range(0, 2976, 700):
        high = min(low + 700, 2976)
        part = fixed_block(values[low : high + 24], 25)
        request = Selection(np.full((1, high - low), 12), parts[:, low:high])
        small_window.select(part, request)
    np.testing.assert_array_equal(parts, whole)


@pytest.mark.parametrize("dtype", ["f8", "f4", "u8"])
@pytest.mark.parametrize("width", [1, 4, 5, 24])
def test_points_between_ranks(width, dtype):
    rng = np.random.default_rng(width)
    values = rng.integers(0, 2**50, 500).astype(dtype)
    block = fixed_block(values, width)
    ranks = np.sort(np.lib.stride_tricks.sliding_window_view(values, width), axis=1).T.astype(float)
    target = np.dtype(dtype if dtype[0] == "f" else "f8")
    points = [Point(rank, fraction) for rank in range(width - 1) for fraction in (0.0, 0.3)]
    points += [Point(width - 1)]
    expected = [
        ranks[p.rank] + (ranks[min(p.rank + 1, width - 1)] - ranks[p.rank]) * p.fraction for p in points
    ]
    midpoints = [Point(rank, midpoint=True) for rank in range(width - 1)]
    middles = [(ranks[p.rank] + ranks[p.rank + 1]) / 2 for p in midpoints]
    for asked, wanted in ((points, expected), (points + midpoints, expected + middles)):
        results = np.zeros((len(asked), block.rows), target)
        small_window.select_points(block, asked, list(results))
        np.testing.assert_array_equal(results, np.array(wanted).astype(target))


def test_a_rank_alone_keeps_the_dtype():
    values = np.array([2**63 - 1, 2**63, 2**64 - 1, 5, 2**63 + 1, 2**63], np.uint64)
    result = np.zeros(2, np.uint64)
    small_window.select_points(fixed_block(values, 5), [Point(3)], [result])
    np.testing.assert_array_equal(result, np.array([2**63 + 1, 2**63 + 1], np.uint64))


@pytest.mark.parametrize("width", [1, 2, 5, 20])
def test_series_that_rise_or_fall(width):
    rising = np.sort(np.random.default_rng(9).integers(0, 40, 100)).astype(float)
    for values in (rising, rising[::-1].copy(), np.full(100, 2.5)):
        block = fixed_block(values, width)
        for rank in {0, width // 2, width - 1}:
            check(block, np.full(block.rows, rank))
        ranks = np.sort(np.lib.stride_tricks.sliding_window_view(values, width), axis=1).T
        if width > 1:
            results = np.empty((2, block.rows))
            points = [Point(0, 0.25), Point(width - 2, midpoint=True)]
            small_window.select_points(block, points, list(results))
            np.testing.assert_array_equal(results[0], ranks[0] + (ranks[1] - ranks[0]) * 0.25)
            np.testing.assert_array_equal(results[1], (ranks[-2] + ranks[-1]) / 2)


@pytest.mark.parametrize("level", ["x86-64-v4", "x86-64-v3"])
def test_a_network_is_built_where_it_pays(level, monkeypatch):
    monkeypatch.setattr(small_window, "host_levels", lambda: (level, "x86-64-v2"))
    double, single = np.dtype(np.float64), np.dtype(np.float32)
    assert small_window.widest(thresholds.NETWORK, 1, double) == thresholds.NETWORK
    wide = thresholds.NETWORK_OF_LONG_SERIES if level == "x86-64-v4" else thresholds.NETWORK_OF_FEW_LANES
    long = wide * thresholds.NETWORK_ROWS_A_ROW
    assert small_window.widest(wide, long, double) == wide
    assert small_window.widest(wide, long - 1, double) < wide
    assert small_window.widest(wide + 1, 10**9, double) == wide
    assert small_window.widest(wide + 1, 10**9, single) > wide
    assert thresholds.NETWORK_OF_OTHER_DTYPES <= small_window.LARGEST_WIDTH


@pytest.mark.skipif(config.DISABLE_JIT, reason="networks are not compiled")
@pytest.mark.parametrize("bad", [None, "tenth", np.nan, np.inf])
def test_a_compiled_network_and_the_general_one_agree(bad, monkeypatch):
    monkeypatch.setattr(tiers._setting, "mode", "fast")
    values = np.round(np.random.default_rng(4).standard_normal(40_000), 1)
    if bad == "tenth":
        values[::10] = np.nan
    elif bad is not None:
        values[[5, 20_000, 20_001, 20_002, 39_999]] = bad
    results = []
    for fewest in (len(values), len(values) + 1):
        monkeypatch.setattr(thresholds, "COMPILED_NETWORK_ROWS", fewest - 5)
        results.append([rolling_quantile(values, 6, q, min_periods=3) for q in (0.5, 0.9)])
    np.testing.assert_array_equal(*results)


def test_a_network_is_compiled_once_it_has_run_for_long(monkeypatch):
    monkeypatch.setattr(tiers, "is_marked", lambda function, variant: False)
    marked = []
    monkeypatch.setattr(tiers, "mark", lambda *variant: marked.append(variant))
    monkeypatch.setattr(tiers._setting, "mode", "auto")
    asked = [tiers.pays(small_window.run_in_registers, "a variant", 0.15) for _ in range(5)]
    assert asked == ([False] * 5 if config.DISABLE_JIT else [False, False, True, True, True])
    assert len(marked) == (not config.DISABLE_JIT)
    monkeypatch.setattr(tiers._setting, "mode", "quick")
    assert not tiers.pays(small_window.run_in_registers, "a variant", 0.15)
