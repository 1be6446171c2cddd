"""Statistics read off a sorted array of any windows, compared with NumPy on each window."""

import numpy as np
import pytest

from rollstat.kernels.rank_space.rank import METHODS
from rollstat.kernels.rank_space.sorted_windows import (
    Deviation,
    Distinct,
    Kth,
    MeanDifference,
    Mode,
    Outlier,
    Position,
    QuantileOf,
    RankOf,
    SpreadOf,
    TrimmedMean,
    sorted_windows,
)

NOTHING = np.empty(0)
NO_ROWS = np.empty(0, np.int64)


def mode(x):
    values, counts = np.unique(x, return_counts=True)
    return values[counts.argmax()]


def mad(x):
    return np.median(np.abs(x - np.median(x)))


def spread(x):
    return np.quantile(x, 0.8) - np.quantile(x, 0.1)


def trimmed(x):
    cut = int(0.2 * len(x))
    return np.sort(x)[cut : len(x) - cut].mean()


def gini(x):
    return np.abs(x[:, None] - x).sum() / (len(x) * (len(x) - 1))


READERS = [
    (Kth(2), lambda x: np.sort(x)[1], 2),
    (Kth(-2), lambda x: np.sort(x)[-2], 2),
    (QuantileOf(0.3, 0), lambda x: np.quantile(x, 0.3), 1),
    (QuantileOf(0.3, 2), lambda x: np.quantile(x, 0.3, method="higher"), 1),
    (SpreadOf(0.1, 0.8, 0, False), spread, 1),
    (SpreadOf(0.1, 0.8, 0, True), spread, 1),
    (Deviation(1.0), mad, 1),
    (TrimmedMean(0.2, False, 0), trimmed, 1),
    (MeanDifference(), gini, 2),
    (Distinct(), lambda x: len(np.unique(x)), 0),
    (Mode(), mode, 1),
]


def windows(rng, rows, n):
    start = np.sort(rng.integers(0, n + 1, rows))
    end = np.maximum.accumulate(np.minimum(start + rng.integers(0, 9, rows), n))
    for bound in (start, end):
        bound.flags.writeable = False
    return start, end


def run(reader, values, start, end, least, own=NO_ROWS, several=False):
    values.flags.writeable = False
    first, second = np.empty(len(start)), np.empty(len(start) if several else 0)
    marks, window = np.array([np.nan, -7.0]), np.empty(len(values) + 1)
    assert sorted_windows(reader, values, start, end, own, least, window, marks, first, second)
    return (first, second) if several else first


@pytest.mark.parametrize(
    ("reader", "expected", "least"), READERS, ids=lambda x: getattr(x, "__name__", str(x))
)
def test_readers_agree_with_each_window_alone(reader, expected, least, rng):
    for share in (0.0, 0.3):
        values = rng.integers(0, 6, 60) * 0.25
        values[rng.random(60) < share] = np.nan
        start, end = windows(rng, 80, 60)
        seen = [x[~np.isnan(x)] for x in map(lambda i, j: values[i:j], start, end)]
        wanted = [expected(x) if len(x) >= least else np.nan for x in seen]
        np.testing.assert_allclose(run(reader, values, start, end, least), wanted, 1e-13)


def test_positions_are_the_oldest_rows_of_their_rank(rng):
    values = rng.integers(0, 4, 60) * 1.0
    values[rng.random(60) < 0.3] = np.nan
    start, end = windows(rng, 80, 60)
    found = run(Position(2), values, start, end, 2)
    for row, i, j in zip(found, start, end):
        order = [k for k in i + np.argsort(values[i:j], kind="stable") if values[k] == values[k]]
        assert row == order[1] if len(order) > 1 else np.isnan(row)


@pytest.mark.parametrize("ascending", [True, False])
def test_ranks_of_the_last_row(ascending, rng):
    values = rng.integers(0, 4, 60) * 1.0
    values[::7] = np.nan
    start, end = windows(rng, 80, 60)
    found = run(RankOf(METHODS["average"], ascending, False), values, start, end, 1)
    for rank, i, j in zip(found, start, end):
        x = values[i:j]
        if i == j or np.isnan(x[-1]):
            assert np.isnan(rank)
        else:
            before = (x < x[-1]).sum() if ascending else (x > x[-1]).sum()
            assert rank == before + ((x == x[-1]).sum() + 1) / 2


def test_outliers_are_replaced_by_the_median(rng):
    values = rng.integers(0, 4, 60) * 1.0
    values[::7], values[::11] = np.nan, 90.0
    start, end = windows(rng, 60, 60)
    own = np.arange(60)
    own.flags.writeable = False
    cleaned, outlier = run(Outlier(2.0), values, start, end, 1, own, True)
    for i in range(60):
        x = values[start[i] : end[i]]
        x = x[~np.isnan(x)]
        if len(x) == 0 or np.isnan(values[i]):
            assert np.isnan(cleaned[i])
            assert outlier[i] == -7
        else:
            far = abs(values[i] - np.median(x)) > 2 * mad(x)
            assert (cleaned[i], outlier[i]) == (np.median(x) if far else values[i], far)


def test_a_mean_that_is_not_finite_is_left_to_another_way():
    values = np.array([1.0, np.inf, 2.0])
    values.flags.writeable = False
    bounds = np.array([0]), np.array([3])
    for bound in bounds:
        bound.flags.writeable = False
    marks, first = np.zeros(2), np.empty(1)
    assert not sorted_windows(
        TrimmedMean(0.0, False, 0), values, *bounds, NO_ROWS, 1, np.empty(4), marks, first, NOTHING
    )
