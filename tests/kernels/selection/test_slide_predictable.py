"""Slides over predictable rows: which rows are passed sixteen at a time."""

import numpy as np
import pytest

from rollstat.kernels.selection.slide_predictable import all_outside, is_predictable


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


@pytest.mark.parametrize(
    ("leaving", "entering", "expected"),
    [
        ([5], [6], True),  # no row moves the order statistic
        ([5], [15], True),  # all rows move it up
        ([5] * 20 + [15] * 20, [15] * 20 + [5] * 20, True),  # up for a time, then down
        ([5, 15], [15, 5], False),  # up and down in turn
        ([5, 5], [15, 6], False),  # every second row
    ],
)
def test_rows_that_move_the_order_statistic_one_way_are_predictable(leaving, entering, expected):
    codes = (np.resize(np.array(side, np.uint32), 300) for side in (leaving, entering))
    assert is_predictable(*codes, np.uint64(10)) == expected
