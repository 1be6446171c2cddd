"""Dtypes of input and result, and the conversion of `fill_value`."""

import warnings
from datetime import datetime

import numpy as np
import pandas as pd
import pytest

import rollstat
from rollstat.registry import REGISTRY
from tests.test_contract import call, outputs


@pytest.mark.parametrize("dtype", ["M8[3s]", "m8[2h]", "M8[7D]", ">M8[3s]"])
def test_times_keep_the_multiple_of_their_unit(dtype):
    values = np.array([1, 5, 2, 9, 4, 4]).astype(np.dtype(dtype).str[0] + "i8").view(dtype)
    unit = np.datetime_data(np.dtype(dtype))
    native = np.dtype(dtype).newbyteorder("=")
    for name in ("ptp", "iqr", "mad"):
        result = getattr(rollstat, f"rolling_{name}")(values, 2)
        wanted = getattr(rollstat, f"rolling_{name}")(values.astype(native).view("M8[s]"), 2)
        assert np.datetime_data(result.dtype) == unit
        np.testing.assert_array_equal(result.view(np.int64), wanted.view(np.int64))
        stream = getattr(rollstat, f"Rolling{name.title()}")(2, dtype=native)
        pushed = [stream.push(x) for x in values.astype(native)]
        assert np.datetime_data(pushed[0].dtype) == unit
        stream.reset()
        np.testing.assert_array_equal(stream.extend(values), result)
        np.testing.assert_array_equal(np.array(pushed), result)
    assert rollstat.rolling_ptp(np.array([1, 5]).view("M8[3s]"), 2)[1] == np.timedelta64(12, "s")
    assert rollstat.rolling_max(values, 2).dtype == native
    assert rollstat.RollingMax(2, dtype=native).push(None).dtype == native


@pytest.mark.parametrize("name", [name for name, each in REGISTRY.items() if "f" in each.kinds])
def test_float32_of_another_byte_order_rounds_alike(name, rng):
    statistic = REGISTRY[name]
    arrays = [rng.standard_normal(60).astype(np.float32) for _ in range(statistic.series)]
    swapped = [array.astype(array.dtype.newbyteorder()) for array in arrays]
    for sample in statistic.samples:
        native = call(statistic, arrays, 5, sample, min_periods=1)
        for a, b in zip(outputs(native), outputs(call(statistic, swapped, 5, sample, min_periods=1))):
            assert a.dtype == b.dtype
            assert a.tobytes() == b.tobytes()


def test_float16_is_computed_in_float64_as_in_pandas():
    values = np.array([1.5, np.nan, 65504, 3, 2], np.float16)
    wide = values.astype(np.float64)
    for name in ("median", "sum", "max", "std", "argmax", "rank", "nunique", "mad", "any"):
        function = getattr(rollstat, f"rolling_{name}")
        result = function(values, 3, min_periods=1)
        np.testing.assert_array_equal(result, function(wide, 3, min_periods=1))
        assert result.dtype == function(wide, 3, min_periods=1).dtype
    masked = np.ma.MaskedArray(values, [0, 0, 1, 0, 0])
    assert rollstat.rolling_max(masked, 3, min_periods=1).tolist() == [1.5, 1.5, 1.5, 3.0, 3.0]
    np.testing.assert_array_equal(
        rollstat.rolling_cov(values, values, 2, min_periods=1),
        rollstat.rolling_cov(wide, wide, 2, min_periods=1),
    )
    box = rollstat.rolling_max(values.reshape(1, 5), (1, 2), axis=(0, 1), min_periods=1)
    assert box.tolist() == [[1.5, 1.5, 65504.0, 65504.0, 3.0]]
    assert rollstat.rolling_aggregate(values, rollstat.operators.Sum(), 2).dtype == np.float64
    np.testing.assert_array_equal(
        rollstat.RollingMax(3, min_periods=1).extend(values), rollstat.rolling_max(wide, 3, min_periods=1)
    )


