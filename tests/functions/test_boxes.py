"""Extrema over boxes against scipy.ndimage and brute force; the envelope against tslearn."""

import itertools

import numpy as np
import pytest
from scipy import ndimage
from tslearn.metrics import lb_envelope

import rollstat

MODES = ("reflect", "nearest", "mirror", "wrap", "constant")


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("dtype", ["f8", "u1"])
def test_boxes_as_in_scipy(rng, mode, dtype):
    image = rng.integers(0, 200, (17, 23)).astype(dtype)
    for size in ((1, 1), (2, 3), (5, 5), (9, 30)):
        options = {
            "axis": (0, 1),
            "center": True,
            "mode": mode,
            "fill_value": 7 if mode == "constant" else None,
        }
        low, high = rollstat.rolling_minmax(image, size, **options)
        np.testing.assert_array_equal(low, ndimage.minimum_filter(image, size, mode=mode, cval=7))
        np.testing.assert_array_equal(high, ndimage.maximum_filter(image, size, mode=mode, cval=7))
        assert low.dtype == image.dtype
        np.testing.assert_array_equal(rollstat.rolling_min(image, size, **options), low)


def brute(image, size, center, least, policy):
    """Return the minimum of every box cut at the edges, NaN if it has fewer than `least` observations."""
    result = np.full(image.shape, np.nan)
    after = [(width - 1) // 2 if center else 0 for width in size]
    for place in np.ndindex(image.shape):
        box = image[
            tuple(
                slice(max(i - (width - 1 - behind), 0), i + behind + 1)
                for i, width, behind in zip(place, size, after)
            )
        ]
        observed = box[~np.isnan(box)]
        if len(observed) >= max(least, 1) and not (policy == "propagate" and len(observed) < box.size):
            result[place] = observed.min()
    return result


def test_missing_values_and_edges(rng):
    image = rng.random((9, 12))
    image[rng.random(image.shape) < 0.2] = np.nan
    for center, least, policy in itertools.product((False, True), (None, 0, 1, 3), ("omit", "propagate")):
        options = {"center": center, "min_periods": least, "nan_policy": policy}
        result = rollstat.rolling_min(image, (2, 3), axis=(0, 1), **options)
        wanted = brute(image, (2, 3), center, 6 if least is None else least, policy)
        np.testing.assert_array_equal(result, wanted, str(options))
    with pytest.raises(ValueError, match="nan_policy='raise'"):
        rollstat.rolling_min(image, (2, 3), axis=(0, 1), nan_policy="raise")


def test_volumes_and_valid_boxes(rng):
    volume = rng.integers(-9, 9, (5, 6, 7))
    result = rollstat.rolling_max(volume, (2, 3), axis=(0, -1), mode="valid")
    wanted = np.lib.stride_tricks.sliding_window_view(volume, (2, 3), (0, 2)).max(axis=(-1, -2))
    np.testing.assert_array_equal(result, wanted)
    assert result.dtype == volume.dtype
    out = np.zeros_like(result)
    assert rollstat.rolling_max(volume, (2, 3), axis=(0, 2), mode="valid", out=out) is out
    np.testing.assert_array_equal(out, wanted)
    days = volume.astype("M8[D]")
    np.testing.assert_array_equal(
        rollstat.rolling_min(days, (2, 2), axis=(0, 1), mode="nearest").view(np.int64),
        rollstat.rolling_min(volume, (2, 2), axis=(0, 1), mode="nearest"),
    )


@pytest.mark.parametrize(
    ("window", "options", "message"),
    [
        (3, {"axis": (0, 1)}, "window must be a tuple"),
        ((3,), {"axis": (0, 1)}, "window must be a tuple"),
        ((3, 0), {"axis": (0, 1)}, "window must be an integer"),
        ((3, 3), {"axis": (0, 2)}, "axis must hold different axes"),
        ((3, 3), {"axis": (1, -1)}, "axis must hold different axes"),
        ((3, 3), {"axis": (0, 1), "closed": "left"}, "closed does not apply"),
        ((3, 3), {"axis": (0, 1), "mode": "mirrored"}, "mode must be one of"),
        ((3, 3), {"axis": (0, 1), "min_periods": 10}, "min_periods must be at most"),
        ((3, 3), {"axis": (0, 1), "out": np.zeros((2, 2))}, "out must have shape"),
    ],
)
def test_messages_name_the_bad_argument(window, options, message):
    with pytest.raises((ValueError, TypeError), match=message):
        rollstat.rolling_min(np.zeros((4, 5)), window, **options)
    with pytest.raises(ValueError, match="axis must be one axis"):
        rollstat.rolling_argmin(np.zeros((4, 5)), (3, 3), axis=(0, 1))


def test_envelope_as_in_tslearn(rng):
    values = rng.standard_normal(200).cumsum()
    for radius in (0, 1, 7, 300):
        lower, upper = rollstat.lower_upper_envelope(values, radius)
        wanted = lb_envelope(values, radius=radius)
        np.testing.assert_array_equal(lower, np.ravel(wanted[0]))
        np.testing.assert_array_equal(upper, np.ravel(wanted[1]))
    values[50:80] = np.nan
    lower, upper = rollstat.lower_upper_envelope(values, 3)
    assert np.flatnonzero(np.isnan(lower)).tolist() == np.flatnonzero(np.isnan(upper)).tolist()
    assert np.flatnonzero(np.isnan(lower)).tolist() == list(range(53, 77))
    for bad in (np.zeros((2, 2)), np.array(["2024"], "M8[D]")):
        with pytest.raises(ValueError, match="1-d series"):
            rollstat.lower_upper_envelope(bad, 1)
    with pytest.raises(ValueError, match="radius must be"):
        rollstat.lower_upper_envelope(values, -1)
