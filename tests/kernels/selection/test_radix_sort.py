"""The radix sort against a stable argsort, over values that suit it and values that do not."""

import itertools

import numpy as np
import pytest

from rollstat.kernels.selection.radix_sort import (
    allocate_sort,
    bits_for,
    direction,
    insertion_sort,
    keys_of_floats,
    sort_records,
    value_range,
)
from tests.kernels.selection.invariants import sorted_records

NONE = np.zeros(0, np.bool_)


def sort(values, missing=NONE, bounds=None):
    """Rows in order, or None where the radix sort gave up."""
    values = values.view()
    values.flags.writeable = False
    lowest, highest = bounds or map(values.dtype.type, value_range(values, missing))
    scratch = allocate_sort(len(values))
    everything = bounds is None and len(missing) == 0
    with np.errstate(over="ignore"):
        count = sort_records(values, missing, lowest, highest, everything, scratch)
    if count < 0:
        return None
    records = scratch.records[:count]
    row_bits = bits_for(len(values))
    assert sorted_records(records, values, row_bits)
    return (records & np.uint64((1 << row_bits) - 1)).astype(np.int64)


def draw(name, n):
    rng = np.random.default_rng(n)
    return {
        "uniform": lambda: rng.integers(0, 2**64, n, np.uint64, endpoint=False),
        "small": lambda: rng.integers(0, 1000, n).astype(np.uint64),
        "one": lambda: np.full(n, 12345, np.uint64),
        "both ends": lambda: rng.choice(np.array([0, 2**63, 2**64 - 1], np.uint64), n),
        "keys of floats": lambda: rng.standard_normal(n).view(np.uint64),
        "floats": lambda: rng.standard_normal(n),
        "zeros": lambda: rng.choice([0.0, -0.0, 1.0], n),
        "heavy tails": lambda: rng.standard_cauchy(n),
        "descending": lambda: -np.arange(n).astype(float),
    }[name]()


@pytest.mark.parametrize(
    "name",
    [
        "uniform",
        "small",
        "one",
        "both ends",
        "keys of floats",
        "floats",
        "zeros",
        "heavy tails",
        "descending",
    ],
)
@pytest.mark.parametrize("n", [1, 2, 300, 5000])
def test_order_is_that_of_a_stable_sort(name, n):
    values = draw(name, n)
    np.testing.assert_array_equal(sort(values), np.argsort(values, kind="stable"))


@pytest.mark.parametrize("dtype", [np.uint64, np.float64])
def test_bounds_and_missing_rows_are_left_out(dtype):
    values = draw("small", 700).astype(dtype)
    missing = np.random.default_rng(1).random(700) < 0.4
    inside = (values >= 200) & (values <= 600)
    bounds = dtype(200), dtype(600)
    for mask, kept in ((missing, np.flatnonzero(inside & ~missing)), (NONE, np.flatnonzero(inside))):
        np.testing.assert_array_equal(
            sort(values, mask, bounds), kept[np.argsort(values[kept], kind="stable")]
        )


def test_range_skips_missing_rows():
    values = np.array([5.0, 3.0, 9.0, 7.0])
    assert value_range(values, NONE) == (3, 9)
    assert value_range(values, np.array([False, True, True, False])) == (5, 7)
    values[0] = np.nan
    assert value_range(values, np.array([True, False, False, False])) == (3, 9)


def test_equal_codes_are_ordered_by_the_value():
    # Pairs of neighbours that share a code of 2**-52 of the range, the larger one first.
    values = np.repeat(np.linspace(0.0, 1.0, 400), 2)
    values[::2] = np.nextafter(values[::2], 2.0)
    np.testing.assert_array_equal(sort(values), np.argsort(values, kind="stable"))


@pytest.mark.parametrize("values", [[-np.inf, 0.0, 1.0], [-1.7e308, 0.0, 1.7e308], [0.0, 5e-324, 1e-323]])
def test_floats_without_a_finite_scale_are_rejected(values):
    assert sort(np.array(values)) is None


def test_values_that_no_digits_separate_are_rejected():
    crowded = 1.0 + np.random.default_rng(2).permutation(3000) * 2.0**-52
    crowded[0] = -1e300
    assert sort(crowded) is None
    keys = crowded.view(np.uint64).copy()
    keys[0] = 0
    keys[1] = 2**64 - 1
    assert sort(keys) is None


def test_insertion_gives_up_past_its_budget():
    records = np.arange(64, 0, -1).astype(np.uint64) << np.uint64(32)
    values = records.copy()
    assert not insertion_sort(records.copy(), values, 6, 100)
    assert insertion_sort(records, values, 6, 64 * 32)
    np.testing.assert_array_equal(records, np.sort(values))


def test_check_sees_disorder_and_instability():
    values = np.array([5, 5, 7], np.uint64)
    assert sorted_records(np.array([0, 1, 2], np.uint64), values, 2)
    assert not sorted_records(np.array([1, 0, 2], np.uint64), values, 2)
    assert not sorted_records(np.array([2, 0, 1], np.uint64), values, 2)


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_floats(dtype):
    info = np.finfo(dtype)
    ascending = [-np.inf, info.min, -1.5, -1, -info.tiny, -info.smallest_subnormal, 0, info.tiny, 1, np.inf]
    values = np.array(ascending, dtype)
    bits = values.view(f"i{values.itemsize}")
    key = np.empty(len(values), np.uint64)
    keys_of_floats(bits, np.iinfo(bits.dtype).max, key)
    assert np.all(key[1:] > key[:-1])
    zeros = np.array([0.0, -0.0], dtype).view(bits.dtype)
    keys_of_floats(zeros, np.iinfo(bits.dtype).max, key[:2])
    assert key[0] == key[1]


def test_every_short_series():
    for length in range(1, 6):
        for values in itertools.product((-np.inf, 0.0, 1.0), repeat=length):
            steps = list(itertools.pairwise(values))
            rises = all(before <= after for before, after in steps)
            falls = all(before >= after for before, after in steps)
            assert direction(np.array(values)) == (1 if rises else -1 if falls else 0)


@pytest.mark.parametrize("at", [0, 254, 255, 256, 257, 511, 998])
def test_one_step_the_other_way(at):
    values = np.arange(1000.0)
    values[at], values[at + 1] = values[at + 1], values[at]
    assert direction(values) == 0
    assert direction(-values) == 0
    assert direction(np.sort(values)) == 1
    assert direction(-np.sort(values)) == -1
