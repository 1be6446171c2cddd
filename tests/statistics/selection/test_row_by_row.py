"""Sorted arrays, two heaps and three trees under the selection contract, for all kinds of windows."""

import numpy as np
import pytest

import rollstat
from rollstat.blocks import Block, Selection
from rollstat.statistics.selection.row_by_row import block_rows, sorted_window, three_trees, two_heaps
from tests.selections import check_selection, fixed_block, kth_rank, quantile_rank, values_at_limits


@pytest.mark.parametrize("dtype", ["f8", "f4", "i8", "u1"])
@pytest.mark.parametrize("width", [1, 2, 9, 60])
@pytest.mark.parametrize("gaps", [None, 0.4])
def test_sorted_arrays_of_fixed_windows(dtype, width, gaps, rng):
    values = values_at_limits(dtype, rng, 300)
    block = fixed_block(values, width, None if gaps is None else rng.random(300) < gaps)
    rank = np.stack([quantile_rank(block, 0.5), kth_rank(block, 2), kth_rank(block, -1)])
    check_selection(sorted_window, block, rank)
    check_selection(sorted_window, block, rank[:1], upper=False, position=False)


def test_windows_that_grow_shrink_and_jump(rng):
    start = np.sort(rng.integers(0, 300, 200))
    end = np.maximum.accumulate(np.minimum(start + rng.integers(0, 50, 200), 300))
    block = Block(values_at_limits("f8", rng, 300), rng.random(300) < 0.2, start, end)
    check_selection(sorted_window, block, quantile_rank(block, 0.7))


def ranks(block):
    """Several requests, from both ends and from the middle."""
    return np.stack([quantile_rank(block, 0.5), kth_rank(block, 2), kth_rank(block, -2), kth_rank(block, 1)])


@pytest.mark.parametrize("width", [1, 2, 3, 8, 21, 60])
@pytest.mark.parametrize("missing_share", [None, 0.0, 0.3, 1.0])
def test_heaps_of_fixed_windows(rng, width, missing_share):
    values = rng.integers(0, 8, 150).astype(float)
    missing = None if missing_share is None else rng.random(150) < missing_share
    block = fixed_block(values, width, missing)
    rank = ranks(block)
    for position in (True, False):
        check_selection(two_heaps, block, rank, position=position)
        check_selection(two_heaps, block, np.where(rng.random(rank.shape) < 0.3, -1, rank), position=position)
        check_selection(two_heaps, block, rank[:1], upper=False, position=position)


@pytest.mark.parametrize("missing_share", [None, 0.3])
@pytest.mark.parametrize("seed", range(12))
def test_windows_of_any_shape(missing_share, seed):
    rng = np.random.default_rng(seed)
    n, rows = 120, 90
    values = rng.integers(0, 40, n).astype(float)
    missing = None if missing_share is None else rng.random(n) < missing_share
    start = np.sort(rng.integers(0, n, rows))
    if seed % 3 == 0:
        start = np.maximum(start - start[0] - 40, 0)
    end = np.maximum.accumulate(np.minimum(n, start + rng.integers(0, 25, rows)))
    block = Block(values, missing, start, end)
    check_selection(two_heaps, block, ranks(block))
    check_selection(two_heaps, block, ranks(block), position=False)


def test_expanding_windows_and_gaps(rng):
    values = rng.standard_normal(80)
    end = np.arange(1, 81)
    block = Block(values, None, np.zeros(80, np.int64), end)
    check_selection(two_heaps, block, ranks(block))
    start = np.arange(0, 78, 7)
    block = Block(values, None, start, start + np.arange(len(start)) % 3)
    check_selection(two_heaps, block, ranks(block))


@pytest.mark.parametrize("shape", ["sorted", "reversed", "constant", "walk"])
def test_large_windows(rng, shape):
    rows = np.arange(3000.0)
    values = {
        "sorted": rows,
        "reversed": -rows,
        "constant": np.zeros(3000),
        "walk": rng.standard_normal(3000).cumsum(),
    }[shape]
    block = fixed_block(values, 700)
    for rank in (349, 0, 699, 30):
        check_selection(two_heaps, block, np.full((1, block.rows), rank))


