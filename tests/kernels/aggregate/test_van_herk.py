"""Windows of monotone bounds are combined in order, by at most three combinations an element."""

import numpy as np
import pytest

from rollstat.kernels.aggregate import static_tree
from rollstat.kernels.aggregate.van_herk import scan, scan_fixed
from tests.spans import STATE, counting_operator


def memory(rows, windows, width):
    """Values that are their rows, cells for suffixes, outputs, and flags."""
    values = np.arange(rows)
    values.flags.writeable = False
    cells = static_tree.create(STATE, max(rows, width))[0]
    out = np.full(windows, -1), np.full(windows, -1), np.zeros(windows, np.bool_)
    return values, cells, out, np.zeros(windows, np.bool_)


@pytest.mark.parametrize("width", [1, 2, 3, 7, 64, 200])
def test_windows_of_one_width(width):
    operator, counter = counting_operator()
    rows = 200
    values, cells, out, failed = memory(rows, rows - width + 1, width)
    scan_fixed(operator, values, width, cells, out, failed)
    np.testing.assert_array_equal(out[0], np.arange(rows - width + 1))
    np.testing.assert_array_equal(out[1], np.arange(width - 1, rows))
    assert out[2].all()
    assert counter[0] <= 3 * rows


def test_windows_of_any_monotone_bounds(rng):
    operator, counter = counting_operator()
    for _ in range(20):
        end = np.sort(rng.integers(0, 301, 90))
        start = np.minimum(np.sort(rng.integers(0, 301, 90)), end)
        values, cells, out, failed = memory(300, 90, 300)
        counter[:] = 0
        scan(operator, values, start, end, cells, out, failed)
        full = start < end
        np.testing.assert_array_equal(out[0][full], start[full])
        np.testing.assert_array_equal(out[1][full], end[full] - 1)
        assert out[2][full].all()
        assert (out[0][~full] == -1).all()
        assert counter[0] <= 2 * 300 + 90
