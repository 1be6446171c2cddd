"""Orders and ranks against NumPy's stable sort."""

import numpy as np
import pytest

from rollstat.blocks import Point
from rollstat.sorting import order, unsigned_keys
from rollstat.statistics.selection.ranking import rank_ranges, ranks, tied_ranks, write_sorted, write_values

DTYPES = ["f8", "f4", "f2", "i8", "u8", "i4", "i2", "u1", "i1", "M8[s]", "S3", "g"]


def draw(dtype, n, rng):
    dtype = np.dtype(dtype)
    if dtype.kind == "f":
        pool = np.array([-np.inf, np.inf, -0.0, 0.0, 1.5, -3.25, 6e-8])
        return rng.choice(pool, n).astype(dtype)
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        return rng.integers(info.min, info.max, n, dtype=dtype, endpoint=True)
    return rng.integers(0, 50, n).astype(dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("gaps", [None, 0.3, 1.0])
def test_order_is_stable(dtype, gaps):
    rng = np.random.default_rng(1)
    values = draw(dtype, 400, rng)
    missing = None if gaps is None else rng.random(400) < gaps
    present = np.arange(400) if missing is None else np.flatnonzero(~missing)
    expected = present[np.argsort(values[present], kind="stable")]
    np.testing.assert_array_equal(order(values, missing), expected)
    rank, row = ranks(values, missing)
    np.testing.assert_array_equal(row, expected)
    np.testing.assert_array_equal(rank[row], np.arange(len(row)))
    assert np.all(np.delete(rank, present) == -1)


@pytest.mark.parametrize("dtype", ["i8", "u8", "i4", "i2", "?"])
@pytest.mark.parametrize("end", [min, max])
def test_order_of_integers_in_a_small_range(dtype, end):
    n = 400
    small = np.random.default_rng(3).integers(0, n + 1, n)
    if dtype == "?":
        values = small > n // 2
    else:
        info = np.iinfo(dtype)
        values = end(info.min, info.max - n) + small.astype(dtype)
    np.testing.assert_array_equal(order(values), np.argsort(values, kind="stable"))


@pytest.mark.parametrize("dtype", ["f8", "i8"])
def test_tied_ranks(dtype):
    rng = np.random.default_rng(2)
    values = rng.integers(-9, 9, 500).astype(dtype)
    missing = rng.random(500) < 0.2
    rank, ordered = tied_ranks(values, missing)
    np.testing.assert_array_equal(ordered, np.sort(values[~missing]))
    np.testing.assert_array_equal(rank[~missing], np.searchsorted(ordered, values[~missing]))
    assert np.all(rank[missing] == -1)
    own, first, last = rank_ranges(values, missing)
    np.testing.assert_array_equal(own, ranks(values, missing)[0])
    np.testing.assert_array_equal(first, rank)
    after = np.searchsorted(ordered, values[~missing], side="right")
    np.testing.assert_array_equal(last[~missing], after - 1)
    assert np.all(last[missing] == -1)


def test_nothing():
    assert all(len(part) == 0 for part in rank_ranges(np.empty(0)))
    assert len(order(np.empty(0))) == 0
    assert len(ranks(np.empty(0))[1]) == len(tied_ranks(np.empty(0))[1]) == 0


def test_keys_too_close_for_the_radix_sort_are_sorted_by_comparison():
    # Random values that differ in their last bits alone, and one far away: no leading digit helps.
    rng = np.random.default_rng(3)
    values = 1.0 + rng.permutation(4000) * np.finfo(float).eps
    values[7] = -1e300
    np.testing.assert_array_equal(rank_ranges(values)[0][np.argsort(values)], np.arange(4000))
    np.testing.assert_array_equal(order(values), np.argsort(values, kind="stable"))
    missing = np.zeros(4000, np.bool_)
    missing[:3] = True
    np.testing.assert_array_equal(order(values, missing), 3 + np.argsort(values[3:], kind="stable"))


@pytest.mark.parametrize("dtype", ["i1", "u1", "i8", "u8"])
def test_keys_of_integers(dtype):
    info = np.iinfo(dtype)
    values = np.array([info.min, info.min + 1, info.max // 2, info.max - 1, info.max], dtype)
    key = unsigned_keys(values)
    assert np.all(key[1:] > key[:-1])


@pytest.mark.parametrize("dtype", DTYPES[:-2])
def test_keys_lead_back_to_values(dtype):
    values = draw(dtype, 300, np.random.default_rng(4))
    key = unsigned_keys(values)
    np.testing.assert_array_equal(np.argsort(key, kind="stable"), np.argsort(values, kind="stable"))
    found = np.empty_like(values)
    write_values(key, found)
    np.testing.assert_array_equal(found, values)
    if values.itemsize <= 4 and values.dtype.kind in "fiu":
        found[...] = 0
        write_values(values.astype(float), found)
        np.testing.assert_array_equal(found, values)


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int32])
def test_points_of_sorted_values(sign, dtype):
    values = (sign * np.repeat(np.arange(40), 3)).astype(dtype)
    points = [Point(0), Point(9), Point(3, 0.25), Point(4, midpoint=True)]
    results = np.full((len(points), len(values) - 9), np.nan)
    assert write_sorted(values, 10, points, list(results))
    low = np.sort(np.lib.stride_tricks.sliding_window_view(values, 10), axis=1).astype(float).T
    expected = [low[0], low[9], low[3] + (low[4] - low[3]) * 0.25, (low[4] + low[5]) / 2]
    np.testing.assert_array_equal(results, expected)
    results[...], values[60] = 0, sign * 99
    assert not write_sorted(values, 10, points, list(results))
    assert not results.any()
