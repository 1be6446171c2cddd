"""Times of the rows of a window over a stream, in a ring, as integers in the order of the times.

::

    times    10.5  12.0  15.0  15.0  19.0        width 5.0: the window is (14.0, 19.0]
                         ^ FIRST           ^ END

State: `header` int64 with the slots below, and `ring` int64, a ring of :mod:`rollstat.kernels.rings` that has
no places if rows have no times. Datetimes and durations are counts of nanoseconds. A float is stored as its
bits, a negative float as the inverted bits of its magnitude, so that the integers are in the order of the
floats; -0.0 is stored as 0.0.
Invariant: times never decrease, and the last one is at most the time in NEWEST.
Cost: O(1) amortised a row.
Source: IEEE 754-2019, section 3.4: formats sort as integers do.
"""

import numpy as np

from rollstat.compile.jit import kernel
from rollstat.kernels.rings import SMALLEST

# Counters of the oldest time and of the next one; the newest time and the first one ever, of a stream that
# has STARTED; the kind of times, and the width of the window in their form, 0 for windows of rows; the class
# of objects that are read as datetimes, or 0 for none; and whether the window's memory grows and shrinks.
FIRST, END, NEWEST, BEGUN, STARTED, KIND, WIDTH, CLASS, GROWS = range(9)
SLOTS = 9
# Kinds: none, nanoseconds, floats.
NONE, TICKS, NUMBERS = range(3)
EARLIEST = -(2**63)
_MAGNITUDE = 2**63 - 1


@kernel
def key_of(number):
    """Return the integer of a float that is not NaN."""
    bits = np.float64(number + 0.0).view(np.int64)
    return bits if bits >= 0 else bits ^ _MAGNITUDE


@kernel
def number_of(key):
    """Return the float of an integer."""
    return np.int64(key if key >= 0 else key ^ _MAGNITUDE).view(np.float64)


@kernel
def _float_limit(time, width):
    """Return the integer of the largest float that is at most ``time - width`` without rounding.

    Equal infinities have the distance 0, as in the functions over arrays.
    """
    if np.isinf(time):
        return key_of(np.inf) - 1 if time > 0 else EARLIEST
    limit = time - width
    if np.isinf(limit):
        return key_of(limit)
    part = time - limit
    error = (time - (limit + part)) + (part - width)  # the exact error of the subtraction
    return key_of(limit) - (error < 0)


@kernel
def limit_of(header, key):
    """Return the last time before the window whose newest row has a time, both as integers."""
    width = header[WIDTH]
    if header[KIND] == TICKS:
        return key - width if key >= EARLIEST + width else EARLIEST
    return _float_limit(number_of(key), np.int64(width).view(np.float64))


@kernel(forceinline=True)
def fits(used, leaving, size):
    """Whether memory for `size` entries is suitable for a further one, before some of the used ones leave it.

    See :mod:`rollstat.kernels.rings`.
    """
    return used + 1 - leaving <= size <= max(8 * (used + 1), SMALLEST)


@kernel(forceinline=True)
def leaving(header, ring, key):
    """Return how many times leave the window whose newest row has the time `key`."""
    first, end, limit, mask = header[FIRST], header[END], limit_of(header, key), len(ring) - 1
    counter = first
    while counter < end and ring[counter & mask] <= limit:
        counter += 1
    return counter - first


@kernel(forceinline=True)
def append(header, ring, key):
    """Add a time; the ring has a place."""
    ring[header[END] & (len(ring) - 1)] = key
    header[END] += 1


@kernel(forceinline=True)
def note(header, key):
    """Note that a row with a time has arrived."""
    if not header[STARTED]:
        header[BEGUN], header[STARTED] = key, 1
    header[NEWEST] = key
