"""Gathered events and their answers, row by row."""

import numpy as np
import pytest

from rollstat.kernels.selection.active_rows import events_are_few, gather_events, spread
from rollstat.kernels.selection.bitset_fixed import BELOW

FAR = BELOW + 640


def codes(rng, n, inside):
    """Codes of which a share lies within the band, the others on either side."""
    kind = rng.random(n)
    beside = np.where(kind < 0.5 + inside / 2, rng.integers(0, BELOW, n), rng.integers(FAR, FAR + 960, n))
    return np.where(kind < inside, rng.integers(BELOW, FAR, n), beside).astype(np.uint32)


@pytest.mark.parametrize("inside", [0.0, 0.1, 0.9, 1.0])
@pytest.mark.parametrize("n", [0, 1, 15, 16, 17, 1000])
def test_every_row_has_the_answer_of_its_last_event(inside, n):
    rng = np.random.default_rng(n)
    leaving, entering = codes(rng, n, inside), codes(rng, n, inside)
    leaves, enters, rows = np.zeros((3, n + 16), np.uint32)
    count = gather_events(leaving, entering, FAR, leaves, enters, rows)
    side = [(code >= BELOW).astype(int) + (code >= FAR) for code in (leaving, entering)]
    event = (side[0] != side[1]) | (side[1] == 1)
    np.testing.assert_array_equal(rows[:count], np.flatnonzero(event))
    np.testing.assert_array_equal(leaves[:count], leaving[event])
    np.testing.assert_array_equal(enters[:count], entering[event])
    found, result = rng.standard_normal(count + 1), np.full(n + 1, np.nan)
    spread(found, rows[:count], result)
    np.testing.assert_array_equal(result, found[np.append(0, np.cumsum(event))])


def test_events_are_judged_by_the_first_rows():
    rng = np.random.default_rng(0)
    inside, beside = np.full(10_000, BELOW + 5, np.uint32), np.full(10_000, FAR + 5, np.uint32)
    assert not events_are_few(inside, inside, FAR)
    assert events_are_few(beside, beside, FAR)
    assert not events_are_few(beside, np.zeros(10_000, np.uint32), FAR)
    some = np.where(rng.random(10_000) < 0.3, inside, beside)
    assert events_are_few(some, beside, FAR)
