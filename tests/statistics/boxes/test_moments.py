"""Sums, means and standard deviations of boxes, compared with NumPy over padded arrays and with SciPy."""

import itertools

import numpy as np
import pytest
from numpy.lib.stride_tricks import sliding_window_view
from scipy import ndimage

import rollstat
from rollstat.edges import extended_rows

OF_BOXES = {
    "sum": np.nansum,
    "mean": np.nanmean,
    "std": lambda boxes, axis: np.nanstd(boxes, axis=axis, ddof=1),
}


@pytest.mark.parametrize("name", OF_BOXES)
@pytest.mark.parametrize("offset", [0.0, 2.0**30])
def test_boxes_cut_at_the_edges(name, offset, rng):
    volume = rng.standard_normal((5, 7, 6)) + offset
    volume[rng.random(volume.shape) < 0.1] = np.nan
    function = getattr(rollstat, f"rolling_{name}")
    found = function(volume, (3, 4), axis=(0, 2), center=True, min_periods=2)
    padded = np.pad(volume, ((1, 1), (0, 0), (2, 1)), constant_values=np.nan)
    boxes = sliding_window_view(padded, (3, 4), axis=(0, 2))
    wanted = OF_BOXES[name](boxes, axis=(-1, -2))
    tolerance = 1e-6 if offset else 1e-12  # NumPy loses digits
    np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=tolerance)


@pytest.mark.parametrize("mode", ["reflect", "nearest", "mirror", "wrap", "constant"])
def test_means_as_scipy(mode, rng):
    image = rng.standard_normal((9, 8))
    found = rollstat.rolling_mean(image, (3, 11), axis=(0, 1), center=True, mode=mode)
    np.testing.assert_allclose(found, ndimage.uniform_filter(image, (3, 11), mode=mode), atol=1e-12)


def test_constants_beyond_the_edges(rng):
    image = rng.standard_normal((9, 8))
    image[2, 3] = np.nan
    options = {"axis": (0, 1), "center": True, "min_periods": 1}
    padded = np.pad(image, ((1, 1), (5, 5)), constant_values=3.0)
    boxes = sliding_window_view(padded, (3, 11))
    for name, of_boxes in OF_BOXES.items():
        found = getattr(rollstat, f"rolling_{name}")(
            image, (3, 11), mode="constant", fill_value=3.0, **options
        )
        np.testing.assert_allclose(found, of_boxes(boxes, axis=(-1, -2)), rtol=1e-12)


def test_integers_stay_exact_and_timedeltas_are_rejected():
    image = np.array([[2**60, 1, 2], [3, 4, 5]])
    found = rollstat.rolling_sum(image, (2, 2), axis=(0, 1), mode="valid")
    assert found.dtype == np.int64
    assert found.tolist() == [[2**60 + 8, 12]]
    small = rollstat.rolling_sum(image.astype(np.int8), (2, 2), axis=(0, 1), mode="valid")
    assert (small.dtype, small.tolist()) == (np.int64, [[8, 12]])
    masked = np.ma.MaskedArray(image, image == 4)
    assert rollstat.rolling_sum(masked, (2, 2), axis=(0, 1), mode="valid", min_periods=3).tolist() == [
        [2**60 + 4, 8]
    ]
    with pytest.raises(TypeError, match="arr must hold"):
        rollstat.rolling_sum(image.astype("m8[s]"), (2, 2), axis=(0, 1))


@pytest.mark.parametrize(("shape", "axes"), [((70, 45), (0, 1)), ((6, 5, 40), (2, 0)), ((3, 90, 2), (1,))])
def test_windows_of_any_width_equal_whole_sums_over_extended_rows(shape, axes, rng):
    """More columns and rows than are computed at once, and windows beyond the array."""
    values = rng.integers(-50, 50, shape).astype(float)
    values.flags.writeable = False
    for width, mode in itertools.product((1, 2, 7, 33, 100), ("reflect", "nearest", "wrap", "constant")):
        wanted = values + 7.0  # so that the constant is 0
        for axis in axes:
            rows = extended_rows(shape[axis], width // 2, (width - 1) // 2, mode)
            wanted = np.moveaxis(wanted, axis, -1)[..., rows.clip(0)] * (rows >= 0)
            wanted = np.moveaxis(sliding_window_view(wanted, width, axis=-1).sum(-1), -1, axis)
        size = (width,) * len(axes)
        options = {"axis": axes, "center": True, "mode": mode}
        np.testing.assert_array_equal(rollstat.rolling_sum(values + 7.0, size, **options), wanted)
        if width > 1:
            constant = rollstat.rolling_std(np.full(shape, 0.1), size, **options | {"mode": "reflect"})
            np.testing.assert_array_equal(constant, 0.0)


def test_sums_beyond_the_range_of_floats_and_infinite_values():
    image = np.array([[1e308, 1e308, 0.0], [1e308, -1e308, 1.0], [np.inf, 0.0, 1.0]])
    options = {"axis": (0, 1), "mode": "valid"}
    assert rollstat.rolling_mean(image, (2, 2), **options).tolist() == [[5e307, 2.5e-1], [np.inf, -2.5e307]]
    found = rollstat.rolling_std(image[:2], (2, 2), 0, **options)
    np.testing.assert_allclose(found, [[np.sqrt(0.75) * 1e308, np.sqrt(0.5) * 1e308]], rtol=1e-14)
