"""Results of straight lines, from lines that count rows from the mean row of their window.

::

    height at the mean row - slope * rows before it = height at the first row

State, invariant: none. Cost: a few instructions a row, in vector code. Source: the definition.
"""

from rollstat.compile.jit import kernel

__all__ = ["write_lines"]


@kernel
def write_lines(lines, rows_before, slope, intercept, determination):
    """Write the three rows of `lines`, the second moved by so many rows."""
    for i in range(len(slope)):
        slope[i] = lines[0, i]
        intercept[i] = lines[1, i] - lines[0, i] * rows_before if rows_before > 0 else lines[1, i]
        determination[i] = lines[2, i]
