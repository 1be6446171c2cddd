"""A few of the random calls against pandas; `nox -s pandas-differential` makes them all."""

from collections import Counter

import pytest

from tests.pandas.differential import BUGS, find, run_cell, sample


def test_random_calls_as_in_pandas():
    hits = Counter()
    cells = sample(12)
    for cell in cells:
        run_cell(cell, 3, hits)
    assert len(cells) > 70
    assert hits.total() > 2.8 * len(cells)


@pytest.mark.parametrize("bug", BUGS)
def test_planted_bugs_are_found(bug):
    assert find(bug, 10) > 0
