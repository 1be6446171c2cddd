"""The driver under the selection contract, against sorting every window."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rollstat import thresholds
from rollstat.blocks import Block, Point, Selection
from rollstat.kernels.selection.quantiles import interpolate_constant
from rollstat.statistics.selection import rank_bits
from rollstat.statistics.selection.ranking import write_point
from tests.selections import check_selection, fixed_block, quantile_rank, values_at_limits


def check(block, rank):
    """Check with every combination of what may be asked for."""
    for upper in (True, False):
        for position in (True, False):
            check_selection(rank_bits.select, block, rank, upper, position)


def random_ranks(block, requests, rng):
    return np.where(block.count > 0, (rng.random((requests, block.rows)) * block.count).astype(int), -1)


@pytest.mark.parametrize("dtype", ["f8", "f4", "i8", "u8", "u1"])
def test_dtypes_up_to_their_limits(dtype):
    rng = np.random.default_rng(3)
    values = values_at_limits(dtype, rng, 300)
    for missing in (None, rng.random(300) < 0.3):
        block = fixed_block(values, 70, missing)
        check(block, random_ranks(block, 2, rng))


@settings(max_examples=60, deadline=None)
@given(
    length=st.integers(1, 300),
    rows=st.integers(1, 80),
    gaps=st.sampled_from([0.0, 0.2, 0.9, 1.0]),
    distinct=st.sampled_from([1, 2, 5, 1000]),
    seed=st.integers(0, 2**32 - 1),
)
def test_any_monotone_windows(length, rows, gaps, distinct, seed):
    rng = np.random.default_rng(seed)
    bounds = np.sort(rng.integers(0, length + 1, (2, rows)), axis=1)
    values = rng.integers(0, distinct, length).astype(float)
    missing = rng.random(length) < gaps if gaps else None
    block = Block(values, missing, bounds.min(axis=0), bounds.max(axis=0))
    rank = random_ranks(block, 3, rng)
    rank[rng.random(rank.shape) < 0.1] = -1
    check_selection(rank_bits.select, block, rank)


def test_expanding_windows_over_several_parts(monkeypatch):
    monkeypatch.setattr(thresholds, "RANKED_VALUES", 64)
    end = np.arange(1, 801)
    block = Block(np.random.default_rng(4).standard_normal(800), None, np.zeros_like(end), end)
    assert len(list(rank_bits.split_rows(block.start, block.end, 64))) == 3
    check(block, quantile_rank(block, 0.5))


@settings(max_examples=50, deadline=None)
@given(rows=st.integers(1, 60), largest=st.integers(1, 30), seed=st.integers(0, 2**32 - 1))
def test_parts_cover_all_rows_and_few_values_twice(rows, largest, seed):
    rng = np.random.default_rng(seed)
    start = np.cumsum(rng.integers(0, 9, rows))
    end = np.maximum.accumulate(start + rng.integers(0, largest, rows))
    parts = list(rank_bits.split_rows(start, end, 10))
    assert [first for first, _ in parts] == [0, *(last for _, last in parts[:-1])]
    assert parts[-1][1] == rows
    covered = sum(int(end[last - 1] - start[first]) for first, last in parts[:-1])
    assert 3 * covered <= 4 * int(end[-1] - end[0])


def test_read_only_values():
    values = np.random.default_rng(7).standard_normal(200)
    values.flags.writeable = False
    block = fixed_block(values, 60)
    check(block, np.full(block.rows, 2))


def test_nothing_but_missing_values():
    block = fixed_block(np.full(50, np.nan), 10, np.ones(50, np.bool_))
    check(block, np.full(block.rows, -1))


def crowded(rng, n):
    """Values that differ in their last bits alone, and some far away."""
    return (1 + rng.permutation(n) * 2.0**-52) * np.where(rng.random(n) < 0.01, -1e300, 1)


@pytest.mark.parametrize(
    "draw",
    [
        lambda rng, n: rng.standard_normal(n),
        lambda rng, n: rng.standard_normal(n).cumsum(),
        lambda rng, n: rng.integers(0, 5, n).astype(float),
        lambda rng, n: np.arange(n) % 2.0,
        lambda rng, n: np.ones(n),
        lambda rng, n: rng.standard_normal(n).astype(np.float32),
        lambda rng, n: rng.choice([np.inf, -np.inf, 0.0, -0.0, 1.0], n),
        lambda rng, n: rng.integers(-(2**63), 2**63 - 1, n),
        lambda rng, n: rng.integers(2**64 - 300, 2**64 - 1, n, np.uint64),
        lambda rng, n: np.append(rng.integers(0, 255, n - 1), 255).astype(np.uint8),
        crowded,
    ],
)
@pytest.mark.parametrize("width", [1, 33, 101, 400])
def test_equal_windows_and_constant_ranks(draw, width):
    values = draw(np.random.default_rng(width), 2500 + width)
    block = fixed_block(values, width)
    constant = (width // 2, 0, width - 1, width // 20)
    rank = np.repeat(np.array(constant)[:, None], block.rows, axis=1)
    expected = np.sort(np.lib.stride_tricks.sliding_window_view(values, width), axis=1)
    for upper in (True, False):
        request = Selection(
            rank,
            np.zeros(rank.shape, values.dtype),
            np.zeros(rank.shape, values.dtype) if upper else None,
        )
        rank_bits.select(block, request)
        for r, target in enumerate(constant):
            np.testing.assert_array_equal(request.lower[r], expected[:, target])
            if upper and target + 1 < width:
                np.testing.assert_array_equal(request.upper[r], expected[:, target + 1])


def test_gaps_past_the_scan_budget():
    values = np.arange(60_000) % 2.0
    block = fixed_block(values, 12_001)
    request = Selection(np.full((1, block.rows), 6000), np.zeros((1, block.rows)))
    rank_bits.select(block, request)
    np.testing.assert_array_equal(request.lower[0], np.arange(block.rows) % 2)


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64, np.uint8])
@pytest.mark.parametrize("gaps", [0.0, 0.1, 0.6, 0.98, 1.0])
def test_equal_windows_with_missing_values_and_ranks_by_row(dtype, gaps):
    rng = np.random.default_rng(int(100 * gaps))
    values = (20 * rng.standard_normal(1200).cumsum()).astype(np.int64).astype(dtype)
    missing = rng.random(1200) < gaps
    missing[300:500] |= gaps > 0
    if values.dtype.kind == "f":
        values[missing] = np.nan
    block = fixed_block(values, 60, missing if gaps else None)
    for rank in (random_ranks(block, 1, rng), quantile_rank(block, 0.4)):
        rank[..., block.count < rng.integers(0, 40)] = -1
        check_selection(rank_bits.select, block, rank, True, False)
        check_selection(rank_bits.select, block, rank, False, False)


def test_points_of_integers_that_float64_does_not_hold_are_left_to_select():
    values = np.append(np.arange(500), 2**60)
    result = np.zeros(492)
    assert not rank_bits.select_points(fixed_block(values, 10), [Point(1)], [result])
    assert not result.any()


@pytest.mark.parametrize("kind", ["noise", "few", "infinite", "float32", "huge", "jumps", "integers"])
@pytest.mark.parametrize("width", [12, 700])
def test_points_of_floats(kind, width):
    rng = np.random.default_rng(width)
    values = rng.standard_normal(9000)
    if kind == "few":
        values = np.round(values)
    elif kind == "infinite":
        values[4000:4010] = np.inf
        values[6000] = -np.inf
    elif kind == "float32":
        values = values.astype(np.float32)
    elif kind == "huge":
        values[5000:] *= 1e300
    elif kind == "integers":
        values = (1e6 * values).astype(np.int64)
    elif kind == "jumps":
        values += 50.0 * (np.arange(9000) // 1000 % 3)
    points = [Point(0), Point(width // 2, midpoint=True), Point(width // 3, 0.25), Point(width - 1)]
    dtype = np.float32 if kind == "float32" else np.float64
    strided = np.zeros((9000 - width + 1, len(points)), dtype).T
    block = fixed_block(values, width)
    if not rank_bits.select_points(block, points, list(strided)):
        assert kind in ("infinite", "huge")  # no scale suits these
        for point, result in zip(points, strided):
            lower, upper = np.empty((2, 1, block.rows))
            rank_bits.select(block, Selection(np.full((1, block.rows), point.rank), lower, upper))
            write_point(point, lower[0], upper[0], found := np.empty(block.rows))
            result[...] = found
    ranked = np.sort(np.lib.stride_tricks.sliding_window_view(values, width), axis=1).astype(np.float64)
    for point, result in zip(points, strided):
        expected = ranked[:, point.rank].copy()
        if point.midpoint or point.fraction:
            upper = ranked[:, point.rank + 1].copy()
            interpolate_constant(expected, upper, point.fraction, point.midpoint, expected)
        np.testing.assert_array_equal(result, expected.astype(dtype))
