"""Slides over predictable rows: which rows are passed sixteen at a time."""

import numpy as np

from rollstat.kernels.selection.slide_predictable import all_outside


def test_sixteen_rows_on_one_side_each():
    low, high = np.uint32(10), np.uint32(20)
    leaving, entering = np.array([[3, 30] * 8, [9, 21] * 8], np.uint32)
    assert all_outside(leaving, entering, 0, low, high)
    for row in range(16):
        for code in (10, 15, 20, 30 if row % 2 == 0 else 3):
            for changed in (leaving, entering):
                kept, changed[row] = changed[row], code
                assert not all_outside(leaving, entering, 0, low, high)
                changed[row] = kept
