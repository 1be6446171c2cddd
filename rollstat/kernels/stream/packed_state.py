"""The three arrays of a stream's window as views of a single one, because each array makes a call slower.

::

    int64   int64     int64 ...   dtype ...   int32 ...
    [ len(header), len(values) | header | values | links ]      one array, of the dtype of the values

State: the array. Invariant: the views share its memory, so a copy of the array is a copy of the state.
Cost: O(1) to unpack; `unpack` is `views` for kernels. Each array argument of a call from Python costs 10 ns
without reference counts and 40 ns with them, as much as the step of many algorithms.
"""

import numpy as np

from rollstat.compile.jit import kernel

__all__ = ["pack", "unpack", "views"]

_LENGTHS = 2


def pack(header, values, links):
    """Return one array with a copy of a state, whose values have 4 or 8 bytes and whose links have 4."""
    if values.itemsize not in (4, 8) or links.dtype != np.int32:
        raise ValueError(f"values must have 4 or 8 bytes and links 4, but are {values.dtype}, {links.dtype}")
    lengths = np.array([len(header), len(values)], np.int64)
    links = np.concatenate([links, np.zeros(len(links) % 2, np.int32)])
    return np.concatenate([part.view(values.dtype) for part in (lengths, header, values, links)])


def views(state):
    """Return views of the three arrays."""
    words = 8 // state.itemsize
    lengths = state[: _LENGTHS * words].view(np.int64)
    first = (_LENGTHS + lengths[0]) * words
    last = first + lengths[1]
    return state[_LENGTHS * words : first].view(np.int64), state[first:last], state[last:].view(np.int32)


unpack = kernel(inline="always")(views)
