"""Order statistics over boxes against scipy.ndimage and brute force."""

import itertools

import numpy as np
import pytest
from scipy import ndimage

import rollstat
from rollstat import thresholds, tiers


@pytest.mark.parametrize("mode", ["reflect", "nearest", "mirror", "wrap", "constant"])
@pytest.mark.parametrize("dtype", ["f8", "i8"])
def test_boxes_as_in_scipy(rng, mode, dtype):
    image = rng.integers(0, 200, (17, 23)).astype(dtype)
    for size in ((1, 1), (3, 3), (5, 1), (7, 21)):
        options = {"axis": (0, 1), "center": True, "mode": mode}
        options["fill_value"] = 7 if mode == "constant" else None
        median = rollstat.rolling_median(image, size, **options)
        np.testing.assert_array_equal(median, ndimage.median_filter(image, size, mode=mode, cval=7))
        low = rollstat.rolling_kth(image, 1, size, **options)
        np.testing.assert_array_equal(low, ndimage.rank_filter(image, 0, size, mode=mode, cval=7))
        assert low.dtype == image.dtype


def planted(rng, shape, dtype):
    """Return an image with ties, the extremes of its dtype and zeros of both signs."""
    image = rng.integers(0, 9, shape).astype(dtype)
    extremes = [-np.inf, np.inf, -0.0, 5e-324] if dtype == "f8" else [0, 255]
    places = rng.random(shape) < 0.2
    image[places] = rng.choice(extremes, int(places.sum()))
    return image


def assert_every_rank(image, size, ranks, extended):
    """Compare k-th smallest elements of centred boxes with sorted boxes over an `extended` image."""
    boxes = np.sort(
        np.lib.stride_tricks.sliding_window_view(extended, size).reshape(*image.shape, -1), axis=2
    )
    for k in ranks:
        found = rollstat.rolling_kth(image, k, size, axis=(0, 1), center=True, mode="reflect")
        np.testing.assert_array_equal(found, boxes[..., k - 1], err_msg=f"{size} {k}")
        assert found.dtype == image.dtype


