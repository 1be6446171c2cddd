"""Exact sums of integers over monotone windows, and where one does not fit.

::

    value = high * 2**32 + low,  0 <= low < 2**32

           | x x x x |          highs and lows of a window are summed apart,
             - window +         which neither can overflow below 2**31 rows

State: the two sums. A value that leaves is subtracted, which is harmless here: integers do not round.
Invariant: both sums are exact. Cost: amortised O(1) a row, worst case the largest jump of a bound.
"""

from rollstat._jit import kernel

__all__ = ["integer_sums"]

_LOW = 0xFFFFFFFF


@kernel(references=False)
def integer_sums(values, missing, unsigned, start, end, out):
    """Write the sum of each window; return the first row whose sum does not fit into 64 bits, or -1.

    `values` and `out` are int64, or uint64 viewed as int64 where `unsigned`; `missing` marks what is no
    observation, or is empty.
    """
    left = right = 0
    high = low = 0
    lowest = 0 if unsigned else -(1 << 31)
    for i in range(len(start)):
        if start[i] >= right:
            left = right = start[i]
            high = low = 0
        for j in range(right, end[i]):
            if len(missing) == 0 or not missing[j]:
                part = values[j] >> 32
                high += part & _LOW if unsigned else part
                low += values[j] & _LOW
        right = end[i]
        for j in range(left, start[i]):
            if len(missing) == 0 or not missing[j]:
                part = values[j] >> 32
                high -= part & _LOW if unsigned else part
                low -= values[j] & _LOW
        left = start[i]
        upper = high + (low >> 32)
        if not lowest <= upper < lowest + (1 << 32):
            return i
        out[i] = (upper << 32) | (low & _LOW)
    return -1
