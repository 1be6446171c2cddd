"""The observations of a series alone, and the bounds of windows among them.

::

    missing   0 0 1 0 1 0      rows          0 1 2 3 4 5
              [-------)        observations  0 1   2   3      rows [0, 4) hold the observations [0, 3)

State: a running count. Invariant: the bound of a row is the number of observations before it. Cost: O(1)
amortised per row.
"""

from rollstat.compile.jit import kernel

__all__ = ["keep_observed", "observed_bounds"]


@kernel
def observed_bounds(missing, bound, observed):
    """Write the number of observations before each of the rows `bound`, which never decrease."""
    row = count = 0
    for i in range(len(bound)):
        while row < bound[i]:
            count += not missing[row]
            row += 1
        observed[i] = count


@kernel
def keep_observed(values, missing, kept):
    """Write the values that are not missing to the front of `kept`, which has room for one more."""
    count = 0
    for i in range(len(values)):
        # Storing always and advancing only for an observation avoids a branch.
        kept[count] = values[i]
        count += not missing[i]
