"""Bundles of lanes: compiled and in plain NumPy they do the same."""

import numpy as np

from rollstat._jit import kernel
from rollstat.kernels.simd import float64x8, float64x8_math
from rollstat.kernels.simd.float64x8 import (
    bundle,
    channels,
    four_on,
    load,
    load_each,
    load_like,
    one_on,
    seven_on,
    six_on,
    spread,
    store,
    store_each,
    two_on,
    zeros_like,
)
from rollstat.kernels.simd.float64x8_math import (
    any_nan,
    counts_before,
    divide,
    fill_lacking,
    fill_nan,
    limit,
    mark_below,
    nan_changes,
    nan_to_zero,
    negative_to_zero,
    quotient,
    square_root,
    subtract_product,
)

_RESULTS = 27


def _every_function(x, y, table, out):
    """Write what every function makes of two rows of eight; return whether the rows have a NaN."""
    one, two = load(x, 0), load(x, 8)
    store(out, 0, one + two)
    store(out, 8, one - two)
    store(out, 16, one * two)
    store(out, 24, one / two)
    store(out, 32, one_on(one, two))
    store(out, 40, two_on(one, two))
    store(out, 48, four_on(one, two))
    store(out, 56, six_on(one, two))
    store(out, 64, fill_nan(load(y, 0), two))
    store(out, 72, nan_to_zero(load(y, 0)))
    store(out, 80, negative_to_zero(load(y, 0)))
    store(out, 88, limit(load(y, 0), spread(1.5)))
    store(out, 96, square_root(two))
    store(out, 104, divide(one, spread(7.0), spread(1.0) / spread(7.0)))
    both = bundle((one, two))
    store(out, 112, one_on(both, both + both))
    first, second = channels(load_like(out, 112, both))
    store(out, 128, first * second)
    store(out, 136, zeros_like(one))
    store(out, 144, seven_on(one, two))
    store(out, 152, quotient(one, spread(7.0), spread(1.0) / spread(7.0)))
    store(out, 160, subtract_product(spread(1.0), spread(3.0), spread(0.25)))
    store_each(table, 8, load_each(table, 0, both))
    out[168] = nan_changes(one, load(y, 0)) >> 56
    store(out, 176, counts_before(nan_changes(load(y, 0), one), 7))
    store(out, 184, mark_below(both, two, spread(4.0)))
    store(out, 200, fill_lacking(one, load(y, 0), two))
    out[208] = nan_changes(bundle((one, load(y, 0))), both)
    return any_nan(both) + 2 * any_nan(bundle((one, load(y, 0))))


def test_compiled_and_plain_agree(rng):
    x = rng.uniform(1.0, 9.0, 16)
    y = np.array([np.nan, -1.0, 2.0, -0.0, np.inf, -np.inf, 0.5, 1.5])
    results = []
    for function in (_every_function, kernel(_every_function)):
        table = np.arange(32.0).reshape(2, 16)
        out = np.full(8 * _RESULTS, 99.0)
        assert function(x, y, table, out) == 2
        assert np.array_equal(table[:, 8:], table[:, :8])
        results.append(out)
    assert np.array_equal(*results, equal_nan=True)


def test_meaning():
    first, second = np.arange(8.0), np.arange(8.0, 16.0)
    assert two_on(first, second).tolist() == [2, 3, 4, 5, 6, 7, 8, 9]
    assert six_on(np.stack((first, second)), np.stack((second, first)))[1].tolist() == [
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
    assert nan_to_zero(odd)[:4].tolist() == [0.0, -1.0, 3.0, -np.inf]
    assert negative_to_zero(odd)[1:4].tolist() == [0.0, 3.0, 0.0]
    assert limit(odd, 2.0)[1:4].tolist() == [-1.0, 2.0, -2.0]
    assert any_nan(odd) == 1
    assert counts_before(nan_changes(odd, first), 0).tolist() == [0, 1, 1, 1, 1, 1, 1, 1]
    assert counts_before(nan_changes(first, odd[[1, 0, 0, 1, 0, 1, 1, 0]]), 9).tolist() == [
        9,
        9,
        8,
        7,
        7,
        6,
        6,
        6,
    ]
    twice = np.stack((first, odd)), np.stack((odd[::-1], odd))
    assert [nan_changes(lanes, np.stack((first, first))) >> 56 for lanes in twice] == [9, 10]
    assert fill_lacking(odd, first, second).tolist() == [8, *odd[1:]]
    assert fill_lacking(first, odd, second).tolist() == [8, *first[1:]]
    assert [nan_changes(*pair) >> 56 for pair in ((odd, first), (first, odd), (odd, odd))] == [9, 7, 8]
    assert np.isnan(mark_below(np.stack((first, second)), first, 3.0)).sum(axis=1).tolist() == [3, 3]
    assert any_nan(first) == 0


@kernel
def _divide_all(values, divisor, out, quick):
    inverse = spread(1.0) / spread(divisor)
    for i in range(0, len(values), 8):
        store(out, i, divide(load(values, i), spread(divisor), inverse))
        store(quick, i, quotient(load(values, i), spread(divisor), inverse))


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
    tested = set(globals()) | {"LANES"}
    assert set(float64x8.__all__) | set(float64x8_math.__all__) <= tested
