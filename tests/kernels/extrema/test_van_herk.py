"""Scans of blocks in vectors, and filled arrays, against NumPy."""

import numpy as np
import pytest

from rollstat.compile.simd.vectors import aligned_empty, lanes_in
from rollstat.kernels.extrema import van_herk
from rollstat.kernels.simd import loops
from rollstat.kernels.simd.comparator import Greatest, Least, worst

LENGTHS = (0, 1, 7, 8, 9, 64, 100, 192)


def accumulated(order, values, sentinel):
    seen = np.where(values == values, values, sentinel)
    return (np.minimum if isinstance(order, Least) else np.maximum).accumulate(seen)


@pytest.mark.parametrize("dtype", ["f8", "f4", "u1"])
@pytest.mark.parametrize("order", [Least(), Greatest()], ids=lambda order: type(order).__name__)
def test_running_extrema_and_suffixes(order, dtype, rng):
    never = worst(order, np.dtype(dtype))
    better = np.minimum if isinstance(order, Least) else np.maximum
    for length in LENGTHS:
        for trial in range(4):
            older, newer = (100 * rng.random((2, length))).astype(dtype)
            before, after = (100 * rng.random(2)).astype(dtype) if trial else (never, never)
            sentinel = never
            if older.dtype.kind == "f" and trial > 1:
                older[rng.random(length) < 0.4] = newer[rng.random(length) < 0.4] = np.nan
                sentinel = never if trial == 2 else -never
            out, prefetch_source = aligned_empty(length, dtype), np.empty(0, dtype)
            rising = accumulated(order, np.r_[before, newer], sentinel)[1:]
            falling = accumulated(order, np.r_[after, older[::-1]], sentinel)[:0:-1]
            rest = out, sentinel, prefetch_source
            van_herk.prefixes(order, newer, before, *rest)
            np.testing.assert_array_equal(out, rising)
            van_herk.suffixes(order, older, after, newer, before, *rest)
            np.testing.assert_array_equal(out, better(rising, falling))
            van_herk.suffixes(order, older, after, newer[:0], before, *rest)
            np.testing.assert_array_equal(out, better(before, falling))


@pytest.mark.parametrize("dtype", ["f8", "u1"])
def test_arrays_filled_while_the_cache_fetches_others(dtype, rng):
    values = (100 * rng.random(300)).astype(dtype)
    prefetch_source = values[200:]  # shorter than what is written
    for length in LENGTHS:
        for shift in (0, 1, 3):
            memory = np.zeros(shift + length + lanes_in(dtype), dtype)
            out = memory[shift : shift + length]
            loops.fill_and_prefetch(values[0], out, prefetch_source)
            np.testing.assert_array_equal(out, values[0])
            assert not memory[:shift].any()
            assert not memory[shift + length :].any()
