"""Extrema over boxes against scipy.ndimage and brute force; the envelope against tslearn."""

import gc
import itertools
import weakref

import numpy as np
import pytest
from scipy import ndimage
from tslearn.metrics import lb_envelope

import rollstat
from rollstat.plan import forget_plans, kept_plans
from tests.test_contract import is_missing

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
        (3.5, {"axis": (0, 1)}, "window must be a tuple"),
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
    with pytest.raises(ValueError, match="axis must be one axis for ptp"):
        rollstat.rolling_ptp(np.zeros((4, 5)), (3, 3), axis=(0, 1))
    for name, value in (("relative_to", "oldest"), ("mode", "nearest")):
        with pytest.raises(ValueError, match=f"{name} must be .*'{value}'"):
            rollstat.rolling_argmin(np.zeros((4, 5)), (3, 3), axis=(0, 1), **{name: value})


def place_by_brute_force(values, observed, axes, size, center, least, find, last):
    """Return where the extremum of every box is in the flattened axes, -1 with too few observations."""
    result = np.full(values.shape, -1)
    lengths = [values.shape[axis] for axis in axes]
    for place in np.ndindex(values.shape):
        box = [range(i, i + 1) for i in place]
        for axis, width in zip(axes, size):
            after = (width - 1) // 2 if center else 0
            low, high = place[axis] - width + 1 + after, place[axis] + after + 1
            box[axis] = range(max(low, 0), min(high, values.shape[axis]))
        cells = [cell for cell in itertools.product(*box) if observed[cell]]
        if len(cells) >= max(least, 1):
            best = find(values[cell] for cell in cells)
            places = [
                np.ravel_multi_index([cell[axis] for axis in axes], lengths)
                for cell in cells
                if values[cell] == best
            ]
            result[place] = max(places) if last else min(places)
    return result


@pytest.mark.parametrize("dtype", ["f8", "i8", "u1", "?", "M8[s]"])
@pytest.mark.parametrize(
    ("shape", "axes", "size"),
    [((7, 9), (0, 1), (2, 3)), ((7, 9), (1, 0), (4, 20)), ((3, 5, 4), (0, -1), (2, 3)), ((6, 5), (1,), (3,))],
)
def test_positions_in_boxes(rng, dtype, shape, axes, size):
    values = rng.integers(0, 2 if dtype == "?" else 5, shape).astype("i8").astype(dtype)
    mask = rng.random(shape) < 0.4
    gaps = values.copy()
    if dtype == "f8":
        gaps[mask], values[0, 0] = np.nan, np.inf
    for array, observed in (
        (values, np.ones(shape, bool)),
        (np.ma.MaskedArray(values, mask), ~mask),
        (gaps, ~np.isnan(gaps) if dtype == "f8" else np.ones(shape, bool)),
    ):
        for center, least in itertools.product((False, True), (1, 3, None)):
            required = int(np.prod(size)) if least is None else least
            options = {"axis": axes, "center": center, "min_periods": least}
            brute = [
                place_by_brute_force(
                    np.asarray(array), observed, axes, size, center, required, find, name == "last"
                )
                for find in (min, max)
                for name in ("first", "last")
            ]
            functions = rollstat.rolling_argmin, rollstat.rolling_argmax
            each = [f(array, size, ties=t, **options) for f in functions for t in ("first", "last")]
            both = [
                *rollstat.rolling_argminmax(array, size, **options),
                *rollstat.rolling_argminmax(array, size, "opposite", **options),
            ]
            wanted = [*brute, brute[0], brute[2], brute[0], brute[3]]
            for found, places in zip([*each, *both], wanted, strict=True):
                assert found.dtype == np.int64
                np.testing.assert_array_equal(np.ma.getdata(found), places)
                if isinstance(array, np.ma.MaskedArray):
                    np.testing.assert_array_equal(np.ma.getmaskarray(found), places < 0)


