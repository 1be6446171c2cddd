"""Statistics read off a sorted array of any windows, compared with NumPy on each window."""

import bisect

import numpy as np
import pytest

from rollstat.kernels.rank_space.rank import METHODS
from rollstat.kernels.rank_space.sorted_windows import (
    Deviation,
    Distances,
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
    advance,
    check,
    insert,
    remove,
    replace,
    sorted_windows,
)
from tests.kernels.rank_space.test_mad_tree import find, series

NO_MASK = np.zeros(0, np.bool_)
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
    first, second = np.empty((2, len(start)))
    marks, window = np.array([np.nan, -7.0]), np.empty(len(values) + 1)
    results = (first, second) if several else (first,)
    assert sorted_windows(reader, values, NO_MASK, start, end, own, least, window, marks, results)
    return results if several else first


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
        TrimmedMean(0.0, False, 0), values, NO_MASK, *bounds, NO_ROWS, 1, np.empty(4), marks, (first,)
    )


def test_distances_equal_those_of_the_set_of_ranks(rng):
    def distances(values, missing, start, end):
        found, window = tuple(np.zeros((4, len(start)))), np.zeros(int((end - start).max()) + 1)
        arguments = values, missing, start, end, NO_ROWS, 1, window, np.zeros(4), found
        assert sorted_windows(Distances(), *arguments)
        return found

    for values in series(rng, 200):
        for m in (1, 4, 17):
            start = np.arange(200 - m + 1)
            found = distances(values, NO_MASK, start, start + m)
            assert np.array_equal(found, find(values, start, start + m)[0])
        missing = rng.random(200) < 0.2
        start = np.sort(rng.integers(0, 200, 90))
        end = np.maximum(start, np.minimum(np.sort(rng.integers(0, 201, 90)), start + 40))
        end = np.maximum.accumulate(end)
        found = distances(values, missing, start, end)
        assert np.array_equal(found, find(values, start, end, missing)[0])


def test_values_that_are_inserted_removed_and_replaced(rng):
    window, expected = np.zeros(40), []
    for _ in range(500):
        value = float(rng.integers(0, 20))
        if expected and (len(expected) == 40 or rng.random() < 0.4):
            old = expected.pop(int(rng.integers(len(expected))))
            if rng.random() < 0.5:
                replace(window, len(expected) + 1, old, value)
                bisect.insort(expected, value)
            else:
                remove(window, len(expected) + 1, old)
        else:
            insert(window, len(expected), value)
            bisect.insort(expected, value)
        assert check(window, len(expected))
        assert window[: len(expected)].tolist() == expected


def test_irregular_windows_and_missing_values(rng):
    values = rng.integers(0, 30, 300) * 1.0
    for missing in (np.zeros(0, np.bool_), rng.random(300) < 0.2):
        start = np.sort(rng.integers(0, 300, 200))
        end = np.maximum(start, np.sort(rng.integers(0, 301, 200)))
        window, count, left, right = np.zeros(301), 0, 0, 0
        for i in range(200):
            count = advance(values, missing, window, count, left, right, start[i], end[i])
            left, right = start[i], end[i]
            seen = values[left:right][~missing[left:right]] if len(missing) else values[left:right]
            assert window[:count].tolist() == sorted(seen)
