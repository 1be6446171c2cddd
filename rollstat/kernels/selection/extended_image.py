"""Parts of an image beyond its edges, without a copy of the whole image.

::

    columns   1  0 | 0  1  2  3 | 3  2        row 0 of the extended image   b a | a b c d | d c
    rows      0 0 1 1                                                             `-----' copied as one piece

State: none. Invariant: none. Cost: a copy, and a few instructions for each element beyond the edges.
"""

from typing import Any, NamedTuple

import numpy as np

from rollstat.compile.jit import kernel
from rollstat.kernels.loops import copy


class Edges(NamedTuple):
    """An image beyond its edges.

    Attributes
    ----------
    rows, columns : ndarray of int64
        The row and the column of the image at each place of the extended one; -1 if there is none.
    before : int
        Columns before the first one of the image.
    outside : scalar of the dtype of the image
        The value where there is none.
    """

    rows: np.ndarray
    columns: np.ndarray
    before: int
    outside: Any


@kernel
def copy_row(image, edges, row, first, out):
    """Write elements of a row of the extended image, from column `first` on, to all of `out`."""
    source, count, shift = edges.rows[row], len(out), edges.before - first
    begin = min(max(shift, 0), count) if source >= 0 else count
    end = min(max(shift + image.shape[1], begin), count)
    if begin < end:
        copy(image[source, begin - shift : end - shift], out[begin:end])
    for start, stop in ((0, begin), (end, count)):
        for i in range(start, stop):
            column = edges.columns[first + i]
            out[i] = image[source, column] if min(source, column) >= 0 else edges.outside


@kernel
def copy_part(image, edges, row, column, out):
    """Write the part of the extended image that begins at a row and a column to `out`."""
    for i in range(len(out)):
        copy_row(image, edges, row + i, column, out[i])
