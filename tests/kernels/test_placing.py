"""Results are placed at the rows of their order."""

import numpy as np

from rollstat.kernels.placing import LINE, read_lines, write_lines


def test_results_come_to_the_rows_of_their_order(rng):
    order = rng.permutation(37)
    arrays = tuple(rng.standard_normal((LINE, 37)))
    wanted = np.empty((LINE, 37))
    wanted[:, order] = arrays
    lines = np.empty((37, LINE))
    write_lines(arrays, order, lines)
    read_lines(lines, arrays)
    np.testing.assert_array_equal(arrays, wanted)
