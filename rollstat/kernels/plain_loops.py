"""Values written to whole arrays: loops that compile to vector stores.

::

    fill(7, out)        7  7  7  7        count_up(7, out)        7  8  9 10

Over slices, since an index that begins anywhere is tested for counting from the end, each time.

State: none. Cost: a store for each vector.
"""

from rollstat._jit import kernel

__all__ = ["copy", "count_up", "fill"]


@kernel(references=False)
def fill(value, out):
    """Write `value` everywhere."""
    for i in range(len(out)):
        out[i] = value


@kernel(references=False)
def copy(values, out):
    """Write the first of `values` to the whole of `out`."""
    for i in range(len(out)):
        out[i] = values[i]


@kernel(references=False)
def count_up(start, out):
    """Write ``start, start + 1, ...``."""
    for i in range(len(out)):
        out[i] = start + i
