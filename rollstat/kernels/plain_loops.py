"""Values written to whole arrays: loops that compile to vector stores.

::

    fill(7, out)        7  7  7  7        count_up(7, out)        7  8  9 10

Over slices, since an index that begins anywhere is tested for counting from the end, each time.

State: none. Cost: a store for each vector.
"""

from rollstat._jit import kernel
from rollstat.kernels.nan_rules import YES
from rollstat.kernels.vectors import broadcast, lanes_of, load, put, unaligned

__all__ = ["copy", "copy_past", "count_up", "fill", "fill_past", "stand_alike"]


@kernel
def fill(value, out):
    """Write `value` everywhere."""
    for i in range(len(out)):
        out[i] = value


@kernel
def copy(values, out):
    """Write the first of `values` to the whole of `out`."""
    for i in range(len(out)):
        out[i] = values[i]


@kernel
def count_up(start, out):
    """Write ``start, start + 1, ...``."""
    for i in range(len(out)):
        out[i] = start + i


@kernel
def stand_alike(first, second):
    """Whether whole lines of the cache of one array are whole lines of the other."""
    return unaligned(first) == unaligned(second)


@kernel
def fill_past(value, out):
    """As :func:`fill`, past the caches."""
    lanes, vector = lanes_of(out), broadcast(value)
    lead = min(unaligned(out), len(out))
    fill(value, out[:lead])
    out = out[lead:]
    whole = len(out) // lanes * lanes
    for i in range(0, whole, lanes):
        put(vector, out, i, YES)
    fill(value, out[whole:])


@kernel
def copy_past(values, out):
    """As :func:`copy`, past the caches."""
    lanes = lanes_of(out)
    lead = min(unaligned(out), len(out))
    copy(values, out[:lead])
    values, out = values[lead:], out[lead:]
    whole = len(out) // lanes * lanes
    for i in range(0, whole, lanes):
        put(load(values, i), out, i, YES)
    copy(values[whole:], out[whole:])
