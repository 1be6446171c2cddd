"""Networks over lanes against sorting every window."""

import numpy as np
import pytest

from rollstat.kernels.selection_network import select_in_tiles
from rollstat.networks import selection_network


def select(values, m, low, high, tile, lanes):
    network = selection_network(m, ((low, high),), tile)
    vector_lanes = 64 // values.itemsize
    stride = lanes + (network.reach // vector_lanes + 2) * vector_lanes
    targets = np.zeros((high + 1 - low, len(values) - m + 1), values.dtype)
    select_in_tiles(
        values,
        network.instructions,
        network.results,
        network.reach,
        lanes,
        vector_lanes,
        np.zeros(network.rows * stride, values.dtype),
        stride,
        targets,
    )
    return targets


@pytest.mark.parametrize(("m", "tile"), [(1, 1), (2, 1), (3, 2), (5, 4), (12, 4), (25, 8), (40, 16)])
def test_against_sorted_windows(m, tile):
    rng = np.random.default_rng(m)
    for rows in (1, 2, tile, tile + 1, 8 * tile - 1, 8 * tile, 8 * tile + 1, 300):
        values = np.round(rng.standard_normal(rows + m - 1), 1)
        expected = np.sort(np.lib.stride_tricks.sliding_window_view(values, m), axis=1).T
        for low, high in ((0, 0), (0, min(1, m - 1)), (m // 2, m // 2), (m - 1, m - 1)):
            for lanes in (8, 24):
                np.testing.assert_array_equal(
                    select(values, m, low, high, tile, lanes), expected[low : high + 1]
                )


def test_infinities_and_small_numbers():
    pool = np.array([-np.inf, np.inf, 0.0, 5e-324, -5e-324, 1.7e308, -1.7e308])
    values = np.random.default_rng(0).choice(pool, 500)
    expected = np.sort(np.lib.stride_tricks.sliding_window_view(values, 9), axis=1).T
    np.testing.assert_array_equal(select(values, 9, 0, 8, 4, 16), expected)
