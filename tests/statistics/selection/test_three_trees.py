"""The three-trees driver under the selection contract."""

import numpy as np
import pytest

import rollstat
from rollstat.blocks import Block, Selection
from rollstat.statistics.selection.three_trees import block_rows, select
from tests.selections import check_selection, fixed_block, kth_rank, quantile_rank


@pytest.mark.parametrize("width", [1, 2, 3, 8, 21])
@pytest.mark.parametrize("missing_share", [None, 0.0, 0.4, 1.0])
def test_ranks_from_both_ends_and_from_the_middle(rng, width, missing_share):
    values = rng.integers(0, 8, 90).astype(float)
    missing = None if missing_share is None else rng.random(90) < missing_share
    block = fixed_block(values, width, missing)
    for k in {1, -1, (width + 1) // 2, -(width // 3 + 1), width, -width}:
        rank = kth_rank(block, k)
        constant = (int(rank[0]),) if missing is None else None
        check_selection(select, block, rank, constant)
        check_selection(select, block, rank, constant, upper=False, position=False)
    several = np.stack([quantile_rank(block, q) for q in (0.0, 0.1, 0.5, 0.9, 1.0)])
    check_selection(select, block, several)
    check_selection(select, block, several[:2])
    check_selection(select, block, several[-1:], upper=False)


def test_rows_that_are_not_wanted_are_left_alone(rng):
    block = fixed_block(rng.standard_normal(50), 5)
    rank = np.where(np.arange(46) % 3 == 0, 2, -1)[None, :]
    request = Selection(rank, None, np.full((1, 46), 9.0))
    select(block, request)
    assert (request.lower[rank < 0] == 9.0).all()
    check_selection(select, block, rank)
    check_selection(select, block, np.full((1, 46), -1))


def test_only_windows_of_a_fixed_number_of_rows():
    block = Block(np.zeros(4), None, np.array([0, 1, 1]), np.array([2, 2, 4]), 0)
    with pytest.raises(ValueError, match="supports only windows of a fixed number of rows"):
        select(block, Selection(np.zeros((1, 3), np.int64), (0,), np.zeros((1, 3))))


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


def test_blocks_outweigh_the_rows_before_the_first_window():
    assert all(block_rows(width) >= 8 * width for width in (1, 1000, 10**6))
