"""Minimum and maximum of windows of 3 values, with at most 2 comparisons a window.

::

    a b c d          known: whether a > b
      -----          "b > c?" and, if needed, "a > c?" decide window a b c;
                     the answer to "b > c?" is known to window b c d

State: the order of the last two values, one bit. Invariant: before value c is read, the bit says which of
the two values before it is larger. Cost: 1 or 2 comparisons a value, in the worst case as well.

Source: D. Lemire, Streaming maximum-minimum filter using no more than three comparisons per element,
arXiv:cs/0610046, Proposition 1; here the second comparison is omitted where the first one decides.
"""

from rollstat._jit import kernel

__all__ = ["extrema_of_three"]


@kernel
def extrema_of_three(values, low, high):
    """Write the extrema of ``values[i:i + 3]`` to ``low[i]`` and ``high[i]``; return the comparisons made.

    No value is missing.
    """
    if len(values) < 3:
        return 0
    first, second = values[0], values[1]
    falls = first > second
    comparisons = 1
    for i in range(len(values) - 2):
        third = values[i + 2]
        fell, falls = falls, second > third
        comparisons += 1
        if fell == falls:
            low[i] = third if falls else first
            high[i] = first if falls else third
        else:
            beyond = first > third
            comparisons += 1
            if falls:
                low[i] = third if beyond else first
                high[i] = second
            else:
                low[i] = second
                high[i] = first if beyond else third
        first, second = second, third
    return comparisons
