"""Order statistics of boxes over an image: the pixels of a tile in bins of 64 neighbouring ranks.

::

    ranks    7 2 5 0       bins   1 0 1 0          bins of 4 ranks here, of 64 in the code
             4 1 6 3              1 0 1 0          bin 0   x   3 1 1 3    bin 1   x   0 2 2 0
               [-]                                         y   0 1 0 1            y   1 0 1 0

    box of 2 x 2, x in [1, 3), y in [0, 2)         pixels of bin 1 inside: 0 1 1 0, 2 pixels in bins below
                                                   so the third smallest has rank 5

A box moves to the right: a column of pixels enters and one leaves. Comparing vectors of their bins with the
bin of the cursor counts the pixels of the box in lower bins. Then the cursor moves from bin to bin. A box
holds the pixels of a bin whose coordinates lie inside: two comparisons of vectors whose bits are counted.

State: `Tile`, a cursor and a count. Invariant: the count is the number of pixels of the box in bins below the
cursor. Cost: for a box of h rows, about h / 16 vectors for the two columns, and four for each bin that the
cursor passes. It passes one or two if there are a few pixels of the box in a bin and neighbouring boxes have
similar order statistics, and at worst all bins of the tile. The tile is sorted by the caller.

Source: own construction. A cursor that follows the median as columns enter and leave is due to T. Huang,
G. Yang and G. Tang, A fast two-dimensional median filtering algorithm (1979),
doi:10.1109/TASSP.1979.1163188, over a histogram. No histogram is stored here.
"""

from typing import NamedTuple

import numpy as np

from rollstat.compile.jit import INDEX, kernel
from rollstat.compile.lowering import count_ones
from rollstat.compile.simd.masks import within_bits

BIN = 64
"""Ranks of a bin."""

MOST_PIXELS = BIN << 16
"""Most pixels of a tile: as many as bins have numbers."""

_ONE = np.uint64(1)


class Tile(NamedTuple):
    """The pixels of a part of an image, by rank.

    Attributes
    ----------
    x, y : ndarray of uint8 or uint16, shape (at least bins * BIN,)
        Column and row of the pixel of each rank. Beyond the last rank the column lies outside of all boxes.
    bins : ndarray of uint16, shape (at least columns * rows + BIN,)
        The bin of each pixel, column by column.
    """

    x: np.ndarray
    y: np.ndarray
    bins: np.ndarray


def create(rows, columns):
    """Return memory for tiles of up to this many rows and columns."""
    bins = -(-rows * columns // BIN)
    dtype = np.uint8 if max(rows, columns) < 2**8 else np.uint16
    x, y = np.empty((2, bins * BIN), dtype)
    return Tile(x, y, np.zeros((bins + 1) * BIN, np.uint16))


@kernel
def fill(pixels, columns, tile):
    """Fill a tile of this many columns; `pixels` has the number of each rank's pixel, row by row."""
    rows, inverse = len(pixels) // columns, 1.0 / columns
    for rank in range(len(pixels)):
        y = np.int64((pixels[rank] + 0.5) * inverse)
        x = pixels[rank] - y * columns
        tile.x[rank] = x
        tile.y[rank] = y
        tile.bins[(x * rows + y) & INDEX] = rank // BIN
    for rank in range(len(pixels), -(-len(pixels) // BIN) * BIN):
        tile.x[rank] = columns


@kernel(forceinline=True)
def _count_below(bins, first, rows, cursor):
    """Return how many of `rows` pixels of a column, from `first` on, are in bins below the cursor."""
    below = 0
    for i in range(0, rows, 64):
        bits = within_bits(bins, first + i, 0, cursor)
        if rows - i < 64:
            bits &= (_ONE << np.uint64(rows - i)) - _ONE
        below += count_ones(bits)
    return below


@kernel(forceinline=True)
def _members(tile, cursor, top, left, rows, columns):
    """Return a bit for each pixel of a bin: whether a box holds it."""
    inside = within_bits(tile.y, cursor * BIN, top, rows)
    return inside & within_bits(tile.x, cursor * BIN, left, columns)


@kernel(forceinline=True)
def _place(bits, index):
    """Return the place of the set bit that has `index` set bits below it; no branch depends on the bits."""
    found = 0
    for size in (32, 16, 8, 4, 2, 1):
        low = bits & ((_ONE << np.uint64(size)) - _ONE)
        count = count_ones(low)
        upper = index >= count
        index -= count if upper else 0
        bits = bits >> np.uint64(size) if upper else low
        found += size if upper else 0
    return found


@kernel
def select(pixels, tile, rows, columns, wanted, lower, upper):
    """Write the number of the `wanted`-th smallest pixel of each box, counted from 0, and of the next one.

    Parameters
    ----------
    pixels : ndarray of int64
        The number of the pixel of each rank.
    tile : Tile
    rows, columns : int
        Of a box.
    wanted : int
    lower, upper : ndarray of int64, of two dimensions
        An element for each box inside the tile. If `upper` is empty, the next one is not wanted.
    """
    height, first = len(lower) + rows - 1, 0
    for top in range(len(lower)):
        cursor, below = first, 0
        for x in range(columns):
            below += _count_below(tile.bins, x * height + top, rows, cursor)
        for left in range(lower.shape[1]):
            if left > 0:
                below -= _count_below(tile.bins, (left - 1) * height + top, rows, cursor)
                below += _count_below(tile.bins, (left + columns - 1) * height + top, rows, cursor)
            bits = _members(tile, cursor, top, left, rows, columns)
            while below > wanted:
                cursor -= 1
                bits = _members(tile, cursor, top, left, rows, columns)
                below -= count_ones(bits)
            count = count_ones(bits)
            while below + count <= wanted:
                below += count
                cursor += 1
                bits = _members(tile, cursor, top, left, rows, columns)
                count = count_ones(bits)
            index = wanted - below
            lower[top, left] = pixels[cursor * BIN + _place(bits, index)]
            if len(upper) > 0:
                following, index = cursor, index + 1
                while index >= count:
                    following, index = following + 1, index - count
                    bits = _members(tile, following, top, left, rows, columns)
                    count = count_ones(bits)
                upper[top, left] = pixels[following * BIN + _place(bits, index)]
            if left == 0:
                first = cursor