@pytest.mark.parametrize("dtype", ["f8", "u1"])
def test_boxes_of_every_shape(rng, dtype):
    for size in itertools.product((1, 2, 3, 4, 5, 7, 9), repeat=2):
        image = planted(rng, (11, 14), dtype)
        pad = [(width // 2, (width - 1) // 2) for width in size]
        ranks = {1, size[0] * size[1] // 2 + 1, size[0] * size[1]}
        assert_every_rank(image, size, ranks, np.pad(image, pad, mode="symmetric"))


def test_compiled_networks(rng, monkeypatch):
    monkeypatch.setattr(tiers, "pays", lambda *_: True)
    monkeypatch.setattr(thresholds, "COMPILED_NETWORK_ROWS", 1)
    for shape in ((2, 70), (9, 64), (8, 130), (9, 63)):  # the last one is narrower than a vector
        image = planted(rng, shape, "u1")
        assert_every_rank(image, (3, 2), (3, 4), np.pad(image, ((1, 1), (1, 0)), mode="symmetric"))


@pytest.mark.parametrize("dtype", ["f8", "u1"])
@pytest.mark.parametrize(
    ("shape", "size"),  # several tiles, columns of more than a vector of bins, tiles longer than bytes hold
    [
        ((70, 81), (9, 8)),
        ((75, 40), (70, 3)),
        ((90, 80), (20, 66)),
        ((140, 35), (131, 2)),
        ((3, 300), (2, 200)),
    ],
)
def test_tiles(rng, dtype, shape, size):
    rows, columns = np.indices(shape)
    half = size[0] * size[1] // 2
    images = planted(rng, shape, dtype), np.ones(shape), (rows + columns) % 2, rng.permutation(rows.ravel())
    for image in images:
        image = image.reshape(shape).astype(dtype)
        pad = [(width // 2, (width - 1) // 2) for width in size]
        assert_every_rank(image, size, (1, half, half + 1, 2 * half), np.pad(image, pad, mode="symmetric"))


@pytest.mark.parametrize("mode", ["reflect", "nearest", "mirror", "wrap", "constant"])
def test_boxes_larger_than_the_image(rng, mode):
    for shape, size in itertools.product([(1, 1), (1, 5), (3, 2), (4, 40)], [(3, 3), (5, 13), (9, 1)]):
        image = planted(rng, shape, "u1")
        options = {
            "axis": (0, 1),
            "center": True,
            "mode": mode,
            "fill_value": 4 if mode == "constant" else None,
        }
        median = rollstat.rolling_kth(image, size[0] * size[1] // 2 + 1, size, **options)
        np.testing.assert_array_equal(median, ndimage.median_filter(image, size, mode=mode, cval=4))


def test_points_between_elements(rng):
    """Windows that are sorted row by row where a NaN is beside the boxes, and boxes without one."""
    image = rng.standard_normal((9, 80))
    with_nan = np.vstack([image, np.full((1, 80), np.nan)])
    for q, interpolation in (
        (0.5, "linear"),
        (0.3, "linear"),
        (0.3, "midpoint"),
        ([0.1, 0.15, 0.9], "linear"),
    ):
        options = {"q": q, "interpolation": interpolation, "axis": (0, 1)}
        for values, width in ((image, (2, 4)), (image.round(), (4, 5)), (image, (8, 9))):
            found = rollstat.rolling_quantile(values, width, **options)
            with_nan[:-1] = values
            apart = rollstat.rolling_quantile(with_nan, width, **options)[..., :-1, :]
            np.testing.assert_array_equal(found, apart)


def test_algorithm_of_a_box_is_explained():
    image = np.zeros((9, 9), np.uint8)
    for options, name in (
        ({"window": (3, 3), "mode": "reflect"}, "box_network"),
        ({"window": (3, 3)}, "box_network"),
        ({"window": (3, 3), "min_periods": 2}, "strips"),
        ({"window": (20, 20), "mode": "reflect"}, "box_bins"),
        ({"window": (2000, 2000), "mode": "reflect"}, "strips"),
    ):
        explanation = rollstat.explain(rollstat.rolling_median, image, axis=(0, 1), **options)
        assert explanation.algorithm == name


def test_points_between_large_integers():
    values = np.full((2, 3), 2**60)
    with pytest.warns(rollstat.PrecisionWarning):
        points = rollstat.rolling_median(values, (1, 2), axis=(0, 1), mode="valid")
    np.testing.assert_array_equal(points, np.full((2, 2), 2.0**60))


def brute(image, size, center, least, policy, q):
    """Return the q-quantile of every box cut at the edges, NaN if it has fewer than `least` observations."""
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
            result[place] = np.quantile(observed, q)
    return result


@pytest.mark.parametrize("size", [(2, 3), (9, 15)])
def test_missing_values_and_edges(rng, size):
    image = rng.random((9, 12))
    image[rng.random(image.shape) < 0.2] = np.nan
    for center, least, policy in itertools.product((False, True), (None, 0, 1, 3), ("omit", "propagate")):
        options = {"center": center, "min_periods": least, "nan_policy": policy}
        for q in (0.25, 0.5):
            result = rollstat.rolling_quantile(image, size, q, axis=(0, 1), **options)
            wanted = brute(image, size, center, np.prod(size) if least is None else least, policy, q)
            np.testing.assert_allclose(result, wanted, rtol=1e-14, err_msg=str(options))


def test_axes_of_a_volume(rng):
    volume = rng.random((4, 9, 11, 3))
    for axes in ((1, 2), (2, 0), (-1, 0, 1), (2,)):
        size = (3, 2, 4)[: len(axes)]
        result = rollstat.rolling_median(volume, size, axis=axes, mode="valid")
        over = [axis % 4 for axis in axes]
        windows = np.lib.stride_tricks.sliding_window_view(volume, size, axis=over)
        np.testing.assert_array_equal(result, np.median(windows, axis=tuple(range(4, 4 + len(axes)))))


def test_one_axis_of_a_series():
    box = {"axis": (0,), "center": True, "mode": "reflect"}
    assert rollstat.rolling_median([3.0, 2, 5, 1, 4], (3,), **box).tolist() == [3, 3, 2, 4, 4]
    assert rollstat.rolling_kth([3.0, 2, 5, 1, 4], -1, (3,), **box).tolist() == [3, 5, 5, 5, 4]


def test_large_integers_are_rounded_with_a_warning():
    image = np.full((2, 2), 2**60 + 1)
    with pytest.warns(rollstat.PrecisionWarning):
        rollstat.rolling_kth(image, 1, (1, 1), axis=(0, 1))
    exact = rollstat.rolling_kth(image, 1, (1, 1), axis=(0, 1), mode="valid")
    np.testing.assert_array_equal(exact, image)


def test_masked_results_in_out(rng):
    image = np.ma.MaskedArray(rng.random((4, 5)), rng.random((4, 5)) < 0.3)
    out = np.empty((4, 5))
    found = rollstat.rolling_median(image, (2, 2), axis=(0, 1), out=out)
    wanted = rollstat.rolling_median(image, (2, 2), axis=(0, 1))
    assert np.shares_memory(found.data, out)
    np.testing.assert_array_equal(found.filled(9), wanted.filled(9))


def test_several_quantiles_masks_and_out(rng):
    image = rng.random((6, 8))
    box = {"window": (3, 3), "axis": (0, 1), "mode": "valid"}
    both = rollstat.rolling_quantile(image, q=[0.25, 0.75], **box)
    for q, found in zip((0.25, 0.75), both):
        np.testing.assert_array_equal(found, rollstat.rolling_quantile(image, q=q, **box))
    out = np.empty_like(both)
    assert rollstat.rolling_quantile(image, q=[0.25, 0.75], out=out, **box) is out
    np.testing.assert_array_equal(out, both)
    masked = np.ma.MaskedArray(rng.integers(0, 9, (6, 8)), rng.random((6, 8)) < 0.3)
    result = rollstat.rolling_kth(masked, 2, (3, 3), axis=(0, 1), min_periods=4)
    floats = rollstat.rolling_kth(masked.astype(float).filled(np.nan), 2, (3, 3), axis=(0, 1), min_periods=4)
    assert result.dtype == masked.dtype
    np.testing.assert_array_equal(result.astype(float).filled(np.nan), floats)


def test_both_ways_agree(rng, monkeypatch):
    image = rng.standard_normal((12, 15))
    found = rollstat.rolling_median(image, (4, 4), axis=(0, 1), min_periods=1)
    monkeypatch.setattr(thresholds, "BOX_AS_ROWS", 1)
    np.testing.assert_array_equal(rollstat.rolling_median(image, (4, 4), axis=(0, 1), min_periods=1), found)


def test_small_images_and_errors():
    assert rollstat.rolling_median(np.empty((0, 4)), (2, 2), axis=(0, 1)).shape == (0, 4)
    assert np.isnan(rollstat.rolling_median(np.ones((2, 3)), (5, 5), axis=(0, 1))).all()
    assert (
        rollstat.rolling_median(np.ones((2, 3)), (5, 5), axis=(0, 1), min_periods=1).tolist() == [[1] * 3] * 2
    )
    with pytest.raises(ValueError, match=r"k must lie in 1\.\.4 or -4\.\.-1"):
        rollstat.rolling_kth(np.ones((3, 3)), 5, (2, 2), axis=(0, 1))
    with pytest.raises(ValueError, match="axis must be one axis for argkth"):
        rollstat.rolling_argkth(np.ones((3, 3)), 1, (2, 2), axis=(0, 1))
    with pytest.raises(ValueError, match="step does not apply to a box"):
        rollstat.rolling_median(np.ones((3, 3)), (2, 2), axis=(0, 1), step=2)
