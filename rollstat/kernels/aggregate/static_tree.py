r"""Windows in any order for any operator: blocks of rows, and blocks combined to both sides of middles.

::

    rows       [. . . .|. . . .|. . . .|. . . .|. . . .|. . . .]    blocks of 16 rows, here of 4
    suffix      a..d b..d c..d d                                    from each row to the end of its block
    prefix                                          u  u..v u..w    from the start of its block to each row

    blocks        0     1     2     3     4     5     6     7
    level 0       0     1     2     3     4     5     6     7       each block itself
    level 1      0-1    1  |  2    2-3   4-5    5  |  6    6-7      blocks up to a middle, and from it on
    level 2      0-3   1-3   2-3    3  |  4    4-5   4-6   4-7

    a window from block 0 to block 6:  suffix in 0, level 2 of 1 (1-3), level 2 of 5 (4-5), prefix in 6

The blocks i and j, i < j, are on both sides of a middle of one level: the number of the highest bit in which
i and j differ.

State: cells of suffixes and prefixes, one for each row, and of levels, one for each block. Invariant: see the
picture; a level holds as many blocks to both sides of a middle as the longest window has. Cost: less than 2
combinations for each row and 1 for each block of a level to build it; at most 3 for a window that starts and
ends in different blocks, and 1 for each further row of any other window. Nothing is subtracted, and an
operator need not have an inverse, nor be commutative or idempotent.

Source: A. Yao, Space-time tradeoff for answering range queries (1982), doi:10.1145/800070.802185; N. Alon and
B. Schieber, Optimal preprocessing for answering on-line product queries (1987, Tel Aviv University 71/87).
Windows in any order by a static tree: A. Vogelsgesang and others (SIGMOD 2022), doi:10.1145/3514221.3526184.
"""

import numpy as np

from rollstat.compile.jit import kernel
from rollstat.compile.lowering import count_leading_zeros
from rollstat.kernels.aggregate.operator_calls import combine, emit, lift, load, save

SHIFT = 4
ROWS = 1 << SHIFT


def create(state, rows):
    """Return cells for suffixes, prefixes and levels over `rows` elements, with states of this dtype."""
    blocks = (rows + ROWS - 1) >> SHIFT
    return np.empty(rows, state), np.empty(rows, state), np.empty(blocks * (blocks.bit_length() or 1), state)


@kernel
def _fill_blocks(operator, values, suffix, prefix, levels):
    """Write suffixes, prefixes and level 0; return the number of blocks."""
    blocks = (len(suffix) + ROWS - 1) >> SHIFT
    for block in range(blocks):
        first = block << SHIFT
        last = min(first + ROWS, len(suffix))
        state = lift(operator, prefix, values, first)
        save(prefix, first, state)
        for i in range(first + 1, last):
            state = combine(operator, prefix, state, lift(operator, prefix, values, i))
            save(prefix, i, state)
        save(levels, block, state)
        state = lift(operator, suffix, values, last - 1)
        save(suffix, last - 1, state)
        for i in range(last - 2, first - 1, -1):
            state = combine(operator, suffix, lift(operator, suffix, values, i), state)
            save(suffix, i, state)
    return blocks


@kernel
def build(operator, values, longest, suffix, prefix, levels):
    """Fill the cells for windows of up to `longest` elements; return the number of blocks."""
    blocks = _fill_blocks(operator, values, suffix, prefix, levels)
    most = (longest >> SHIFT) + 1
    half, level = 2, blocks
    while half < blocks:
        for middle in range(half, blocks, 2 * half):
            state = load(levels, middle)
            save(levels, level + middle, state)
            for block in range(middle + 1, min(middle + min(half, most), blocks)):
                state = combine(operator, levels, state, load(levels, block))
                save(levels, level + block, state)
            state = load(levels, middle - 1)
            save(levels, level + middle - 1, state)
            for block in range(middle - 2, middle - min(half, most) - 1, -1):
                state = combine(operator, levels, load(levels, block), state)
                save(levels, level + block, state)
        half *= 2
        level += blocks
    return blocks


@kernel
def query(operator, values, blocks, suffix, prefix, levels, start, end, out, failed):
    """Write the result of each window that is not empty into its row of `out`."""
    for row in range(len(start)):
        first, last = start[row], end[row] - 1
        if first > last:
            continue
        low, high = (first >> SHIFT) + 1, (last >> SHIFT) - 1
        if high < low - 1:
            state = lift(operator, suffix, values, first)
            for i in range(first + 1, last + 1):
                state = combine(operator, suffix, state, lift(operator, suffix, values, i))
        else:
            state = load(suffix, first)
            if low < high:
                level = blocks * (63 - count_leading_zeros(np.uint64(low ^ high)))
                state = combine(operator, suffix, state, load(levels, level + low))
                state = combine(operator, suffix, state, load(levels, level + high))
            elif low == high:
                state = combine(operator, suffix, state, load(levels, low))
            state = combine(operator, suffix, state, load(prefix, last))
        emit(operator, state, out, row, failed)
