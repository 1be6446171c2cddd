"""The three arrays of a streaming state as views of a single one, because each array makes a call slower.

::

    int64   int64     int64 ...   dtype ...   int32 ...
    [ len(header), len(values) | header | values | links ]      one array, of the dtype of the values

State: the array. Invariant: what is done to the views is done to it, so that copying or pickling it copies
the state. Cost: O(1) to unpack, which is `views` for kernels. Each array argument costs some 10 ns a call
from Python without reference counts and 40 ns with them, as much as a step of many an algorithm.
"""

import numpy as np

from rollstat._jit import kernel

__all__ = ["pack", "unpack", "views"]

_LENGTHS = 2


def pack(header, values, links):
    """One array with a copy of a state; values of 4 or 8 bytes, links of 4."""
    if values.itemsize not in (4, 8) or links.dtype != np.int32:
        raise ValueError(f"values must have 4 or 8 bytes and links 4, but are {values.dtype}, {links.dtype}")
    lengths = np.array([len(header), len(values)], np.int64)
    links = np.concatenate([links, np.zeros(len(links) % 2, np.int32)])
    return np.concatenate([part.view(values.dtype) for part in (lengths, header, values, links)])


def views(state):
    """Views of the three arrays."""
    words = 8 // state.itemsize
    lengths = state[: _LENGTHS * words].view(np.int64)
    first = (_LENGTHS + lengths[0]) * words
    last = first + lengths[1]
    return state[_LENGTHS * words : first].view(np.int64), state[first:last], state[last:].view(np.int32)


unpack = kernel(inline="always")(views)
