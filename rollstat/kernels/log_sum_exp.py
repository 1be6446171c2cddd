"""Logarithm of the sum of exponentials over any monotone windows, at any magnitude.

::

                 start        border        end
                 v            v             v
    x x x x x x [x x x x x x x|x x x x x x x]x x
                <--- suffix    prefix --->          log(sum exp) = level + log(sum exp(x - level))

A sum is kept as ``total * exp(level)``. Both parts of a window are summed outwards from the border, so
the level, one of the values already met, is in every window that reads the sum; it rises whenever a
value is more than 1 above it, so that no term is far larger than 1, and one that vanishes is of no weight.

State: level and total of every suffix of the stretch before the border, and of the prefix. Invariant:
every window that starts before the border ends at or behind it. Error: ``12 u + u * abs(result)``,
``u = 2**-53``, whatever the window: totals are summed with compensation. Cost: amortised O(1), worst case
O(m) a row. Source: two stacks, as surveyed in section 3 of Tangwongsan, Hirzel and Schneider,
doi:10.1145/3093742.3093925; the shift by a large term: Blanchard, Higham and Higham,
doi:10.1093/imanum/draa038.
"""

import math

import numpy as np

from rollstat._jit import kernel

__all__ = ["log_sum_exp"]

_EMPTY = -np.inf


@kernel(references=False)
def _weight(value, level):
    """``exp(value - level)``, where both may be the same infinity."""
    return 1.0 if value == level else math.exp(value - level)


@kernel(references=False)
def _include(level, total, lost, value):
    """Level, total and what rounding took from it, after one more value."""
    if total == 0.0 or value > level + 1.0:
        shrunk = _weight(level, value) if total > 0.0 else 0.0
        level = value
        total *= shrunk
        lost *= shrunk
    term = _weight(value, level)
    new = total + term
    part = new - total
    return level, new, lost + ((total - (new - part)) + (term - part))


@kernel(references=False)
def log_sum_exp(values, start, end, levels, totals, out):
    """Write ``log(sum(exp(x)))`` of each window; NaN counts as nothing, and nothing gives -inf."""
    first = border = position = 0
    level = _EMPTY
    total = lost = 0.0
    for i in range(len(start)):
        if start[i] >= border:
            first = start[i]
            border = position = end[i]
            level = _EMPTY
            total = lost = 0.0
            for j in range(border - 1, first - 1, -1):
                if values[j] == values[j]:
                    level, total, lost = _include(level, total, lost, values[j])
                levels[j - first] = level
                totals[j - first] = total + lost
            level = _EMPTY
            total = lost = 0.0
        for j in range(position, end[i]):
            if values[j] == values[j]:
                level, total, lost = _include(level, total, lost, values[j])
        position = end[i]
        top = level
        both = total + lost
        if start[i] < border:
            k = start[i] - first
            top = max(level, levels[k])
            both = both * _weight(level, top) + totals[k] * _weight(levels[k], top)
        out[i] = top + math.log(both) if both > 0.0 else _EMPTY
