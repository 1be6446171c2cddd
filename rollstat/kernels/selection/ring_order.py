"""Order of rows in a ring: which of two slots holds the older row.

::

    [ n-2 n-1  n  n-7 n-6 n-5 n-4 n-3 ]       rows
               ^newest

State: none. Invariant: slots after the newest hold older rows than those up to it, and on each side rows
increase with the slot. Cost: O(1). Source: elementary.
"""

from rollstat.compile.jit import kernel

__all__ = ["is_older"]


@kernel
def is_older(slot, other, newest):
    """Whether the row in `slot` is older than the row in `other`."""
    if (slot > newest) == (other > newest):
        return slot < other
    return slot > newest
