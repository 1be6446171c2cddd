"""Codes of the rows of a block: below a band of values, within it by rank, or above it.

::

    code     0 ... 1023   1024 ... 1087   1088 ... top - 1    top ... top + 63   above ...   missing ...
             below        guards          ranks of the band   guards             1024 codes  1024 codes

The codes number the bits of the bit set of :mod:`rollstat.kernels.selection.bitset_fixed`. Only the rows of
the band are sorted; all others get a code that only says which side they are on, or that they are missing.
The bits of these codes are written and never read. Rows on one side take turns over 16 words, because
consecutive updates of one word would wait for each other. A band of all values gives the ranks of all rows.

State: `BandIndex`. Invariant: codes of the band are in the order (value, row), and ``ordered[c]`` and
``row_of[c]`` belong to the row with code c.

Cost: O(n) for n rows, plus the sort of the band.

Source: leaving out what cannot be an answer is from section 3 of M. Raykov, An optimal algorithm for sliding
window order statistics (ICDT 2023), doi:10.4230/LIPIcs.ICDT.2023.5.

Missing values: keep the rank of the order statistic from row to row, as far as possible.

::

    row        0    1    2    3    4    5         median, the lower of two
    enters          o    NaN  u    NaN  o         u: below the order statistic; o: above it
    rank       4    4    3    3    3    3         of 9, 9, 8, 8, 7 and 7 observations
    as if           o    u    u    o    o         rank 4 in every row

A window that loses an observation to a missing value may also lose a rank. The missing value then counts as
below the order statistic, which keeps its rank, and otherwise as above. The same holds for missing values
that leave. A missing value has no bit, so it may leave on another side than it entered on.

State: the codes that leave, and those that enter. Invariant: where a row is no break, the number of codes
before the order statistic changes by as much as the wanted rank.

Cost: O(1) a row in vector code. Source: own construction.

Active rows: gather the rows that can change an order statistic within a band, and fill in the others.

::

    row        0    1    2    3    4    5    6
    leaves          u    o    17   u    o    o        u: below the band; o: above it; 17: code within it
    enters          u    u    o    u    o    o
    active               *    *
    answers    a    a    b    c    c    c    c

State: what leaves and what enters in the active rows, uint32 each, and a mark in every row.

Invariant: a row that replaces an observation below the band by another one below, or one above by another one
above, changes no bit that :func:`rollstat.kernels.selection.bitset_fixed.slide_fixed` reads, and no count.
Its answer is the answer of the row before.

Cost: O(1) a row in vector code, instead of the chain of dependent steps of a slide.

Source: as for the band.
"""

from typing import NamedTuple

import numpy as np

from rollstat.compile.jit import INDEX, kernel
from rollstat.compile.simd.masks import append_active, copy_by_marks
from rollstat.kernels.selection.radix_sort import bits_for, row_mask, sort_records
from rollstat.thresholds import ACTIVE_PROBED_ROWS, ACTIVE_SHARE

GUARDS = 64
BELOW = 1024
FIRST = BELOW + GUARDS
_LAST_OF_TURN = 15


class BandIndex(NamedTuple):
    """Codes of up to n rows, and what a code stands for; c is the number of codes.

    Attributes
    ----------
    code : ndarray of uint32, shape (n,)
        Code of every row.
    bits : ndarray of uint64, shape (c / 64,)
        One bit per code, set while the row is in the window.
    ordered : ndarray of uint64, shape (c,)
        The bytes of the value of every code of the band, so that kernels copy values of any 64-bit dtype.
    row_of : ndarray of uint32, shape (c,)
        Row of every code of the band.
    """

    code: np.ndarray
    bits: np.ndarray
    ordered: np.ndarray
    row_of: np.ndarray


