"""Single steps of an aggregate over the last rows of a stream of floating numbers, in one call from Python.

::

    x ---> [ row m back leaves | lift | queue of states | combine, lower ] ---> number, NaN for too few

State: that of :mod:`rollstat.kernels.aggregate.window`, whose `header` has more slots at its end: NEXT, the
number of the next row; SPAN, how many rows the window has; FIRST, the first row that was not popped; FOLDED,
how many observations more than states there are; LEAST, the observations without which there is no answer.
Invariant, cost and source: theirs.
"""

import numpy as np

from rollstat._jit import kernel
from rollstat.kernels.aggregate.ring_queue import END, FRONT
from rollstat.kernels.aggregate.window import advance, result
from rollstat.kernels.stream.fast_call import plain, single_step

__all__ = ["FIRST", "FOLDED", "LEAST", "MORE", "NEXT", "SPAN", "push_kept_row", "push_row"]

NEXT, SPAN, FIRST, FOLDED, LEAST = range(-5, 0)
MORE = 5


@kernel(forceinline=True)
def _push(algorithm, operator, header, cells, stamps, x):
    row = header[NEXT]
    header[NEXT] = row + 1
    advance(algorithm, operator, header, cells, stamps, row - header[SPAN], row, x, x == x)
    if header[END] - header[FRONT] < header[LEAST]:
        return np.nan
    return result(algorithm, operator, header, cells)


@single_step
def push_row(algorithm, operator, header, cells, stamps, x):
    """Push a number, and return the result of the window, NaN where it has fewer than LEAST numbers."""
    return _push(algorithm, operator, plain(header), plain(cells), plain(stamps), plain(x))


@single_step
def push_kept_row(rows, algorithm, operator, header, cells, stamps, x):
    """Push a number that is also written into a ring of the window's rows."""
    header, rows, x = plain(header), plain(rows), plain(x)
    rows[header[NEXT] & (len(rows) - 1)] = x
    return _push(algorithm, operator, header, plain(cells), plain(stamps), x)
