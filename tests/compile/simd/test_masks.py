"""Rows that pass a test, one vector at a time, against NumPy."""

import numpy as np
import pytest

from rollstat.compile.jit import kernel
from rollstat.compile.simd.masks import (
    append_active,
    append_between,
    copy_by_marks,
    rows_above,
    within_bits,
)


@kernel
def between(values, lowest, highest, target):
    n = np.int64(0)
    for i in range(0, len(values), 8):
        n = append_between(values, i, lowest, highest, target, n)
    return n


@kernel
def events(leaving, entering, under, far, leaves, enters, marks):
    n = np.int64(0)
    for j in range(0, len(leaving), 16):
        n = append_active(leaving, entering, j, under, far, leaves, enters, marks, n)
    return n


@kernel
def copies(found, marks, result):
    e = np.int64(0)
    for i in range(0, len(marks), 8):
        e = copy_by_marks(found, e, marks, result, i)
    return e


@pytest.mark.parametrize("dtype", [np.float64, np.uint64])
@pytest.mark.parametrize("share", [0.0, 0.02, 0.5, 1.0])
def test_rows_between_bounds(dtype, share):
    rng = np.random.default_rng(3)
    values = rng.integers(0, 2**64, 4096, np.uint64)
    if dtype == np.float64:
        values = rng.standard_normal(4096)
        values[rng.integers(0, 4096, 100)] = np.nan
    ranked = np.sort(values[values == values])
    lowest, highest = ranked[100], ranked[min(100 + int(share * len(ranked)), len(ranked) - 1)]
    target = np.zeros(len(values) + 8, np.uint64)
    n = between(values, lowest, highest, target)
    np.testing.assert_array_equal(target[:n], np.flatnonzero((lowest <= values) & (values <= highest)))


def test_bounds_count_as_inside_and_infinities_compare():
    values = np.array([-np.inf, -1.0, -0.0, 0.0, 1.0, np.inf, np.nan, 2.0])
    target = np.zeros(16, np.uint64)
    assert between(values, -1.0, 1.0, target) == 4
    assert target[:4].tolist() == [1, 2, 3, 4]
    assert between(values, 0.0, np.inf, target) == 5
    assert between(values, -np.inf, -np.inf, target) == 1


@pytest.mark.parametrize("spread", [3, 40, 4000])
def test_rows_that_change_sides(spread):
    rng = np.random.default_rng(spread)
    leaving, entering = rng.integers(1000 - spread, 1100 + spread, (2, 1600)).astype(np.uint32)
    under, far = np.uint32(1024), np.uint32(1088)
    found, marks = np.zeros((2, 1616), np.uint32), np.full(1601, 9, np.uint8)
    n = events(leaving, entering, under, far, *found, marks)
    side = [(code >= under).astype(int) + (code >= far) for code in (leaving, entering)]
    active = (side[0] != side[1]) | (side[1] == 1)
    np.testing.assert_array_equal(marks, np.append(active, 9))
    np.testing.assert_array_equal(found[0, :n], leaving[active])
    np.testing.assert_array_equal(found[1, :n], entering[active])


@pytest.mark.parametrize("dtype", [np.float64, np.uint64])
@pytest.mark.parametrize("share", [0.0, 0.1, 0.6, 1.0])
def test_copies_by_marks(dtype, share):
    rng = np.random.default_rng(4)
    marks = (rng.random(800) < share).astype(np.uint8)
    found, result = rng.permutation(810).astype(dtype), np.full(808, 7777, dtype)
    assert copies(found, marks, result) == marks.sum()
    np.testing.assert_array_equal(result, [*found[np.cumsum(marks)], *[7777] * 8])


@kernel
def within(rows, i, first, width):
    return within_bits(rows, i, first, width)


@pytest.mark.parametrize("width", [1, 20, 500])
def test_rows_of_ranks_in_a_window(width):
    rows = np.random.default_rng(width).permutation(600).astype(np.uint32)
    for i, first in ((0, 0), (100, 50), (536, 300)):
        bits = within(rows, i, np.uint32(first), np.uint32(width))
        part = rows[i : i + 64].astype(np.int64)
        inside = (first <= part) & (part < first + width)
        assert [bool(int(bits) >> lane & 1) for lane in range(64)] == inside.tolist()


@kernel
def above(leaving, entering, excess):
    return rows_above(leaving, entering, excess)


@pytest.mark.parametrize("excess", [-(2**40), -65, -64, -20, -3, -1, 0, 1, 5, 63, 64, 65, 2**40])
@pytest.mark.parametrize("shares", [(0.5, 0.5), (0.1, 0.1), (0.9, 0.1), (1.0, 0.0), (0.0, 1.0)])
def test_rows_with_a_positive_excess(excess, shares):
    rng = np.random.default_rng(5)
    for _ in range(20):
        left, entered = (rng.random(64) < share for share in shares)
        bits = [np.packbits(each, bitorder="little").view(np.uint64)[0] for each in (left, entered)]
        before = excess + np.cumsum(entered.astype(int) - left) - (entered.astype(int) - left)
        found = above(*bits, excess)
        assert [bool(int(found) >> i & 1) for i in range(64)] == (before > 0).tolist()
        assert rows_above(*bits, excess) == found