@kernel
def above_band_code(ranks):
    """Lowest code of what lies above a band of this many ranks."""
    return ((FIRST + ranks + GUARDS) // 64 + 2) * 64


@kernel
def missing_code(ranks):
    """Lowest code of what is missing."""
    return above_band_code(ranks) + 64 * (_LAST_OF_TURN + 1)


@kernel
def words_for(ranks):
    """Number of words of a bit set of this many ranks."""
    return missing_code(ranks) // 64 + _LAST_OF_TURN + 1


def allocate_index(rows):
    """Return a BandIndex for up to this many rows."""
    bits = np.empty(words_for(rows), np.uint64)
    codes = 64 * len(bits)
    return BandIndex(np.empty(rows, np.uint32), bits, np.zeros(codes, np.uint64), np.zeros(codes, np.uint32))


@kernel
def classify(values, missing, lowest, ranks, code):
    """Write the codes of a band of `ranks` values from `lowest` on for rows below it, above it or missing.

    Rows within the band get the code of a row above it until `place` gives them their own. `missing` is as
    long as `values`, or empty.
    """
    above, gap = np.uint32(above_band_code(ranks)), np.uint32(missing_code(ranks))
    everything = len(missing) == 0
    for i in range(len(values)):
        value = values[i]
        side = np.uint32(0) if value < lowest else above
        side = side if (value == value) & (everything or not missing[i]) else gap
        code[i] = (np.uint32(i & _LAST_OF_TURN) << np.uint32(6)) + side


@kernel
def place(records, row_bits, values, index):
    """Write the codes of the band, given its sorted records, and the value and row of each code."""
    mask = row_mask(row_bits)
    code, row_of, ordered = index.code, index.row_of, index.ordered.view(values.dtype)
    for r in range(len(records)):
        row = records[r] & mask
        of_row = (FIRST + r) & INDEX
        code[row] = of_row
        ordered[of_row] = values[row]
        row_of[of_row] = row


@kernel
def rank_band(values, missing, lowest, highest, everything, sort, index):
    """Sort the observations from `lowest` to `highest` and write the code of every row.

    Parameters
    ----------
    values, missing, lowest, highest, everything
        As for :func:`rollstat.kernels.selection.radix_sort.sort_records`.
    sort : SortScratch
        Receives the sorted records.
    index : BandIndex
        Receives the codes, for as many rows as there are values.

    Returns
    -------
    int
        Number of observations in the band, or -1 where the radix sort does not suit them.
    """
    count = sort_records(values, missing, lowest, highest, everything, sort)
    if count >= 0:
        if not everything:
            classify(values, missing, lowest, count, index.code)
        place(sort.records[:count], bits_for(len(values)), values, index)
    return count


@kernel
def keep_ranks(targets, ranks, code, leaving, entering, breaks):
    """Write the codes of what leaves and enters such that most rows keep their rank; return how many do not.

    Parameters
    ----------
    targets : ndarray of int64, shape (rows,)
        The rank wanted in every row, negative where nothing is wanted.
    ranks : int
        Number of observations in the band.
    code : ndarray of uint32, shape (rows + width - 1,)
        The code of every row.
    leaving, entering : ndarray of uint32, shape (rows - 1,)
        Receive the codes.
    breaks : ndarray of uint32, shape (rows - 1,)
        Receives 0 where the next row keeps its rank or neither row wants one, otherwise 1.
    """
    missing, found = np.uint32(missing_code(ranks)), 0
    left, came = code[: len(breaks)], code[len(code) - len(breaks) :]
    for j in range(len(breaks)):
        rank, following = targets[j], targets[j + 1]
        leave, enter = left[j], came[j]
        wanted = (rank >= 0) & (following >= 0)
        leaves_below = wanted & (following - rank == 1) & (leave >= missing) & (enter < missing)
        enters_below = wanted & (rank - following == 1) & (enter >= missing) & (leave < missing)
        leaving[j] = leave - (missing if leaves_below else np.uint32(0))
        entering[j] = enter - (missing if enters_below else np.uint32(0))
        breaks[j] = (following != rank) & (not (leaves_below | enters_below))
        found += breaks[j]
    return found


@kernel(forceinline=True)
def _is_active(leave, enter, above):
    """Whether the codes are neither both below the band nor both above it."""
    below = (leave < np.uint32(BELOW)) & (enter < np.uint32(BELOW))
    return not (below | ((leave >= above) & (enter >= above)))


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
def gather_active_rows(leaving, entering, above, leaves, enters, marks):
    """Mark the active rows and write their codes; return their number.

    Parameters
    ----------
    leaving, entering : ndarray of uint32, shape (n,)
        Codes of what row j + 1 removes from the window and adds to it.
    above : int
        Lowest code of what is above the band.
    leaves, enters : ndarray of uint32, shape (n,) or more
        Receive the codes of the active rows.
    marks : ndarray of uint8, shape (n,)
        Receives 1 where row j + 1 is active, otherwise 0.
    """
    above, n, first = np.uint32(above), np.int64(0), 0
    while first + 16 <= len(entering):
        n = append_active(leaving, entering, first, np.uint32(BELOW), above, leaves, enters, marks, n)
        first += 16
    for j in range(first, len(entering)):
        # Written in any case and kept only if active: no branch to mispredict.
        leaves[n], enters[n], marks[j] = leaving[j], entering[j], _is_active(leaving[j], entering[j], above)
        n += marks[j]
    return n


@kernel
def rows_with(answers, marks):
    """Number of rows that have one of the first `answers` answers; `marks` as for :func:`fill_forward`."""
    rows = np.int64(answers > 0)
    for j in range(len(marks)):
        answers -= marks[j]
        rows += answers > 0
    return rows


@kernel
def fill_forward(found, marks, result):
    """Write the answer of its last active row into every row.

    Parameters
    ----------
    found : ndarray, shape (9 + active rows,) or more
        Answer of row 0, and the answer after every active row; then room for eight.
    marks : ndarray of uint8, shape (n - 1,) or more
        Which rows but the first are active.
    result : ndarray, shape (n,)
        Receives the answers; must not overlap `found`.
    """
    if len(result) > 0:
        result[0] = found[0]
    others, answer = result[1:], np.int64(0)
    whole = len(others) // 8 * 8
    for j in range(0, whole, 8):
        answer = copy_by_marks(found, answer, marks, others, j)
    for j in range(whole, len(others)):
        answer += marks[j]
        others[j] = found[answer]