def test_positions_of_valid_boxes_and_of_an_image(rng):
    image = rng.random((40, 50))
    found = rollstat.rolling_argmin(image, (5, 7), axis=(0, 1), mode="valid")
    boxes = np.lib.stride_tricks.sliding_window_view(image, (5, 7))
    np.testing.assert_array_equal(image[np.unravel_index(found, image.shape)], boxes.min(axis=(-1, -2)))
    out = np.empty(image.shape, np.int64)
    assert rollstat.rolling_argmax(image, (5, 7), axis=(0, 1), fill_value=-7, out=out) is out
    assert (out[:4] == -7).all()
    assert (out[4:, :6] == -7).all()
    np.testing.assert_array_equal(image.ravel()[out[4:, 6:]], boxes.max(axis=(-1, -2)))
    plan = rollstat.explain(rollstat.rolling_argmin, image, (5, 7), axis=(0, 1))
    assert "separable" in str(plan)
    assert rollstat.rolling_argmin(np.empty((0, 4)), (2, 2), axis=(0, 1)).shape == (0, 4)
    with pytest.raises(ValueError, match="nan_policy='raise'"):
        rollstat.rolling_argmin(np.full((3, 3), np.nan), (2, 2), axis=(0, 1), nan_policy="raise")


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


def masked_brute(values, observed, size, center, least):
    """Return the minimum and whether it is missing, of every box cut at the edges."""
    result, missing = np.zeros(values.shape, values.dtype), np.ones(values.shape, bool)
    after = [(width - 1) // 2 if center else 0 for width in size]
    for place in np.ndindex(values.shape):
        box = tuple(slice(max(i - w + 1 + b, 0), i + b + 1) for i, w, b in zip(place, size, after))
        seen = values[box][observed[box]]
        if len(seen) >= max(least, 1):
            result[place], missing[place] = seen.min(), False
    return result, missing


@pytest.mark.parametrize("dtype", ["i8", "u1", "f8", "?", "M8[3s]", "m8[h]"])
def test_boxes_of_masked_arrays(rng, dtype):
    values = rng.integers(0, 2 if dtype == "?" else 200, (7, 9)).astype("i8").astype(dtype)
    mask = rng.random(values.shape) < 0.4
    masked = np.ma.MaskedArray(values, mask)
    for center, least in itertools.product((False, True), (0, 1, 3, None)):
        options = {"axis": (0, 1), "center": center, "min_periods": least}
        result = rollstat.rolling_min(masked, (2, 3), **options)
        wanted, missing = masked_brute(values, ~mask, (2, 3), center, 6 if least is None else least)
        assert result.dtype == values.dtype
        np.testing.assert_array_equal(np.ma.getmaskarray(result), missing)
        np.testing.assert_array_equal(result.data[~missing], wanted[~missing])
        valid = rollstat.rolling_min(masked, (2, 3), mode="valid", **options)
        kept = (slice(1, None), slice(1, -1) if center else slice(2, None))
        np.testing.assert_array_equal(np.ma.getmaskarray(valid), missing[kept])
        np.testing.assert_array_equal(valid.data[~missing[kept]], wanted[kept][~missing[kept]])
    with pytest.raises(ValueError, match="no missing value with nan_policy='raise'"):
        rollstat.rolling_min(masked, (2, 3), axis=(0, 1), nan_policy="raise")
    filled = rollstat.rolling_max(np.ma.MaskedArray([[1, 2]], [[1, 1]]), (1, 2), axis=(0, 1), fill_value=9)
    assert filled.data.tolist() == [[9, 9]]
    example = np.ma.array([[100, 1], [100, 100]], mask=[[0, 1], [0, 0]])
    assert rollstat.rolling_min(example, (2, 2), axis=(0, 1), mode="valid", min_periods=1).tolist() == [[100]]
    assert rollstat.rolling_min(example, (2, 2), axis=(0, 1), mode="valid").tolist() == [[None]]


def test_a_missing_value_concerns_the_boxes_that_hold_it():
    image = np.ones((5, 5))
    image[4, 4] = np.nan
    box = {"window": (3, 3), "axis": (0, 1), "center": True, "mode": "constant"}
    wanted = np.ones((5, 5))
    wanted[3:, 3:] = np.nan
    np.testing.assert_array_equal(rollstat.rolling_max(image, **box), wanted)
    wanted = [[0, 1, 1, 1, 0], [1] * 5, [1] * 5, [1, 1, 1, np.nan, np.nan], [0, 1, 1, np.nan, np.nan]]
    np.testing.assert_array_equal(rollstat.rolling_median(image, **box), wanted)


@pytest.mark.parametrize("dtype", ["f4", "m8[s]", "M8[s]"])
def test_a_missing_result_is_missing_beside_constant_edges(dtype):
    values = np.array([[3, 5], [4, 6]]).astype(dtype)
    values[0, 0] = "NaT" if values.dtype.kind in "mM" else np.nan
    box = {"window": (2, 2), "axis": (0, 1), "mode": "constant"}
    if values.dtype.kind == "M":
        for function in (rollstat.rolling_max, rollstat.rolling_median):
            with pytest.raises(ValueError, match="fill_value must be a time with mode='constant'; got None"):
                function(values, **box)
        return
    for function in (rollstat.rolling_max, rollstat.rolling_median):
        assert is_missing(function(values, **box)).all()
        assert is_missing(function(values, **box, nan_policy="propagate", min_periods=1)).all()


def test_a_missing_fill_value_ends_boxes_at_the_edges():
    image = np.arange(12.0).reshape(3, 4)
    box = {"window": (2, 3), "axis": (0, 1), "min_periods": 1}
    days = image.astype("M8[D]")
    for function in (rollstat.rolling_max, rollstat.rolling_median):
        for values, none in ((image, np.nan), (days, np.datetime64("NaT"))):
            found = function(values, **box, mode="constant", fill_value=none)
            np.testing.assert_array_equal(found, function(values, **box))
            few = {**box, "min_periods": None}
            found = function(values, **few, mode="constant", fill_value=none)
            np.testing.assert_array_equal(found, function(values, **few))
    whole = image.astype(int)
    found = rollstat.rolling_median(whole, **box, mode="constant", fill_value=np.nan)
    np.testing.assert_array_equal(found, rollstat.rolling_median(whole, **box))
    with pytest.raises(ValueError, match="fill_value must be exactly representable in int64"):
        rollstat.rolling_max(whole, **box, mode="constant", fill_value=np.nan)


def test_boxes_of_times_with_nat():
    days = np.array([["2024-01-05", "NaT"], ["2024-01-02", "NaT"]], "M8[D]")
    result = rollstat.rolling_min(days, (2, 1), axis=(0, 1), min_periods=1)
    assert result.astype(str).tolist() == [["2024-01-05", "NaT"], ["2024-01-02", "NaT"]]


def test_boxes_much_longer_than_the_array(rng):
    image = rng.integers(0, 200, (5, 7)).astype(float)
    image[1, 2] = np.nan
    for mode in (*MODES, "same"):
        for size in ((23, 3), (4, 40), (31, 33)):
            for center in (False, True):
                options = {"axis": (0, 1), "mode": mode, "center": center, "min_periods": 1}
                if mode == "constant":
                    options["fill_value"] = 7.0
                result = rollstat.rolling_max(image, size, **options)
                origin = (0, 0) if center else tuple((width - 1) // 2 for width in size)
                if mode == "same":
                    padded = {"mode": "constant", "cval": -np.inf}
                else:
                    padded = {"mode": mode, "cval": 7.0}
                filled = np.where(np.isnan(image), -np.inf, image)
                wanted = ndimage.maximum_filter(filled, size, origin=origin, **padded)
                np.testing.assert_array_equal(result, np.where(np.isinf(wanted), np.nan, wanted))
    wide = rollstat.rolling_min(np.arange(6).reshape(2, 3), (2**40, 3), axis=(0, 1), min_periods=1)
    assert wide.tolist() == [[0, 0, 0], [0, 0, 0]]
    for mode in MODES:
        for size in ((23, 3), (4, 40), (12, 15)):
            low = np.full(image.shape, np.nan)
            extended = [(width - 1 - (width - 1) // 2, (width - 1) // 2) for width in size]
            pad = {"reflect": "symmetric", "nearest": "edge", "mirror": "reflect"}.get(mode, mode)
            cells = np.pad(
                ~np.isnan(image), extended, pad, **({"constant_values": 1} if mode == "constant" else {})
            )
            windows = np.lib.stride_tricks.sliding_window_view(cells, size).sum(axis=(2, 3))
            low = rollstat.rolling_min(
                image, size, axis=(0, 1), mode=mode, center=True, min_periods=size[0] * size[1] - 3
            )
            np.testing.assert_array_equal(np.isnan(low), windows < size[0] * size[1] - 3)
    assert rollstat.rolling_min(
        np.zeros((0, 4)), (2, 2), axis=(0, 1), mode="reflect", min_periods=1
    ).shape == (0, 4)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"foo": 1}, "unexpected keyword argument 'foo'"),
        ({"center": "yes"}, "center must be True or False"),
        ({"step": True}, "step must be an integer"),
        ({"step": 2}, "step does not apply"),
        ({"times": np.arange(4)}, "times does not apply"),
        ({"algorithm": "wedge"}, "algorithm does not apply"),
        ({"algorithm": 1}, "algorithm must be a name"),
        ({"fill_value": 1.5}, "fill_value must be exact"),
        ({"fill_value": 1.5, "mode": "constant"}, "fill_value must be exact"),
        ({"out": 5}, "out must be a writable ndarray"),
        ({"out": [np.zeros((4, 5))] * 2}, "out must hold one array"),
        ({"min_periods": -1}, "min_periods must be"),
        ({"threads": 0}, "threads must be"),
    ],
)
def test_boxes_check_their_options_as_other_calls(options, message):
    with pytest.raises((ValueError, TypeError), match=message):
        rollstat.rolling_min(np.zeros((4, 5), np.uint8), (2, 2), axis=(0, 1), **options)
    with pytest.raises(ValueError, match="fewer than 2\\*\\*63"):
        rollstat.rolling_min(np.zeros((4, 5)), (2**40, 2**40), axis=(0, 1))


