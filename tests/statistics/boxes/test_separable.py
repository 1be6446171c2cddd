"""Boxes of images and volumes against scipy.ndimage and against brute force."""

import itertools

import numpy as np
import pytest
from scipy import ndimage

from rollstat.edges import extended_rows
from rollstat.kernels.comparator import Greatest, Least, worst
from rollstat.statistics.boxes.separable import box_extremum

FILTERS = [(Least(), ndimage.minimum_filter), (Greatest(), ndimage.maximum_filter)]

MODES = ("cut", "reflect", "nearest", "mirror", "wrap", "constant")


def assert_like_scipy(values, size, axes, mode, filters=FILTERS, constant=3):
    before = [width // 2 for width in size]
    after = [width - 1 - width // 2 for width in size]
    for order, peer in filters:
        found = box_extremum(order, values, axes, before, after, mode, constant)
        wanted = peer(values, size=size, axes=axes, mode=mode, cval=constant)
        np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("mode", [mode for mode in MODES if mode != "cut"])
def test_modes(mode, rng):
    image = rng.integers(-50, 50, (13, 37)).astype(np.float64)
    for size in [(1, 1), (2, 3), (3, 2), (5, 5), (13, 1), (1, 37), (20, 50), (1, 100)]:
        assert_like_scipy(image, size, (0, 1), mode)
    assert_like_scipy(image, (4,), (0,), mode)
    assert_like_scipy(image, (4,), (1,), mode)
    assert_like_scipy(np.array([[5.0]]), (3, 4), (0, 1), mode)


@pytest.mark.parametrize("shape", [(70, 200), (6, 7, 30), (9, 8, 3), (40, 129, 1), (2, 3, 4, 70)])
def test_shapes(shape, rng):
    values = rng.integers(-120, 120, shape).astype(np.int8)
    before = values.copy()
    for count in range(1, len(shape) + 1):
        for axes in itertools.combinations(range(len(shape)), count):
            assert_like_scipy(values, tuple(3 + 2 * axis for axis in axes), axes, "reflect")
    np.testing.assert_array_equal(values, before)


def test_tiles_of_columns(rng):
    """More columns than a tile holds, and a last tile that overlaps the one before."""
    values = rng.standard_normal((301, 203))
    assert_like_scipy(values, (290, 3), (0, 1), "nearest", FILTERS[:1])


def test_boxes_cut_at_the_edges_without_missing_values(rng):
    values = rng.standard_normal((12, 20))
    values[rng.random(values.shape) < 0.3] = np.nan
    for before, after in [((0, 0), (0, 2)), ((2, 1), (0, 3)), ((30, 0), (30, 0))]:
        for order, extremum in ((Least(), min), (Greatest(), max)):
            none = worst(order, values.dtype)
            found = box_extremum(order, values, (0, 1), before, after, "cut", none)
            for i, j in np.ndindex(values.shape):
                box = values[
                    max(i - before[0], 0) : i + after[0] + 1, max(j - before[1], 0) : j + after[1] + 1
                ].ravel()
                seen = box[~np.isnan(box)]
                assert found[i, j] == (extremum(seen) if len(seen) else none)


def test_unsigned_integers_beyond_float64(rng):
    values = np.uint64(2**64 - 1) - rng.integers(0, 9, (20, 20)).astype(np.uint64)
    found = box_extremum(Least(), values, (0, 1), (1, 1), (1, 1), "cut", 2**64 - 1)
    wanted = np.lib.stride_tricks.sliding_window_view(values, (3, 3)).min((2, 3))
    np.testing.assert_array_equal(found[1:-1, 1:-1], wanted)


def test_nothing_to_do():
    empty = np.empty((0, 4))
    assert box_extremum(Least(), empty, (0, 1), (1, 1), (1, 1), "cut", np.inf).shape == (0, 4)
    one = np.array([3.0, 1.0])
    np.testing.assert_array_equal(box_extremum(Least(), one, (), (), (), "cut", np.inf), one)


def test_extended_rows():
    assert extended_rows(3, 4, 5, "reflect").tolist() == [2, 2, 1, 0, 0, 1, 2, 2, 1, 0, 0, 1]
    assert extended_rows(3, 4, 5, "mirror").tolist() == [0, 1, 2, 1, 0, 1, 2, 1, 0, 1, 2, 1]
    assert extended_rows(3, 2, 2, "wrap").tolist() == [1, 2, 0, 1, 2, 0, 1]
    assert extended_rows(3, 2, 2, "nearest").tolist() == [0, 0, 0, 1, 2, 2, 2]
    assert extended_rows(3, 2, 1, "cut").tolist() == [-1, -1, 0, 1, 2, -1]
    assert extended_rows(3, 0, 0, "constant").tolist() == [0, 1, 2]