def test_blocks_outweigh_the_rows_before_the_first_window():
    assert all(block_rows(width) >= 8 * width for width in (1, 1000, 10**6))


@pytest.mark.parametrize("width", [1, 2, 3, 8, 21])
@pytest.mark.parametrize("missing_share", [None, 0.0, 0.4, 1.0])
def test_ranks_from_both_ends_and_from_the_middle(rng, width, missing_share):
    values = rng.integers(0, 8, 90).astype(float)
    missing = None if missing_share is None else rng.random(90) < missing_share
    block = fixed_block(values, width, missing)
    for k in {1, -1, (width + 1) // 2, -(width // 3 + 1), width, -width}:
        rank = kth_rank(block, k)
        check_selection(three_trees, block, rank)
        check_selection(three_trees, block, rank, upper=False, position=False)
    several = np.stack([quantile_rank(block, q) for q in (0.0, 0.1, 0.5, 0.9, 1.0)])
    check_selection(three_trees, block, several)
    check_selection(three_trees, block, several[:2])
    check_selection(three_trees, block, several[-1:], upper=False)


def test_rows_that_are_not_wanted_are_left_alone(rng):
    block = fixed_block(rng.standard_normal(50), 5)
    rank = np.where(np.arange(46) % 3 == 0, 2, -1)[None, :]
    request = Selection(rank, np.full((1, 46), 9.0))
    three_trees(block, request)
    assert (request.lower[rank < 0] == 9.0).all()
    check_selection(three_trees, block, rank)
    check_selection(three_trees, block, np.full((1, 46), -1))


def test_only_windows_of_a_fixed_number_of_rows():
    block = Block(np.zeros(4), None, np.array([0, 1, 1]), np.array([2, 2, 4]), 0)
    with pytest.raises(ValueError, match="supports only windows of a fixed number of rows"):
        three_trees(block, Selection(np.zeros((1, 3), np.int64), np.zeros((1, 3))))


WINDOWS = {
    "growing": (7, {"min_periods": 1}),
    "centred": (6, {"min_periods": 2, "center": True}),
    "closed": (5, {"min_periods": 1, "closed": "left"}),
    "forward": (rollstat.Forward(4), {"min_periods": 1}),
    "wider than the data": (100, {"min_periods": 1, "center": True}),
    "expanding": (rollstat.Expanding(), {}),
}


@pytest.mark.parametrize("kind", WINDOWS)
def test_every_row_of_a_public_call(kind, rng):
    """Boundary windows and expanding ones too, by the trees that the call names."""
    window, options = WINDOWS[kind]
    values = rng.integers(0, 9, 60).astype(float)
    values[rng.random(60) < 0.2] = np.nan
    for function, parameters in (
        (rollstat.rolling_kth, (2, window)),
        (rollstat.rolling_kth, (-1, window)),
        (rollstat.rolling_quantile, (window, 0.3)),
        (rollstat.rolling_median, (window,)),
        (rollstat.rolling_argkth, (2, window)),
    ):
        for array in (values, values.reshape(3, 20)):
            got, wanted = (
                function(array, *parameters, algorithm=a, **options) for a in ("three_trees", "rank_bits")
            )
            np.testing.assert_array_equal(got, wanted)
        plan = rollstat.explain(function, values, *parameters, algorithm="three_trees", **options)
        assert {step.algorithm for step in plan.steps} == {"three_trees"}


@pytest.mark.parametrize("options", [{"step": 2}, {"segments": [0, 3, 9]}, {"times": np.arange(9.0) ** 2}])
def test_other_windows_are_rejected(options):
    window = 3.0 if "times" in options else 3
    with pytest.raises(ValueError, match="three_trees"):
        rollstat.rolling_kth(np.arange(9.0), 1, window, algorithm="three_trees", min_periods=1, **options)
