"""Loops that write whole arrays and compile to vector stores.

::

    fill(7, out)        7  7  7  7        count_up(7, out)        7  8  9 10

Callers pass slices: the index of a loop that starts at 0 is known not to be negative, so it needs no test for
counting from the end.

State: none. Cost: one store per vector.
"""

from rollstat._jit import kernel
from rollstat._lowering import prefetch, prefetch_to_write
from rollstat.kernels.simd.vectors import broadcast, lanes_of, load, put, unaligned

__all__ = ["copy", "copy_ahead", "count_up", "fill", "fill_ahead", "put_ahead", "stand_alike"]


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


@kernel
def stand_alike(first, second):
    """Whether whole lines of the cache of one array are whole lines of the other."""
    return unaligned(first) == unaligned(second)


# So many vectors before it is written, a line of the cache is asked for.
_AHEAD = 8


@kernel(forceinline=True)
def put_ahead(vector, out, i, coming, past):
    """Write a vector, and have the cache fetch what is written, unless `past` it, and read after that."""
    prefetch(coming, i)
    if not past:
        prefetch_to_write(out, i + _AHEAD * lanes_of(out))
    put(vector, out, i, past)


@kernel
def fill_ahead(value, out, coming, past):
    """As :func:`fill`, perhaps `past` the caches, while they fetch as much of what is `coming`."""
    lanes, vector = lanes_of(out), broadcast(value)
    lead = min(unaligned(out), len(out))
    fill(value, out[:lead])
    out = out[lead:]
    whole = len(out) // lanes * lanes
    for i in range(0, whole, lanes):
        put_ahead(vector, out, i, coming, past)
    fill(value, out[whole:])


@kernel
def copy_ahead(values, out, coming, past):
    """As :func:`copy`, perhaps `past` the caches, while they fetch as much of what is `coming`."""
    lanes = lanes_of(out)
    lead = min(unaligned(out), len(out))
    copy(values, out[:lead])
    values, out = values[lead:], out[lead:]
    whole = len(out) // lanes * lanes
    for i in range(0, whole, lanes):
        put_ahead(load(values, i), out, i, coming, past)
    copy(values[whole:], out[whole:])
