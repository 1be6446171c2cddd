"""The search over tampered snapshots: it passes, and finds a check that is missing."""

import pytest

from tests.fuzz import snapshots

# One class of each representation, one operator and one dtype; the others are left to `nox -s fuzz`, because
# each compiles kernels.
NAMES = [
    "GreedyAggregate",
    "GreedyAggregate",
    "SlidingAggregate",
    "TimeAggregate",
    "sum",
    "kth",
    "min",
    "rank",
]
SHORT = """
from tests.fuzz import snapshots
snapshots.OPERATORS, snapshots.DTYPES = snapshots.OPERATORS[:1], ["f8"]
"""


def test_tampered_snapshots_raise_or_give_streams_that_work():
    assert snapshots.run(0, 400, NAMES, SHORT).split()[-1] == "done"


def test_a_missing_check_is_found():
    before = (
        f"{SHORT}import rollstat.kernels.aggregate.greedy as greedy\ngreedy.check_online = lambda state: True"
    )
    with pytest.raises(AssertionError, match="call"):
        snapshots.run(0, 400, ["GreedyAggregate"], before)
