"""Loops that write whole arrays and compile to vector stores.

::

    fill(7, out)        7  7  7  7        count_up(7, out)        7  8  9 10

Callers pass slices: the index of a loop that starts at 0 is known not to be negative, so it needs no test for
counting from the end.

State: none. Cost: one store per vector.
"""

from rollstat.compile.jit import kernel
from rollstat.compile.lowering import prefetch, prefetch_to_write
from rollstat.compile.simd.vectors import broadcast, lanes_of, store, unaligned

__all__ = ["copy", "count_up", "fill", "fill_and_prefetch", "store_and_prefetch"]


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
