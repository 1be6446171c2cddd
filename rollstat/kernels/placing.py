"""Several results at once, from the order in which they were computed to the order of the rows.

::

    order    2 0 1        arrays  a0 a1 a2      lines  a1 b1      arrays  a1 a2 a0
                                  b0 b1 b2             a2 b2              b1 b2 b0
                                                       a0 b0

The rows of a key lie far apart, so each value written to its row costs a cache line. Eight values of a row,
one of each array, cost no more. State: an array of lines. Invariant: line ``order[i]`` holds the values at
`i`. Cost: two passes; only the first jumps between lines.
"""

from rollstat.compile.jit import kernel

LINE = 8
"""Values of 64 bits in a cache line."""


@kernel
def write_lines(arrays, order, lines):
    """Write the values at each place of eight arrays to the line of its row."""
    for i in range(len(order)):
        row = order[i]
        for j in range(8):
            lines[row, j] = arrays[j][i]


@kernel
def read_lines(lines, arrays):
    """Write the values of the lines to eight arrays."""
    for i in range(len(lines)):
        for j in range(8):
            arrays[j][i] = lines[i, j]
