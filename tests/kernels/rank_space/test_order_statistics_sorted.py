"""Order statistics and their rows from a sorted array."""

import numpy as np

from rollstat.kernels.rank_space.order_statistics_sorted import order_statistics_sorted


def run(values, missing, start, end, rank):
    values, rank = np.array(values, np.float64), np.array(rank, np.int64)
    lower, upper = np.full((2, *rank.shape), np.nan)
    position = np.full(rank.shape, -9)
    start, end = np.array(start), np.array(end)
    window = np.empty(int((end - start).max()) + 1)
    order_statistics_sorted(
        values, np.array(missing, np.bool_), start, end, rank, window, lower, upper, position
    )
    return lower.tolist(), upper.tolist(), position.tolist()


def test_ties_are_in_the_order_of_rows():
    found = run([4, 1, 4, 4, 1], [], [0, 1], [4, 5], [[1, 1], [2, 2], [3, 3]])
    assert found[0] == [[4, 1], [4, 4], [4, 4]]
    assert found[2] == [[0, 4], [2, 2], [3, 3]]


def test_missing_values_and_rows_without_a_wanted_rank():
    lower, upper, position = run([3, 7, 5, 9], [False, True, False, False], [0, 2], [3, 4], [[0, -1]])
    assert lower[0][0] == 3
    assert upper[0][0] == 5
    assert np.isnan(lower[0][1])
    assert position == [[0, -9]]
