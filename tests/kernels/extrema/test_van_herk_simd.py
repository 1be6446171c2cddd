"""Scans of blocks in vectors, and loops over whole arrays, against NumPy."""

import numpy as np
import pytest

from rollstat.kernels.extrema import van_herk_simd
from rollstat.kernels.simd import fill_copy
from rollstat.kernels.simd.comparator import Greatest, Least, worst
from rollstat.kernels.simd.vectors import aligned_empty, lanes_in

LENGTHS = (0, 1, 7, 8, 9, 64, 100, 192)


def accumulated(order, values, stand_in):
    seen = np.where(values == values, values, stand_in)
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
            stand_in = never
            if older.dtype.kind == "f" and trial > 1:
                older[rng.random(length) < 0.4] = newer[rng.random(length) < 0.4] = np.nan
                stand_in = never if trial == 2 else -never
            out, scratch, coming = (
                aligned_empty(length, dtype),
                aligned_empty(length, dtype),
                np.empty(0, dtype),
            )
            rising = accumulated(order, np.r_[before, newer], stand_in)[1:]
            falling = accumulated(order, np.r_[after, older[::-1]], stand_in)[:0:-1]
            for past in (False, True):
                van_herk_simd.running(order, newer, before, out, stand_in, coming, past)
                np.testing.assert_array_equal(out, rising)
                two = (older, after, newer, before, scratch, out, stand_in, coming, past)
                van_herk_simd.suffixes(order, *two)
                np.testing.assert_array_equal(out, better(rising, falling))
                one = (older, after, newer[:0], before, scratch, out, stand_in, coming, past)
                van_herk_simd.suffixes(order, *one)
                np.testing.assert_array_equal(out, better(before, falling))
            van_herk_simd.suffixes(order, *two[:4], out, out, stand_in, coming, False)
            np.testing.assert_array_equal(out, better(rising, falling))


@pytest.mark.parametrize("past", [False, True])
@pytest.mark.parametrize("dtype", ["f8", "u1"])
def test_whole_arrays_ahead_of_what_is_coming(dtype, past, rng):
    values = (100 * rng.random(300)).astype(dtype)
    coming = values[200:]  # ends before as much is asked for as is written
    for length in LENGTHS:
        for shift in (0, 1, 3):
            memory = np.zeros(shift + length + lanes_in(dtype), dtype)
            out = memory[shift : shift + length]
            fill_copy.copy_ahead(values, out, coming, past)
            np.testing.assert_array_equal(out, values[:length])
            fill_copy.fill_ahead(values[0], out, coming, past)
            np.testing.assert_array_equal(out, values[0])
            assert not memory[:shift].any()
            assert not memory[shift + length :].any()


def test_arrays_that_stand_alike_to_the_lines():
    memory = aligned_empty(64, np.float64)
    assert fill_copy.stand_alike(memory[3:], memory[19:])
    assert not fill_copy.stand_alike(memory[3:], memory[4:])
