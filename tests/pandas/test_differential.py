"""A few of the random calls against pandas; `nox -s pandas-differential` makes them all."""

from collections import Counter

import pytest

from tests.pandas.differential import BUGS, find, run_cell, sample


def test_random_calls_as_in_pandas():
    hits = Counter()
    for cell in sample(12):
        run_cell(cell, 3, hits)
    assert hits.total() >= 300


@pytest.mark.parametrize("bug", BUGS)
def test_planted_bugs_are_found(bug):
    assert find(bug, 10) > 0
