"""The observations alone: bounds of windows among them, and the values themselves.

::

    missing   0 0 1 0 1 0      rows          0 1 2 3 4 5
              [-------)        observations  0 1   2   3      rows [0, 4) hold the observations [0, 3)

State: two running counts, or the last observation met. Invariant: the bound of a row is the number of
observations before it. Cost: O(1) amortised a row.
"""

from rollstat._jit import kernel
from rollstat.kernels.missing.counting import has_nan

__all__ = [
    "carry_back",
    "carry_numbers_back",
    "carry_numbers_on",
    "carry_on",
    "copy_numbers",
    "keep_observed",
    "observed_bounds",
]

# Values that stay in the fastest cache between a look and a copy.
_STRETCH = 2048


@kernel
def observed_bounds(missing, bound, observed):
    """Write into `observed` the number of observations before each of the rows `bound`, which never fall."""
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
        kept[count] = values[i]
        count += not missing[i]


@kernel
def carry_on(values, missing, carried):
    """Write to every row the last observation up to it; before the first one, the first value."""
    last = values[0]
    for i in range(len(values)):
        last = last if missing[i] else values[i]
        carried[i] = last


@kernel
def carry_back(values, missing, carried):
    """Write to every row the first observation from it on; behind the last one, the last value."""
    last = values[len(values) - 1]
    for i in range(len(values) - 1, -1, -1):
        last = last if missing[i] else values[i]
        carried[i] = last


@kernel
def copy_numbers(values, copied):
    """Copy floating numbers up to a stretch in which one is NaN; return whether there is none."""
    for first in range(0, len(values), _STRETCH):
        part = values[first : first + _STRETCH]
        if has_nan(part):
            return False
        to = copied[first : first + len(part)]
        for i in range(len(part)):
            to[i] = part[i]
    return True


@kernel
def carry_numbers_on(values, carried):
    """Write the last number that is not NaN up to each of the last rows, as many as `carried` has."""
    behind = len(values) - len(carried)
    last = values[0]
    for i in range(behind):
        last = values[i] if values[i] == values[i] else last
    for i in range(len(carried)):
        value = values[behind + i]
        last = value if value == value else last
        carried[i] = last


@kernel
def carry_numbers_back(values, carried):
    """Write the first number that is not NaN from each of the first rows on, as many as `carried` has."""
    last = values[len(values) - 1]
    for i in range(len(values) - 1, len(carried) - 1, -1):
        last = values[i] if values[i] == values[i] else last
    for i in range(len(carried) - 1, -1, -1):
        last = values[i] if values[i] == values[i] else last
        carried[i] = last
