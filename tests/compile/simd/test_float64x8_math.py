"""Vectors of floats with channels: compiled and plain functions agree."""

import numpy as np

from rollstat.compile.jit import kernel
from rollstat.compile.simd import float64x8_math
from rollstat.compile.simd.float64x8_math import (
    LANES,
    clip,
    divide,
    divide_finite,
    mark_changes,
    nan_changes,
    nan_where_below,
    negative_to_zero,
    replace_unobserved,
    square_root,
    store_counts,
    subtract_product,
    zero_where_below,
)
from rollstat.compile.simd.vectors import (
    broadcast,
    channels_of,
    contains_nan,
    load,
    load_2d,
    load_like,
    replace_nan,
    shift_in_next,
    stack_channels,
    store,
    store_2d,
    zeros_like,
)

_RESULTS = 29


def _every_function(x, y, table, marks, counts, out):
    """Write what every function makes of two rows of eight; return whether the rows have a NaN."""
    one, two = load(x, 0), load(x, 8)
    store(one + two, out, LANES - 8)
    store(one - two, out, 8)
    store(one * two, out, 16)
    store(one / two, out, 24)
    store(shift_in_next(one, two, 1), out, 32)
    store(shift_in_next(one, two, 2), out, 40)
    store(shift_in_next(one, two, 4), out, 48)
    store(shift_in_next(one, two, 6), out, 56)
    store(replace_nan(load(y, 0), two), out, 64)
    store(replace_nan(load(y, 0), zeros_like(load(y, 0))), out, 72)
    store(negative_to_zero(load(y, 0)), out, 80)
    store(clip(load(y, 0), broadcast(1.5)), out, 88)
    store(square_root(two), out, 96)
    store(divide(one, broadcast(7.0), broadcast(1.0) / broadcast(7.0)), out, 104)
    both = stack_channels((one, two))
    store(shift_in_next(both, both + both, 1), out, 112)
    first, second = channels_of(load_like(out, 112, both))
    store(first * second, out, 128)
    store(zeros_like(one), out, 136)
    store(shift_in_next(one, two, 7), out, 144)
    store(divide_finite(one, broadcast(7.0), broadcast(1.0) / broadcast(7.0)), out, 152)
    store(subtract_product(broadcast(1.0), broadcast(3.0), broadcast(0.25)), out, 160)
    store_2d(load_2d(table, 0, both), table, 8)
    out[168] = nan_changes(one, load(y, 0)) >> 56
    store_counts(nan_changes(load(y, 0), one), 7, out, 176)
    store_counts(mark_changes(marks, 3, 0), 5, counts, 0)
    store(nan_where_below(both, two, broadcast(4.0)), out, 184)
    store(replace_unobserved(one, load(y, 0), two), out, 200)
    store(zero_where_below(both, two, broadcast(4.0)), out, 216)
    out[208] = nan_changes(stack_channels((one, load(y, 0))), both)
    return contains_nan(both) + 2 * contains_nan(stack_channels((one, load(y, 0))))


def test_compiled_and_plain_agree(rng):
    x = rng.uniform(1.0, 9.0, 16)
    y = np.array([np.nan, -1.0, 2.0, -0.0, np.inf, -np.inf, 0.5, 1.5])
    marks = np.array([1, 0, 1, 1, 0, 0, 0, 1, 1, 0, 0], np.uint8)
    results = []
    for function in (_every_function, kernel(_every_function)):
        table = np.arange(32.0).reshape(2, 16)
        out = np.full(8 * _RESULTS, 99.0)
        counts = np.full(9, 99)
        assert function(x, y, table, marks, counts, out) == 2
        assert counts.tolist() == [5, 5, 5, 4, 3, 4, 5, 5, 99]
        assert np.array_equal(table[:, 8:], table[:, :8])
        results.append(out)
    assert np.array_equal(*results, equal_nan=True)


def test_meaning():
    first, second = np.arange(8.0), np.arange(8.0, 16.0)
    assert shift_in_next(first, second, 2).tolist() == [2, 3, 4, 5, 6, 7, 8, 9]
    assert shift_in_next(np.stack((first, second)), np.stack((second, first)), 6)[1].tolist() == [
        14,
        15,
        0,
        1,
        2,
        3,
        4,
        5,
    ]
    odd = np.array([np.nan, -1.0, 3.0, -np.inf, 0.0, 0.0, 0.0, 0.0])
    assert replace_nan(odd, zeros_like(odd))[:4].tolist() == [0.0, -1.0, 3.0, -np.inf]
    assert negative_to_zero(odd)[1:4].tolist() == [0.0, 3.0, 0.0]
    assert clip(odd, 2.0)[1:4].tolist() == [-1.0, 2.0, -2.0]
    assert contains_nan(odd) == 1
    for dtype in (np.float64, np.int64):
        count = np.full(10, 99, dtype)
        store_counts(nan_changes(odd, first), 0, count, 1)
        assert count.tolist() == [99, 0, 1, 1, 1, 1, 1, 1, 1, 99]
        store_counts(nan_changes(first, odd[[1, 0, 0, 1, 0, 1, 1, 0]]), 9, count, 2)
        assert count.tolist() == [99, 0, 9, 9, 8, 7, 7, 6, 6, 6]
    twice = np.stack((first, odd)), np.stack((odd[::-1], odd))
    assert [nan_changes(lanes, np.stack((first, first))) >> 56 for lanes in twice] == [9, 10]
    assert replace_unobserved(odd, first, second).tolist() == [8, *odd[1:]]
    assert replace_unobserved(first, odd, second).tolist() == [8, *first[1:]]
    marks = np.isnan(np.concatenate((odd, first, odd))).view(np.uint8)
    assert [mark_changes(marks, *pair) >> 56 for pair in ((0, 8), (8, 16), (0, 16))] == [9, 7, 8]
    assert [nan_changes(*pair) >> 56 for pair in ((odd, first), (first, odd), (odd, odd))] == [9, 7, 8]
    assert np.isnan(nan_where_below(np.stack((first, second)), first, 3.0)).sum(axis=1).tolist() == [3, 3]
    assert zero_where_below(np.stack((second, odd)), first, 2.0)[:, :3].tolist() == [[0, 0, 10], [0, 0, 3]]
    assert contains_nan(first) == 0


@kernel
def _divide_all(values, divisor, out, quick):
    inverse = broadcast(1.0) / broadcast(divisor)
    for i in range(0, len(values), 8):
        store(divide(load(values, i), broadcast(divisor), inverse), out, i)
        store(divide_finite(load(values, i), broadcast(divisor), inverse), quick, i)


def test_division_by_inverse_is_correctly_rounded(rng):
    values = np.concatenate(
        (rng.standard_normal(4096), [np.inf, -np.inf, np.nan, 0.0, -0.0, 1e308, 1e-300, 5.0])
    )
    out, quick = np.empty((2, len(values)))
    with np.errstate(all="ignore"):
        for divisor in (1.0, 3.0, 5.0, 49.0, 1e5, 123457.0):
            _divide_all(values, divisor, out, quick)
            assert np.array_equal(out, values / divisor, equal_nan=True)
            finite = np.isfinite(out)
            assert np.array_equal(quick[finite], out[finite])
            assert not np.isfinite(quick[~finite]).any()


def test_every_name_is_tested():
    public = {name for name in vars(float64x8_math) if not name.startswith("_")}
    own = {
        name
        for name in public
        if getattr(getattr(float64x8_math, name), "__module__", "") == float64x8_math.__name__
    }
    assert own
    assert own <= set(globals())
