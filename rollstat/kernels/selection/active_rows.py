"""Active rows: gather the rows that can change an order statistic within a band, and fill in the others.

::

    row        0    1    2    3    4    5    6
    leaves          u    o    17   u    o    o        u: below the band; o: above it; 17: code within it
    enters          u    u    o    u    o    o
    active               *    *
    answers    a    a    b    c    c    c    c

State: the active rows: what leaves, what enters, and the row, uint32 each.

Invariant: a row that replaces an observation below the band by another one below, or one above by another one
above, changes no bit that :func:`rollstat.kernels.selection.bitset_fixed.slide_fixed` reads, and no count.
Its answer is that of the row before.

Cost: O(1) a row in vector code, instead of the chain of dependent steps of a slide.

Source: as of :mod:`rollstat.kernels.selection.band_codes`.
"""

import numpy as np

from rollstat.compile.jit import kernel
from rollstat.compile.simd.masks import append_active
from rollstat.compile.simd.vectors import broadcast, lanes_of, store
from rollstat.kernels.selection.band_codes import BELOW
from rollstat.thresholds import ACTIVE_PROBED_ROWS, ACTIVE_SHARE

__all__ = ["active_rows_are_few", "fill_forward", "gather_active_rows"]


@kernel(forceinline=True)
def _is_active(leave, enter, above):
    """Whether the codes are neither both below the band nor both above it."""
    enters_below, enters_above = enter < np.uint32(BELOW), enter >= above
    return (
        (enters_below != (leave < np.uint32(BELOW)))
        | (enters_above != (leave >= above))
        | (enters_below == enters_above)
    )


@kernel
def active_rows_are_few(leaving, entering, above):
    """Whether gathering the active rows pays, by the first rows."""
    above = np.uint32(above)
    rows = min(len(entering), ACTIVE_PROBED_ROWS)
    active = 0
    for j in range(rows):
        active += _is_active(leaving[j], entering[j], above)
    return active < ACTIVE_SHARE * rows


@kernel
def gather_active_rows(leaving, entering, above, leaves, enters, rows):
    """Write the active rows and their codes; return their number.

    Parameters
    ----------
    leaving, entering : ndarray of uint32, shape (n,)
        Codes of what row j + 1 removes from the window and adds to it.
    above : int
        Lowest code of what is above the band.
    leaves, enters, rows : ndarray of uint32, shape (n,) or more
        Receive the codes of the active rows, and their j.
    """
    above, n, first = np.uint32(above), np.int64(0), 0
    while first + 16 <= len(entering):
        n = append_active(leaving, entering, first, np.uint32(BELOW), above, leaves, enters, rows, n)
        first += 16
    for j in range(first, len(entering)):
        # Written in any case and kept only if active: no branch to mispredict.
        leaves[n], enters[n], rows[n] = leaving[j], entering[j], j
        n += _is_active(leaving[j], entering[j], above)
    return n


@kernel
def fill_forward(found, rows, result):
    """Write the answer of its last active row into every row.

    Parameters
    ----------
    found : ndarray, shape (1 + active rows,)
        Answer of row 0, and those after every active row.
    rows : ndarray of uint32, shape (active rows,)
        Active rows, less one.
    result : ndarray, shape (n,)
        Receives the answers of rows 0 to n - 1; must not overlap `found`.
    """
    lanes = lanes_of(result)
    first = np.int64(0)
    for e in range(len(found)):
        last = np.int64(rows[e]) + 1 if e < len(rows) else len(result)
        answers = broadcast(found[e])
        while first < last and first + lanes <= len(result):
            store(answers, result, first)  # the lanes past `last` are overwritten by the next answers
            first += lanes
        for j in range(first, last):
            result[j] = found[e]
        first = last