def test_boxes_write_no_output_before_all_are_checked():
    first, second = np.full((4, 5), 8.0), np.zeros((4, 4))
    with pytest.raises(ValueError, match="out must have shape"):
        rollstat.rolling_minmax(np.zeros((4, 5)), (2, 2), axis=(0, 1), out=(first, second))
    with pytest.raises(ValueError, match="share no memory"):
        rollstat.rolling_minmax(np.zeros((4, 5)), (2, 2), axis=(0, 1), out=(first, first))
    assert (first == 8).all()
    with pytest.warns(rollstat.PrecisionWarning):
        rollstat.rolling_min(np.full((2, 2), 2**60 + 1), (1, 1), axis=(0, 1))


@pytest.mark.parametrize("modes", [("reflect", "wrap"), ("nearest", "constant"), ("mirror", "mirror")])
def test_a_number_for_all_axes_and_a_mode_for_each(rng, modes):
    image, box = rng.integers(0, 9, (7, 9)), {"axis": [0, 1], "center": True, "mode": modes}
    wanted = ndimage.maximum_filter(image, 3, mode=modes)
    for window in (3, (3, 3)):
        found = rollstat.rolling_max(image, window, **box)
        np.testing.assert_array_equal(found, wanted)
        assert found.dtype == image.dtype
    padded = image
    for axis, mode in enumerate(modes):
        names = {"reflect": "symmetric", "mirror": "reflect", "nearest": "edge"}
        padded = np.pad(padded, [(int(axis == 0),) * 2, (int(axis == 1),) * 2], names.get(mode, mode))
    cells = np.lib.stride_tricks.sliding_window_view(padded, (3, 3)).reshape(7, 9, 9)
    np.testing.assert_array_equal(rollstat.rolling_median(image, 3, **box), np.median(cells, axis=-1))
    np.testing.assert_allclose(rollstat.rolling_mean(image, 3, **box), cells.mean(axis=-1), rtol=1e-14)
    missing = np.where(image == 3, np.nan, image)
    found = rollstat.rolling_max(missing, 3, min_periods=1, **box)
    np.testing.assert_array_equal(found, np.where(cells == 3, -1, cells).max(axis=-1))


