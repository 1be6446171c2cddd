"""Dtypes of input and result, and the conversion of `fill_value`."""

import numpy as np
import pytest

import rollstat


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
