"""Series that are extended beyond their edges, compared with NumPy's padding and with SciPy."""

import numpy as np
import pytest
from scipy import ndimage

import rollstat
from rollstat.registry import REGISTRY
from tests.test_contract import arrays_for, call, is_missing, outputs, taken

PADDING = {"reflect": "symmetric", "nearest": "edge", "mirror": "reflect", "wrap": "wrap"}
PADDING["constant"] = "constant"


@pytest.mark.parametrize("name", REGISTRY)
def test_every_statistic_as_over_padded_data(name, rng):
    statistic = REGISTRY[name]
    arrays, sample = arrays_for(statistic, rng, 30, taken(statistic)[0]), dict(statistic.samples[0])
    for number, (mode, padding) in enumerate(PADDING.items()):
        options = [{}, {"center": True}, {"closed": "left"}][number % 3]
        left, right = [(4, 0), (2, 2), (5, 0)][number % 3]
        padded = [np.pad(array, (left, right), padding) for array in arrays]
        whole = outputs(call(statistic, padded, 5, sample, min_periods=3, **options))
        found = outputs(call(statistic, arrays, 5, sample, min_periods=3, mode=mode, **options))
        for result, wanted in zip(found, whole, strict=True):
            wanted = wanted[left : left + 30]
            if name.startswith("arg"):
                beyond = {"constant_values": -1} if mode == "constant" else {}
                source = np.pad(np.arange(30), (left, right), padding, **beyond)
                wanted = np.where(wanted < 0, -1, source[wanted])
            present = ~is_missing(wanted)
            assert (is_missing(result) == ~present).all()
            np.testing.assert_allclose(result[present], wanted[present], rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("mode", PADDING)
def test_filters_of_scipy_along_an_axis(mode, rng):
    values = rng.standard_normal((40, 3))
    found = rollstat.rolling_median(values, 5, center=True, mode=mode, axis=0)
    np.testing.assert_array_equal(found, ndimage.median_filter(values, (5, 1), mode=mode))
    means = rollstat.rolling_mean(values, 200, center=True, mode=mode, axis=0, step=3)
    wanted = ndimage.uniform_filter1d(values, 200, axis=0, mode=mode)[::3]
    np.testing.assert_allclose(means, wanted, atol=1e-12)


def test_segments_dtypes_masks_and_out():
    values, segments = np.array([1, 2, 10, 20, 30]), [0, 2, 5]
    out = np.zeros(5, np.int64)
    found = rollstat.rolling_sum(values, 3, mode="wrap", segments=segments, out=out)
    assert found is out
    assert out.tolist() == [1 + 2 + 1, 2 + 1 + 2, 60, 60, 60]
    masked = np.ma.MaskedArray(values, [False, True, False, False, False])
    found = rollstat.rolling_max(masked, 3, mode="nearest", segments=segments, min_periods=2)
    assert found.tolist() == [1, 1, 10, 20, 30]
    assert rollstat.rolling_argmin(values, 2, mode="constant", fill_value=-5).tolist() == [-5, 0, 1, 2, 3]
    assert rollstat.rolling_max(values, 2, mode="constant", fill_value=99).tolist() == [99, 2, 10, 20, 30]
    assert rollstat.rolling_sum(np.zeros(0), 3, mode="reflect").tolist() == []
    found = rollstat.rolling_max(values.astype(float), 2, mode="constant", fill_value=np.nan)
    np.testing.assert_array_equal(found, [np.nan, 2, 10, 20, 30])


def test_only_windows_of_rows_are_extended():
    for options in ({"times": np.arange(3.0)}, {"window": rollstat.Expanding()}):
        with pytest.raises(ValueError, match="mode must be 'same' except for windows of rows; got 'wrap'"):
            rollstat.rolling_sum(np.zeros(3), **{"window": 2.0, **options}, mode="wrap")


@pytest.mark.parametrize("mode", ["same", "nearest", "reflect", "constant"])
def test_out_keeps_the_mask_beyond_the_edges(mode):
    values = np.ma.MaskedArray(np.arange(6), [0, 1, 1, 1, 0, 0])
    for function, shape in (
        (lambda **options: rollstat.rolling_min(values, 2, min_periods=1, mode=mode, **options), 6),
        (
            lambda **options: rollstat.rolling_quantile(
                values, 2, [0, 1], "lower", min_periods=1, mode=mode, **options
            ),
            (2, 6),
        ),
    ):
        expected, out = function(), np.zeros(shape, np.int64)
        found = function(out=out)
        assert np.ma.getmaskarray(found).any()
        np.testing.assert_array_equal(np.ma.getmaskarray(found), np.ma.getmaskarray(expected))
        np.testing.assert_array_equal(found.compressed(), expected.compressed())
        assert np.shares_memory(found.data, out)
