"""Single steps of an aggregate over the last rows of a stream, and over all of it.

::

    x ---> [ row m back leaves | lift | queue of states | combine, lower ] ---> number, NaN for too few

State: that of :mod:`rollstat.kernels.window_stream`, and ``rows``, int64: the number of the next row and
how many the window has. Invariant, cost and source: theirs.
"""

import numpy as np

from rollstat._jit import kernel
from rollstat.kernels.window_stream import slide

__all__ = ["push_row"]


@kernel(references=False)
def push_row(algorithm, operator, header, cells, stamps, rows, out, failed, least, x):
    """Push a number, and return the result of the window, NaN where it has fewer than `least` numbers."""
    row = rows[0]
    rows[0] = row + 1
    limit = row - rows[1]
    held = slide(algorithm, operator, header, cells, stamps, limit, False, row, x, x == x, least, out, failed)
    if held < least:
        return np.nan
    return out[0]
