"""Rings of entries against a list, over counters of every size and windows that grow and shrink."""

import numpy as np
import pytest

from rollstat.kernels.rings import SMALLEST, read_ring, resized_ring, ring_size, suitable_size, write_ring


@pytest.mark.parametrize(("capacity", "size"), [(0, 1), (1, 1), (2, 2), (3, 4), (64, 64), (65, 128)])
def test_sizes_are_powers_of_two(capacity, size):
    assert ring_size(capacity) == size


def test_a_ring_shrinks_when_an_eighth_is_in_use():
    assert suitable_size(1024 // 8, 1024) == 1024
    assert suitable_size(1024 // 8 - 1, 1024) == 512
    assert suitable_size(0, 1024) == SMALLEST
    assert suitable_size(0, SMALLEST) == SMALLEST


@pytest.mark.parametrize("first", [0, 5, 63, 64, 10**9 + 7])
def test_entries_survive_growth_and_come_out_in_order(first, rng):
    entries = rng.integers(0, 100, 60)
    ring = np.zeros(64, np.int64)
    write_ring(ring, first, entries)
    np.testing.assert_array_equal(read_ring(ring, first, 60), entries)
    np.testing.assert_array_equal(read_ring(ring, first + 7, 20), entries[7:27])
    for size in (128, 64):
        ring = resized_ring(ring, first, size)
        assert len(ring) == size
        np.testing.assert_array_equal(read_ring(ring, first, 60), entries)


def test_rows_of_several_entries_keep_their_shape(rng):
    ring = rng.random((8, 3))
    grown = resized_ring(ring, 5, 16)
    np.testing.assert_array_equal(read_ring(grown, 5, 8), read_ring(ring, 5, 8))
