"""The order of observations of every dtype, beside NumPy's stable sort."""

import numpy as np
import pytest

from rollstat.sorting import order, sorted_records, unsigned_keys

DTYPES = ["f8", "f4", "i8", "u8", "i4", "i2", "u1", "?", "M8[ns]", "m8[s]"]


def planted(rng, dtype, n):
    """Values with ties, and the extremes of the dtype."""
    values = rng.integers(0, 50, n).astype(dtype)
    if np.dtype(dtype).kind == "f":
        values[: n // 8] = np.resize([np.inf, -np.inf, -0.0, 0.0, 1e-300], n // 8)
    elif np.dtype(dtype).kind in "iu":
        values[: n // 8] = np.resize(np.array([np.iinfo(dtype).min, np.iinfo(dtype).max], dtype), n // 8)
    return rng.permutation(values)


@pytest.mark.parametrize("dtype", DTYPES)
def test_ties_are_in_the_order_of_rows(dtype, rng):
    for n in (0, 1, 2, 40, 700):
        values = planted(rng, dtype, n)
        np.testing.assert_array_equal(order(values), np.argsort(values, kind="stable"))
        missing = rng.random(n) < 0.3
        present = np.flatnonzero(~missing)
        wanted = present[np.argsort(values[present], kind="stable")]
        np.testing.assert_array_equal(order(values, missing), wanted)
    assert len(order(values, np.ones(n, bool))) == 0


@pytest.mark.parametrize("dtype", DTYPES)
def test_keys_are_in_the_order_of_values(dtype, rng):
    values = planted(rng, dtype, 100)
    keys = unsigned_keys(values)
    assert keys.dtype == np.uint64
    np.testing.assert_array_equal(keys[:, None] < keys, np.less.outer(values, values))


def test_a_range_that_the_radix_sort_does_not_suit_is_left_to_numpy():
    values = np.array([3.0, np.inf, -1.0, np.nan, 2.0])
    missing = np.isnan(values)
    records = sorted_records(values, missing)
    np.testing.assert_array_equal(order(values, missing), [2, 4, 0, 1])
    assert records is None or len(records[1]) == 4
