"""The observations of a series alone, the bounds of windows among them, and the nearest ones of each row.

::

    missing   0 0 1 0 1 0      rows          0 1 2 3 4 5
              [-------)        observations  0 1   2   3      rows [0, 4) hold the observations [0, 3)

    values          5.0  N   N  2.0  N
    forward         5.0 5.0 5.0 2.0 2.0      (before the first observation: the first value)
    backward        5.0 2.0 2.0 2.0  N       (after the last observation: the last value)

State: a running count, or the last observation so far. Invariant: the bound of a row is the number of
observations before it. Cost: O(1) per row.
"""

from rollstat.compile.jit import kernel
from rollstat.kernels.missing.counting import has_nan


@kernel
def count_before(missing, before):
    """Write the number of observations before each row, and their total to the last of `before`."""
    count = 0
    for row in range(len(missing)):
        before[row] = count
        count += not missing[row]
    before[len(missing)] = count


@kernel
def keep_observed(values, missing, kept):
    """Write the values that are not missing to the front of `kept`; `kept` has room for one more."""
    count = 0
    for i in range(len(values)):
        # Storing always and advancing only for an observation avoids a branch.
        kept[count] = values[i]
        count += not missing[i]


# Values that stay in the fastest cache between the search for NaN and the copy.
_BLOCK = 2048


@kernel
def copy_until_nan(values, out):
    """Copy floats up to a block that has a NaN; return whether all were copied."""
    for first in range(0, len(values), _BLOCK):
        block = values[first : first + _BLOCK]
        if has_nan(block):
            return False
        target = out[first : first + len(block)]
        for i in range(len(block)):
            target[i] = block[i]
    return True


@kernel(forceinline=True)
def _or_last(values, missing, i, last):
    if missing is None:
        return values[i] if values[i] == values[i] else last
    return last if missing[i] else values[i]


@kernel
def fill(values, missing, forward, out):
    """Write the last observation up to each of the last ``len(out)`` rows, or the first from each on.

    `missing` marks rows that are no observations; None if NaN does.
    """
    rows, skipped = len(out), len(values) - len(out)
    if forward:
        last = values[0]
        for i in range(skipped):
            last = _or_last(values, missing, i, last)
        for i in range(rows):
            last = _or_last(values, missing, skipped + i, last)
            out[i] = last
    else:
        last = values[len(values) - 1]
        for i in range(len(values) - 1, rows - 1, -1):
            last = _or_last(values, missing, i, last)
        for i in range(rows - 1, -1, -1):
            last = _or_last(values, missing, i, last)
            out[i] = last
