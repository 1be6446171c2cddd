"""Windows in any order: every window combines its elements in order, by few combinations."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rollstat
from rollstat.kernels.aggregate import static_tree
from tests.spans import STATE, counting_operator

ROWS = static_tree.ROWS


def run(operator, rows, start, end):
    """Return the spans of the windows, and the combinations before the first of them."""
    values = np.arange(rows)
    values.flags.writeable = False
    operator.combinations[:] = 0
    cells = static_tree.create(STATE, rows)
    blocks = static_tree.build(operator, values, int((end - start).max(initial=1)), *cells)
    to_build = int(operator.combinations[0])
    out = np.full(len(start), -1), np.full(len(start), -1), np.zeros(len(start), np.bool_)
    static_tree.query(operator, values, blocks, *cells, start, end, out, np.zeros(len(start), np.bool_))
    return out, to_build


@settings(max_examples=60, deadline=None)
@given(rows=st.integers(1, 2000), longest=st.integers(0, 2000), seed=st.integers(0, 2**32 - 1))
def test_windows_are_combined_in_order_by_few_combinations(rows, longest, seed):
    rng = np.random.default_rng(seed)
    start = rng.integers(0, rows + 1, 50)
    end = np.minimum(start + rng.integers(0, longest + 1, 50), rows)
    operator, counter = counting_operator()
    (first, last, sound), to_build = run(operator, rows, start, end)
    full = start < end
    np.testing.assert_array_equal(first[full], start[full])
    np.testing.assert_array_equal(last[full], end[full] - 1)
    assert sound[full].all()
    assert (first[~full] == -1).all()
    width = (end - start)[full]
    inside = start[full] // ROWS == (end[full] - 1) // ROWS
    assert counter[0] - to_build <= np.where(inside, width - 1, 3).sum()
    assert to_build <= 2 * rows + rows // ROWS * max((rows // ROWS).bit_length() - 1, 0)


def test_levels_hold_no_more_blocks_than_windows_reach():
    operator, _ = counting_operator()
    rows = 1 << 16
    start = np.arange(0, rows - 40)
    _, to_build = run(operator, rows, start, start + 40)
    # Beyond 2 for each row: at most 3 blocks to both sides of a middle, and half as many middles a level.
    assert to_build <= 2 * rows + 6 * rows // ROWS


@pytest.mark.parametrize("order", ["widths", "random"])
def test_public_calls_make_few_combinations(order, rng):
    n = 150_000
    end = np.arange(1, n + 1) if order == "widths" else rng.integers(1, n + 1, n)
    start = np.maximum(end - rng.integers(1, 3000, n), 0)
    operator, counter = counting_operator()
    values = np.arange(n)
    rollstat.rolling_aggregate(values[:1], operator, 1)
    for threads in (1, 2):
        counter[:] = 0
        first, last, sound = rollstat.rolling_aggregate(values, operator, (start, end), threads=threads)
        assert sound.all()
        np.testing.assert_array_equal(first, start)
        np.testing.assert_array_equal(last, end - 1)
        # Windows reach beyond the rows of a block, so blocks cover up to 4/3 of the data.
        assert threads > 1 or counter[0] <= 3 * n + 4 / 3 * n * (2 + 13 / ROWS) + 100