def test_center_for_each_axis(rng):
    image = rng.integers(0, 9, (7, 9))
    found = rollstat.rolling_max(image, 3, axis=(0, 1), center=(True, False), min_periods=1)
    wanted = rollstat.rolling_max(
        rollstat.rolling_max(image, 3, axis=0, center=True, min_periods=1), 3, axis=1, min_periods=1
    )
    np.testing.assert_array_equal(found, wanted)
    valid = rollstat.rolling_argmin(image, 3, axis=(0, 1), center=(True, False), mode="valid")
    assert image.ravel()[valid].tolist() == rollstat.rolling_min(image, 3, axis=(0, 1), mode="valid").tolist()


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (
            lambda a: rollstat.rolling_gini(a, 3, axis=[0, 1]),
            TypeError,
            "must be one axis for this statistic",
        ),
        (
            lambda a: rollstat.rolling_max(a, (3, 3)),
            ValueError,
            r"a box, whose axes axis= names; got \(3, 3\)",
        ),
        (
            lambda a: rollstat.rolling_max(a, 3, axis=(0, 1), mode=("wrap", "same")),
            ValueError,
            "mode must be one of 'reflect', .*; got 'same'",
        ),
        (
            lambda a: rollstat.rolling_max(a, 3, axis=(0, 1), center=(True,)),
            ValueError,
            r"center must be one value, or one for each axis of \(0, 1\); got \(True,\)",
        ),
    ],
)
def test_messages_of_axes_name_the_way_out(call, error, text):
    with pytest.raises(error, match=text):
        call(np.zeros((4, 4)))


