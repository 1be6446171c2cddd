"""Bounds of windows among the observations alone.

::

    missing   0 0 1 0 1 0      rows          0 1 2 3 4 5
              [-------)        observations  0 1   2   3      rows [0, 4) hold the observations [0, 3)

State: two running counts. Invariant: the bound of a row is the number of observations before it.
Cost: O(1) amortised a row.
"""

from rollstat._jit import kernel

__all__ = ["observed_bounds"]


@kernel
def observed_bounds(missing, bound, observed):
    """Write into `observed` the number of observations before each of the rows `bound`, which never fall."""
    row = count = 0
    for i in range(len(bound)):
        while row < bound[i]:
            count += not missing[row]
            row += 1
        observed[i] = count
