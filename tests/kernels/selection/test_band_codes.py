"""Gathered active rows and their answers, row by row."""

import numpy as np
import pytest

from rollstat.kernels.selection.band_codes import (
    BELOW,
    active_rows_are_few,
    fill_forward,
    gather_active_rows,
    rows_with,
)

ABOVE = BELOW + 640


def codes(rng, n, inside):
    """Codes of which a share lies within the band, the others on either side."""
    kind = rng.random(n)
    beside = np.where(kind < 0.5 + inside / 2, rng.integers(0, BELOW, n), rng.integers(ABOVE, ABOVE + 960, n))
    return np.where(kind < inside, rng.integers(BELOW, ABOVE, n), beside).astype(np.uint32)


@pytest.mark.parametrize("inside", [0.0, 0.1, 0.9, 1.0])
@pytest.mark.parametrize("n", [0, 1, 15, 16, 17, 1000])
def test_every_row_has_the_answer_of_its_last_active_row(inside, n):
    rng = np.random.default_rng(n)
    leaving, entering = codes(rng, n, inside), codes(rng, n, inside)
    leaves, enters = np.zeros((2, n + 16), np.uint32)
    marks = np.full(n + 1, 9, np.uint8)
    count = gather_active_rows(leaving, entering, ABOVE, leaves, enters, marks)
    side = [(code >= BELOW).astype(int) + (code >= ABOVE) for code in (leaving, entering)]
    active = (side[0] != side[1]) | (side[1] == 1)
    np.testing.assert_array_equal(marks, np.append(active, 9))
    np.testing.assert_array_equal(leaves[:count], leaving[active])
    np.testing.assert_array_equal(enters[:count], entering[active])
    found, result = rng.standard_normal(count + 9), np.full(n + 1, np.nan)
    fill_forward(found, marks, result)
    np.testing.assert_array_equal(result, found[np.append(0, np.cumsum(active))])


def test_rows_with_the_first_answers():
    marks = np.array([0, 1, 0, 0, 1, 1], np.uint8)
    assert [rows_with(answers, marks) for answers in range(5)] == [0, 2, 5, 6, 7]


def test_active_rows_are_judged_by_the_first_rows():
    rng = np.random.default_rng(0)
    inside, beside = np.full(10_000, BELOW + 5, np.uint32), np.full(10_000, ABOVE + 5, np.uint32)
    assert not active_rows_are_few(inside, inside, ABOVE)
    assert active_rows_are_few(beside, beside, ABOVE)
    assert not active_rows_are_few(beside, np.zeros(10_000, np.uint32), ABOVE)
    some = np.where(rng.random(10_000) < 0.3, inside, beside)
    assert active_rows_are_few(some, beside, ABOVE)
