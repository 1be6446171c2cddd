"""Order statistics of boxes of a tile, beside sorted boxes."""

import numpy as np
import pytest

from rollstat.kernels.selection import rank_bins


@pytest.mark.parametrize("shape", [(7, 9), (40, 300), (65, 66)])
@pytest.mark.parametrize("box", [(1, 1), (3, 5), (7, 9)])
def test_boxes_of_a_tile(shape, box, rng):
    values = rng.integers(0, 50, shape)
    pixels = np.argsort(values, axis=None, kind="stable")
    tile = rank_bins.create(*shape)
    rank_bins.fill(pixels, shape[1], tile)
    boxes = np.lib.stride_tricks.sliding_window_view(values, box)
    wanted = np.sort(boxes.reshape(*boxes.shape[:2], -1), axis=2)
    for rank in {0, box[0] * box[1] // 2, max(box[0] * box[1] - 2, 0)}:
        lower, upper = np.empty((2, *wanted.shape[:2]), np.int64)
        if rank + 1 == box[0] * box[1]:
            upper = upper[:0]
        rank_bins.select(pixels, tile, *box, rank, lower, upper)
        np.testing.assert_array_equal(values.ravel()[lower], wanted[..., rank])
        if len(upper):
            np.testing.assert_array_equal(values.ravel()[upper], wanted[..., rank + 1])


def test_no_pixel_beyond_the_last_rank_is_counted():
    tile = rank_bins.create(3, 5)
    rank_bins.fill(np.arange(15)[::-1].copy(), 5, tile)
    assert (tile.x[15:] == 5).all()
