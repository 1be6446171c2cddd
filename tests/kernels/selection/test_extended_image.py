"""Rows and parts of images beyond their edges, beside NumPy's padding."""

import numpy as np
import pytest

from rollstat.edges import extended_rows
from rollstat.kernels.selection.extended_image import Edges, copy_part, copy_row

PADDED = {"nearest": "edge", "reflect": "symmetric", "mirror": "reflect", "wrap": "wrap"}


@pytest.mark.parametrize("mode", [*PADDED, "constant"])
def test_parts_are_those_of_a_padded_image(mode, rng):
    image, before, after = rng.integers(0, 99, (6, 9)), (2, 3), (1, 4)
    row, column = (
        extended_rows(n, *each, mode if mode in PADDED else "cut")
        for n, each in zip(image.shape, zip(before, after))
    )
    width = list(zip(before, after))
    if mode in PADDED:
        padded = np.pad(image, width, mode=PADDED[mode])
    else:
        padded = np.pad(image, width, constant_values=-7)
    edges = Edges(row, column, before[1], -7)
    for top, left, rows, columns in ((0, 0, 9, 16), (1, 2, 3, 5), (7, 11, 2, 5), (3, 4, 1, 1)):
        out = np.empty((rows, columns), np.int64)
        copy_part(image, edges, top, left, out)
        np.testing.assert_array_equal(out, padded[top : top + rows, left : left + columns])
        copy_row(image, edges, top, left, out[0])
        np.testing.assert_array_equal(out[0], padded[top, left : left + columns])
