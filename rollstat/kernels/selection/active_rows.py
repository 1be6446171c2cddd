"""The rows that can change an order statistic within a band, gathered, and their answers spread out again.

::

    row        0    1    2    3    4    5    6
    leaves          u    o    17   u    o    o        u: under the band; o: over it; 17: code within it
    enters          u    u    o    u    o    o
    events               *    *
    answers    a    a    b    c    c    c    c

State: none beyond the events: what leaves, what enters, and the row, uint32 each. Invariant: a row that
replaces an observation under the band by another there, or one over it by another there, changes no bit that
:func:`rollstat.kernels.selection.bitset_fixed.slide_fixed` reads, and no count; its answer is that of the row
before.

Cost: O(1) a row and vector code, against a dependent chain of steps a row that it saves.

Source: as of :mod:`rollstat.kernels.selection.bitset_fixed`.
"""

import numpy as np

from rollstat._jit import kernel
from rollstat.kernels.selection.bitset_fixed import BELOW
from rollstat.kernels.simd.masks import append_active
from rollstat.kernels.simd.vectors import broadcast, lanes_of, store

__all__ = ["events_are_few", "gather_events", "spread"]

_LOOKED_AT = 4096
_FEW = 0.6


@kernel(forceinline=True)
def _is_event(leave, enter, far):
    """Whether not both are under the band, nor both over it or missing."""
    under, over = enter < np.uint32(BELOW), enter >= far
    return (under != (leave < np.uint32(BELOW))) | (over != (leave >= far)) | (under == over)


@kernel
def events_are_few(leaving, entering, far):
    """Whether to gather the rows that can change the order statistic, by the first of them."""
    far = np.uint32(far)
    rows = min(len(entering), _LOOKED_AT)
    events = 0
    for j in range(rows):
        events += _is_event(leaving[j], entering[j], far)
    return events < _FEW * rows


@kernel
def gather_events(leaving, entering, far, leaves, enters, rows):
    """Keep of the rows those that can change the order statistic.

    Parameters
    ----------
    leaving, entering : ndarray of uint32, shape (n,)
        Codes of what row j + 1 takes from the window and adds to it.
    far : int
        Lowest code of what is above the band.
    leaves, enters, rows : ndarray of uint32, shape (n,) or more
        Receive the codes of the events, and their j.

    Returns
    -------
    int
        How many events there are.
    """
    far, n, first = np.uint32(far), np.int64(0), 0
    while first + 16 <= len(entering):
        n = append_active(leaving, entering, first, np.uint32(BELOW), far, leaves, enters, rows, n)
        first += 16
    for j in range(first, len(entering)):
        leaves[n], enters[n], rows[n] = leaving[j], entering[j], j
        n += _is_event(leaving[j], entering[j], far)
    return n


@kernel
def spread(found, rows, result):
    """Give every row the answer of its last event.

    Parameters
    ----------
    found : ndarray, shape (1 + events,)
        Answer of row 0, and those after every event.
    rows : ndarray of uint32, shape (events,)
        Where the events are, less one.
    result : ndarray, shape (n,)
        Receives the answers of rows 0 to n - 1; no part of `found`.
    """
    lanes = lanes_of(result)
    first = np.int64(0)
    for e in range(len(found)):
        last = np.int64(rows[e]) + 1 if e < len(rows) else len(result)
        answers = broadcast(found[e])
        while first < last and first + lanes <= len(result):
            store(answers, result, first)  # what is too much belongs to the next events
            first += lanes
        for j in range(first, last):
            result[j] = found[e]
        first = last
