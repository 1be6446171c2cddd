"""Rings of entries in order of arrival: windows of any number of rows grow and shrink only this way.

::

    ring   [ 8 | 9 | . | . | 4 | 5 | 6 | 7 ]            the entry of counter i is at place i & (len(ring) - 1)
                     ^ end   ^ first
    twice  [ . | . | . | . | 4 | 5 | 6 | 7 | 8 | 9 | . | . | . | . | . | . ]

State: an array whose length is a power of two, and the counters of the oldest entry and of the next one. A
counter never decreases. Invariant: at most as many entries as the ring has places.
Cost: a full ring is copied into a ring of twice the length, and a ring with at most an eighth in use into a
smaller one. So an entry takes O(1) amortised, and memory follows the number of entries.
Source: amortised doubling, Cormen, Leiserson, Rivest, Stein, Introduction to Algorithms, section 16.4.
"""

import numpy as np

# Fewest places of a ring that changes its length.
SMALLEST = 64


def ring_size(capacity):
    """Return the smallest power of two that is at least `capacity` and 1."""
    return 1 << max(int(capacity) - 1, 0).bit_length()


def suitable_size(used, size):
    """Return the length for a ring of `size` places with `used` entries: the same unless few are used."""
    return max(ring_size(4 * used), SMALLEST) if size > max(8 * used, SMALLEST) else size


def resized_ring(ring, first, size):
    """Return a ring of `size` places with the entries from counter `first` on, as many as fit."""
    resized = np.zeros((size, *ring.shape[1:]), ring.dtype)
    counters = np.arange(first, first + min(len(ring), size))
    resized[counters & (size - 1)] = ring[counters & (len(ring) - 1)]
    return resized


def write_ring(ring, first, values):
    """Write values to the places of the counters ``first, first + 1, ...``."""
    start = first % len(ring)
    before_end = len(ring) - start
    ring[start : start + len(values)] = values[:before_end]
    ring[: max(len(values) - before_end, 0)] = values[before_end:]


def read_ring(ring, first, number):
    """Return a copy of the entries of `number` counters from `first` on."""
    start = first % len(ring)
    return np.concatenate([ring[start : start + number], ring[: max(start + number - len(ring), 0)]])
