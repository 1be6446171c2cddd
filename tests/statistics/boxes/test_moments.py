"""Sums, means and standard deviations of boxes, compared with NumPy over padded arrays and with SciPy."""

import numpy as np
import pytest
from numpy.lib.stride_tricks import sliding_window_view
from scipy import ndimage

import rollstat

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


def test_integers_stay_exact_and_timedeltas_are_rejected():
    image = np.array([[2**60, 1, 2], [3, 4, 5]])
    found = rollstat.rolling_sum(image, (2, 2), axis=(0, 1), mode="valid")
    assert found.dtype == np.int64
    assert found.tolist() == [[2**60 + 8, 12]]
    masked = np.ma.MaskedArray(image, image == 4)
    assert rollstat.rolling_sum(masked, (2, 2), axis=(0, 1), mode="valid", min_periods=3).tolist() == [
        [2**60 + 4, 8]
    ]
    with pytest.raises(TypeError, match="arr must hold"):
        rollstat.rolling_sum(image.astype("m8[s]"), (2, 2), axis=(0, 1))
