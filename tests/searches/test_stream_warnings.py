"""A short part of the search for streams that a step changes although it raises."""

import warnings

import numpy as np
import pytest

import rollstat
from rollstat.streaming import STREAMS
from tests.fuzz import stream_warnings

LARGE = 2**60 + 1
# One statistic of each representation, and of each way in which integers are rounded.
NAMES = ["median", "iqr", "mad", "hampel", "trimmed_mean", "mean", "var", "linear_fit", "sum"]
AS_ERRORS = pytest.mark.filterwarnings("error::rollstat.PrecisionWarning")


@pytest.mark.parametrize("name", NAMES)
def test_a_step_that_raises_changes_nothing(name):
    for number in range(6):
        stream_warnings.of_stream(np.random.default_rng([number, NAMES.index(name)]), {}, name)


@AS_ERRORS
@pytest.mark.parametrize("name", ["median", "hampel", "mean", "logsumexp", "linear_fit"])
def test_a_row_is_not_kept_if_its_warning_is_an_error(name):
    stream = STREAMS[name](3, min_periods=1, dtype=np.int64)
    with warnings.catch_warnings(action="ignore"):
        stream.extend([LARGE, LARGE + 2, 7])
    before = stream.snapshot()
    for add in (
        lambda: stream.push(LARGE),
        lambda: stream.extend([LARGE]),
        lambda: stream.extend([LARGE, LARGE] * 40),
    ):
        with pytest.raises(rollstat.PrecisionWarning):
            add()
        assert stream.snapshot() == before


@AS_ERRORS
def test_sums_that_become_floats_warn():
    stream = rollstat.RollingSum(2, dtype=np.int64)
    with pytest.raises(rollstat.PrecisionWarning):
        stream.extend([LARGE, LARGE])
    assert len(stream) == 0
    with warnings.catch_warnings(action="ignore"):
        np.testing.assert_array_equal(stream.extend([1, 2, 3]), [np.nan, 3, 5])
