"""Operators are not scaled; they warn where sums leave the range of float64, and only there."""

import warnings

import numpy as np
import pytest

import rollstat
from rollstat import operators

X = np.array([1.0, 2.0, 6.0, 4.0, 9.0])
CALLS = {
    "operator": lambda x: rollstat.rolling_aggregate(x, operators.Variance(1), 3),
    "stream": lambda x: rollstat.FixedAggregate(operators.Variance(1), 3).extend(x),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_a_warning_where_sums_leave_the_range(call):
    for scale in (1e200, 1e-200):
        with pytest.warns(rollstat.PrecisionWarning, match="may leave the range of float64"):
            call(X * scale)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for values in (X, X * 1e50, X * 1e-60, [1.0, np.inf, np.nan, 0.0, 2.0]):
            call(np.array(values))


def test_a_sum_that_overflows_between_its_parts():
    values = [1e308, 1e308, -1e308]
    with pytest.warns(rollstat.PrecisionWarning, match="Sum may leave the range"):
        rollstat.rolling_sum(values, 3, algorithm="two_stacks")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert rollstat.rolling_sum(values, 3)[-1] == 1e308


def test_a_stream_is_unchanged_if_the_warning_is_an_error():
    stream, other = (rollstat.FixedAggregate(operators.Variance(1), 3) for _ in range(2))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(rollstat.PrecisionWarning):
            stream.extend(X * 1e200)
    assert stream.snapshot() == other.snapshot()
