"""Whether a series is sorted: its windows are sorted too then, and no selection is needed.

::

    values    1 2 2 5 7 8          ascending: rank 1 of every window of three is its second value
              [---]                                                       2 2 5 7
                [---]

State: none. Invariant: no part examined so far has a step against the direction. Cost: O(1) expected where
steps of both kinds are common, since the search ends with the part that has one; O(length) at worst, in
vector instructions. Source: elementary.

The rank of every row, from the rows in sorted order.

::

    row     3  0  2  1        rows in the order of their values
    rank    1  3  2  0        rank[row[i]] = i

State: none. Invariant: `rank` is the inverse of `row` where all ranks differ; tied ranks are those of the
first of the equal values. Cost: O(n). Source: elementary.
"""

from rollstat.compile.jit import kernel

__all__ = [
    "direction",
    "number",
    "number_tied",
]


_PART = 256  # values examined between two chances to stop


@kernel
def direction(values):
    """Return 1 if no value is less than the one before it, -1 if none is greater, otherwise 0.

    Constant values count as ascending. There must be no NaN.
    """
    rising = falling = True
    for first in range(0, len(values) - 1, _PART):
        after = values[first + 1 : first + 1 + _PART]
        before = values[first : first + len(after)]
        ups = downs = 0
        for i in range(len(after)):
            ups += after[i] > before[i]
            downs += after[i] < before[i]
        rising = rising and downs == 0
        falling = falling and ups == 0
        if not rising and not falling:
            return 0
    return 1 if rising else -1


@kernel
def number(row, rank):
    """Write the inverse of the permutation `row`."""
    for i in range(len(row)):
        rank[row[i]] = i


@kernel
def number_tied(row, first, rank):
    """Write tied ranks: the rank of the first of equal values. `first` marks where a new value begins."""
    r = 0
    for i in range(len(row)):
        r = i if first[i] else r
        rank[row[i]] = r
