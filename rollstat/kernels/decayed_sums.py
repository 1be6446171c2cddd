"""Sums over monotone windows in which every row weighs less than the row after it.

::

    weight in the window that ends here   f3*f4*f5   f4*f5   f5   1
                                             x2        x3    x4   x5
    factor from the row before                         f3    f4   f5

                 start        border        end
                 v            v             v
    x x x x x x [x x x x x x x|x x x x x x x]x x
                <--- suffix    prefix --->     sum = suffix[start] * (product of factors behind) + prefix

A row whose value is missing has no weight, but ages the rows before it. The map that a row applies to the
sum before it, ``s -> f * s + x``, is affine; what is computed here is a product of such maps.

State: sums of weighted values and of weights of every suffix of the stretch before the border, and of
the prefix. Invariant: every window that starts before the border ends at or behind it; nothing that left a
window is in either. Error: ``(2 k + 6) u * sum(weight * abs(x))``, ``u = 2**-53``, where k is the mean age of
the weights, never more than ``m`` nor, for a constant factor f, than ``1 / (1 - f)``, to first order.
Cost: amortised O(1), worst case O(m) a row. Source: two stacks, as surveyed in section 3 of Tangwongsan,
Hirzel and Schneider, doi:10.1145/3093742.3093925.
"""

from rollstat._jit import kernel

__all__ = ["decayed_sums"]


@kernel(references=False)
def decayed_sums(values, factors, start, end, suffix, weights, sums, totals):
    """Write the decayed sum of each window, and that of the weights of its observations.

    ``factors[j]`` is the weight of row ``j - 1`` against row `j`; a single one serves all rows.
    """
    first = border = position = 0
    last = len(factors) - 1
    total = weight = aged = 0.0
    for i in range(len(start)):
        if start[i] >= border:
            first = start[i]
            border = position = end[i]
            total = weight = 0.0
            aged = 1.0
            for j in range(border - 1, first - 1, -1):
                if values[j] == values[j]:
                    total += aged * values[j]
                    weight += aged
                suffix[j - first] = total
                weights[j - first] = weight
                aged *= factors[min(j, last)]
            total = weight = 0.0
            aged = 1.0
        for j in range(position, end[i]):
            factor = factors[min(j, last)]
            aged *= factor
            total *= factor
            weight *= factor
            if values[j] == values[j]:
                total += values[j]
                weight += 1.0
        position = end[i]
        sums[i] = total
        totals[i] = weight
        if start[i] < border:
            k = start[i] - first
            sums[i] = aged * suffix[k] + total
            totals[i] = aged * weights[k] + weight