@pytest.mark.parametrize("function", [rollstat.rolling_min, rollstat.rolling_median])
def test_the_mask_of_a_result_can_be_changed(function):
    image = np.ma.MaskedArray(np.arange(12.0).reshape(3, 4), np.zeros((3, 4), bool))
    for options in ({"mode": "nearest"}, {"min_periods": 1}, {}):
        result = function(image, (2, 2), axis=(0, 1), **options)
        result[2, 3] = np.ma.masked
        assert result.mask[2, 3]
        assert not result.mask[1, 1]


@pytest.mark.parametrize("name", ["min", "argmax", "median", "quantile", "mean", "std"])
def test_calls_over_images_of_one_shape_share_a_plan(name, rng):
    function, options = getattr(rollstat, f"rolling_{name}"), {"min_periods": 1, "center": True}
    options |= {"q": [0.2, 0.7]} if name == "quantile" else {}
    images = rng.standard_normal((3, 20, 30))
    images[1, rng.random((20, 30)) < 0.3] = np.nan
    forget_plans()
    for axis in ((0, 1), (1, 0)):
        for image in images:
            found = function(image, (3, 5), axis=axis, **options)
            masked = function(np.ma.MaskedArray(image, np.isnan(image)), (3, 5), axis=axis, **options)
            for one, other in zip(np.atleast_1d(found), np.atleast_1d(masked)):
                fill = -1 if name == "argmax" else np.nan
                np.testing.assert_array_equal(one, np.ma.filled(other, fill))
            if isinstance(found, np.ndarray):
                out = np.zeros_like(found)
                assert function(image, (3, 5), axis=axis, out=out, **options) is out
                np.testing.assert_array_equal(out, found)
        with pytest.raises(ValueError, match="out must"):
            function(image, (3, 5), axis=axis, out=np.zeros((2, 2)), **options)
    assert len(kept_plans) == 2


def test_a_kept_plan_does_not_hold_the_image():
    forget_plans()
    image = np.arange(200.0).reshape(10, 20)
    rollstat.rolling_median(image, (3, 3), axis=(0, 1))
    held = weakref.ref(image)
    assert kept_plans
    del image
    gc.collect()
    assert held() is None


def test_modes_of_single_axes_keep_no_plan():
    forget_plans()
    for image in (np.arange(20.0).reshape(4, 5), np.arange(20.0, 0.0, -1.0).reshape(4, 5)):
        found = rollstat.rolling_min(image, (2, 2), axis=(0, 1), mode=("reflect", "nearest"))
        assert not kept_plans
        np.testing.assert_array_equal(found, rollstat.rolling_min(image, (2, 2), axis=(0, 1), min_periods=1))
        forget_plans()