def test_fill_value_of_positions():
    values = np.random.default_rng(0).integers(0, 9, (40, 6)).astype(float)
    for function in (
        rollstat.rolling_argmin,
        rollstat.rolling_argmax,
        lambda *a, **k: rollstat.rolling_argkth(a[0], 1, a[1], **k),
    ):
        for fill in (-5, 3, 0):
            plain = function(values, 3)
            result = function(values, 3, fill_value=fill)
            np.testing.assert_array_equal(result, np.where(plain < 0, fill, plain))
            out = np.zeros_like(plain)
            function(values, 3, fill_value=fill, out=out)
            np.testing.assert_array_equal(out, result)
        with pytest.raises(ValueError, match="fill_value must be exact"):
            function(values, 3, fill_value=0.5)


@pytest.mark.parametrize(
    ("dtype", "bad"),
    [
        ("u1", [1.5, 256, -1, np.nan, np.inf, 2**70, "1", None, 1j]),
        ("i8", [2.0**63, 2**63, 0.1]),
        ("f4", [1e300, -1e39, "x", np.datetime64(1, "s")]),
        ("f8", [2**2000, 1j, np.ma.masked]),
        ("?", [2, 0.5]),
        ("M8[s]", [5, np.timedelta64(5, "s"), np.datetime64(1, "ms"), np.datetime64(2**62, "D"), 0.5]),
    ],
)
def test_fill_value_must_be_exact(dtype, bad):
    values = np.zeros(4, dtype)
    for fill in bad:
        if fill is not None:
            with pytest.raises((ValueError, TypeError), match="fill_value"):
                rollstat.rolling_kth(values, 1, 2, fill_value=fill)
    good = {"u1": 255.0, "f4": 0.1, "f8": np.inf, "?": 1, "M8[s]": np.datetime64(2000, "ms")}.get(
        dtype, -(2**63)
    )
    result = rollstat.rolling_kth(values, 1, 2, fill_value=good)
    assert result.dtype == values.dtype
    assert result[0] == np.asarray(good).astype(dtype)


def test_fill_value_of_times_in_any_form():
    values = np.array([3, 4], "M8[s]")
    for fill in (datetime(2024, 1, 1), np.datetime64("2024-01-01"), pd.Timestamp("2024-01-01")):
        assert rollstat.rolling_max(values, 2, fill_value=fill)[0] == np.datetime64("2024-01-01")
    assert np.isnat(rollstat.rolling_max(values, 2, fill_value=pd.NaT)[0])


def test_streams_reject_what_does_not_fit():
    stream = rollstat.RollingMax(3, dtype=np.float32, min_periods=1)
    stream.push(1.0)
    with pytest.raises(ValueError, match="must fit in float32"):
        stream.push(1e308)
    with pytest.raises(ValueError, match="must fit in float32"):
        stream.extend([1e308, 2.0])
    with pytest.raises(ValueError, match="must fit in float32"):
        stream.extend([1e308] * 100)
    assert stream.value == 1.0
    assert np.isinf(stream.extend([np.inf])[0])
    for name in ("RollingDecayedSum", "RollingDecayedMean"):
        for decay in (0.0, -0.5, 1.5, np.nan):
            with pytest.raises(ValueError, match="decay must be"):
                getattr(rollstat, name)(3, decay)


@pytest.mark.parametrize("rows", [1, 3, 50, 900])
def test_a_stream_is_unchanged_if_a_warning_is_an_error(rows):
    values = 2**60 + np.arange(900)
    stream = rollstat.RollingKth(1, 600, dtype=np.int64, min_periods=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        stream.extend(values[:700])
    before = stream.snapshot()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(rollstat.PrecisionWarning):
            stream.extend(values[:rows])
    assert stream.snapshot() == before
    assert stream.push(5) == 5


def test_none_in_a_list_is_missing():
    np.testing.assert_array_equal(rollstat.rolling_sum([1, None, 3], 2, min_periods=1), [1.0, 1.0, 3.0])
    table = [[1.5, None], [None, 4.0]]
    np.testing.assert_array_equal(rollstat.rolling_max(table, 1), np.array([[1.5, np.nan], [np.nan, 4.0]]))
    days = [np.datetime64("2024-01-02"), None, np.datetime64("2024-01-01")]
    found = rollstat.rolling_max(np.array(days, object), 3, min_periods=1)
    np.testing.assert_array_equal(found, np.array(["2024-01-02"] * 3, "M8[D]"))
    for bad in (["a", None], [None, 1j], [object(), None]):
        with pytest.raises(TypeError, match="arr must hold"):
            rollstat.rolling_max(bad, 2)
