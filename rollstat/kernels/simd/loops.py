"""Loops over whole arrays and rows of lanes, as vector instructions.

::

    fill(7, out)        7  7  7  7        count_up(7, out)        7  8  9 10

    work    [ . . a a a a . . b b b b . . l l l l . . u u u u . . ]
                  |first      |second     |lower      |upper           lower = min(a, b), upper = max(a, b)

Callers of the loops that write pass slices: the index of a loop that starts at 0 is known not to be negative,
so it needs no test for counting from the end. The rows of lanes of the others are in one array and are
overwritten in place. LLVM cannot prove that this is safe and would vectorise loops over slices behind
run-time tests of overlap, which fail here; explicit vectors avoid them.

State: one scratch array. Invariant: vectors are read before they are written, in ascending order, so a
target may be an operand, or the same row at smaller lanes. Cost: one store, or one comparison, per vector,
without branches on data; counts of lanes must be multiples of the vector length.
Values that compare equal are interchangeable (also -0.0 and 0.0), and both are kept; there must be no NaN.
"""

from rollstat.compile.jit import kernel
from rollstat.compile.lowering import prefetch, prefetch_to_write
from rollstat.compile.simd.vectors import broadcast, lanes_of, load, store, unaligned
from rollstat.kernels.simd.comparator import Greatest, Least, prefer

__all__ = [
    "copy",
    "count_up",
    "exchange",
    "fill",
    "fill_and_prefetch",
    "lower_of",
    "store_and_prefetch",
    "upper_of",
]


@kernel
def fill(value, out):
    """Write `value` to every element."""
    for i in range(len(out)):
        out[i] = value


@kernel
def copy(values, out):
    """Write the first values to all of `out`."""
    for i in range(len(out)):
        out[i] = values[i]


@kernel
def count_up(start, out):
    """Write ``start, start + 1, ...`` to `out`."""
    for i in range(len(out)):
        out[i] = start + i


# A cache line is requested this many vectors before it is written.
_AHEAD = 8


@kernel(forceinline=True)
def store_and_prefetch(vector, out, i, prefetch_source):
    """Write a vector; the cache fetches element `i` of `prefetch_source` and the next lines of `out`."""
    prefetch(prefetch_source, i)
    prefetch_to_write(out, i + _AHEAD * lanes_of(out))
    store(vector, out, i)


@kernel
def fill_and_prefetch(value, out, prefetch_source):
    """As :func:`fill`, while the cache fetches as many elements of `prefetch_source`."""
    lanes, vector = lanes_of(out), broadcast(value)
    prefix = min(unaligned(out), len(out))
    fill(value, out[:prefix])
    out = out[prefix:]
    whole = len(out) // lanes * lanes
    for i in range(0, whole, lanes):
        store_and_prefetch(vector, out, i, prefetch_source)
    fill(value, out[whole:])


@kernel(forceinline=True)
def exchange(work, count, lower, upper, first, second):
    """Write the smaller and the larger values of the rows that start at `first` and `second`."""
    for lane in range(0, count, lanes_of(work)):
        one, two = load(work, first + lane), load(work, second + lane)
        store(prefer(Least(), one, two), work, lower + lane)
        store(prefer(Greatest(), two, one), work, upper + lane)


@kernel(forceinline=True)
def lower_of(work, count, lower, first, second):
    """Write the smaller values of two rows."""
    for lane in range(0, count, lanes_of(work)):
        store(prefer(Least(), load(work, first + lane), load(work, second + lane)), work, lower + lane)


@kernel(forceinline=True)
def upper_of(work, count, upper, first, second):
    """Write the larger values of two rows."""
    for lane in range(0, count, lanes_of(work)):
        store(prefer(Greatest(), load(work, second + lane), load(work, first + lane)), work, upper + lane)
