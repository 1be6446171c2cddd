"""Infinite elements as missing ones: streams answer as over the same elements with None in their place."""

import numpy as np
import pytest

import rollstat
from rollstat.streaming import STREAMS
from tests.streaming.cases import NAMED, columns_of, identity, make, push_all


@pytest.mark.parametrize(("name", "sample"), NAMED, ids=identity)
def test_pushes_and_arrays(name, sample, rng):
    if "f" not in STREAMS[name]._row.kinds:
        pytest.skip("takes no floats")
    finite = columns_of(name, rng, 24)
    columns = [column.copy() for column in finite]
    for column, other in zip(columns, finite):
        column[[2, 7, 15]], other[[2, 7, 15]] = [np.inf, -np.inf, np.inf], np.nan
    ours, theirs = make(name, sample, 5, min_periods=1, inf="missing"), make(name, sample, 5, min_periods=1)
    for part in (slice(0, 9), slice(9, 18)):
        np.testing.assert_equal(
            push_all(ours, [column[part] for column in columns]),
            push_all(theirs, [column[part] for column in finite]),
        )
        ours = rollstat.restore(ours.snapshot())
    np.testing.assert_equal(
        ours.extend(*(column[18:] for column in columns)), theirs.extend(*(column[18:] for column in finite))
    )
    with pytest.raises(ValueError, match="inf must be one of 'value', 'missing'; got 'nan'"):
        make(name, sample, 5, inf="nan")
