"""The greedy algorithm: right elements, the optimal number of combinations, few live values, linear time."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rollstat.kernels.aggregate import greedy, two_stacks
from rollstat.kernels.aggregate.window import TwoStacks, aggregate_windows
from tests.spans import STATE, counting_operator


def monotone(pairs):
    """Windows from steps of (left, right): each moves the bounds by at least nothing."""
    left = right = 0
    windows = []
    for left_step, width_step in pairs:
        left += left_step
        right = max(right + width_step, left)
        windows.append((left, right))
    return windows


windows_strategy = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 5)), max_size=60).map(monotone)


def plan(windows):
    """Combinations of each window, having executed them on spans of positions."""
    width = max((right - left for left, right in windows), default=1)
    header, top, below = greedy.create(width)
    mask = header[greedy.MASK]
    older, newer = np.empty(width, np.int64), np.empty(width, np.int64)
    cells = {}
    costs = []
    arrived = 0
    for left, right in windows:
        for position in range(max(left, arrived), right):
            cells[position & mask] = (position, position)
        arrived = max(arrived, right)
        count = greedy.plan_window(header, top, below, left, right, older, newer, 0)
        for i, j in zip(older[:count], newer[:count]):
            assert cells[i][1] + 1 == cells[j][0]
            cells[i] = cells[i][0], cells[j][1]
        assert greedy.check(header, top, below)
        if left < right:
            assert cells[left & mask] == (left, right - 1)
        costs.append(count)
    return costs, header


def fewest(windows, n):
    """Size of the smallest set of spans that has all windows, each the join of two others or of elements."""
    spans = [(i, j) for i in range(n) for j in range(i + 2, n + 1)]
    needed = {window for window in windows if window[1] - window[0] > 1}
    optional = [span for span in spans if span not in needed]
    for extra in range(len(optional) + 1):
        for chosen in combinations(optional, extra):
            known = needed | set(chosen)
            if all(
                any(
                    (k - i == 1 or (i, k) in known) and (j - k == 1 or (k, j) in known)
                    for k in range(i + 1, j)
                )
                for i, j in known
            ):
                return len(known)
    raise AssertionError


def all_sequences(n):
    """All monotone sequences of pairwise different windows over n elements."""
    windows = [(i, j) for i in range(n) for j in range(i + 1, n + 1)]

    def longer(sequence):
        yield sequence
        for window in windows:
            if not sequence or (window > sequence[-1] and window[1] >= sequence[-1][1]):
                yield from longer([*sequence, window])

    return longer([])


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
def test_optimal_on_all_instances(n):
    for windows in all_sequences(n):
        costs, _ = plan(windows)
        assert sum(costs) == fewest(windows, n), windows


def test_optimal_on_samples(rng):
    for n, number in [(6, 300), (7, 300)]:
        for _ in range(number):
            chosen = rng.integers(0, n + 1, (rng.integers(2, 2 * n), 2))
            starts, ends = np.sort(chosen.min(axis=1)), np.sort(chosen.max(axis=1))
            windows = [(int(i), int(j)) for i, j in zip(starts, ends)]
            costs, _ = plan(windows)
            assert sum(costs) == fewest(windows, n), windows


def test_example_of_the_paper():
    operator, counter = counting_operator()
    costs, _ = plan([(0, 3), (0, 4), (1, 4)])
    assert sum(costs) == 4
    assert run(operator, counter, [(0, 3), (0, 4), (1, 4)]) == 4


def run(operator, counter, windows):
    """Combinations that compiled code makes for the windows, having asserted the results."""
    start, end = np.array(windows, np.int64).reshape(-1, 2).T.copy()
    width = max((end - start).max(), 1)
    header, top, below = greedy.create(width)
    cells = np.zeros(len(top) // 2, STATE)
    plan_arrays = np.empty(width, np.int64), np.empty(width, np.int64)
    rows = len(start)
    out = np.full(rows, -1), np.full(rows, -1), np.zeros(rows, np.bool_)
    values, failed = np.arange(end[-1]), np.zeros(rows, np.bool_)
    before = counter[0]
    bounds = greedy.Windows(start, end, 1)
    greedy.fold_windows(operator, header, top, below, cells, *plan_arrays, values, bounds, out, failed)
    full = start < end
    np.testing.assert_array_equal(out[0][full], start[full])
    np.testing.assert_array_equal(out[1][full], end[full] - 1)
    assert out[2][full].all()
    return counter[0] - before


@given(windows_strategy)
def test_any_windows(windows):
    costs, header = plan(windows)
    previous = None
    for (left, right), cost in zip(windows, costs):
        assert cost <= max(right - left - 1, 0)
        if (left, right) == previous:
            assert cost == 0
        previous = left, right
    n = max((right for _, right in windows), default=0)
    different = [window for i, window in enumerate(windows) if i == 0 or window != windows[i - 1]]
    assert sum(costs) <= max(4 * n - 2, 0)
    # Each step of a descent walks along an edge of the trees, of which each combination makes two.
    assert header[greedy.STEPS] <= 2 * sum(costs) + len(different)


@given(windows_strategy.filter(bool))
def test_never_more_than_two_stacks(windows):
    operator, counter = counting_operator()
    least = run(operator, counter, windows)
    start, end = np.array(windows, np.int64).T.copy()
    header, cells = two_stacks.create(STATE, max((end - start).max(), 1))
    out = np.zeros(len(start), np.int64), np.zeros(len(start), np.int64), np.zeros(len(start), np.bool_)
    before = counter[0]
    failed = np.zeros(len(start), np.bool_)
    values = np.arange(end[-1])
    aggregate_windows(TwoStacks(), operator, header, cells, values, start, end, out, failed)
    assert least <= counter[0] - before


def test_plans_are_cut_at_whole_windows(rng):
    start = np.sort(rng.integers(0, 200, 300))
    end = np.maximum.accumulate(start + rng.integers(0, 12, 300))
    width = int((end - start).max())
    whole, cut = [], []
    for room, found in [(10000, whole), (width, cut)]:
        header, top, below = greedy.create(width)
        older, newer, stop = np.empty(room, np.int64), np.empty(room, np.int64), np.empty(300, np.int64)
        row = 0
        while row < len(start):
            row = greedy.plan_windows(header, top, below, start, end, row, older, newer, stop)
            found += zip(older[: stop[row - 1]].tolist(), newer[: stop[row - 1]].tolist())
    assert whole == cut


def test_check_sees_disorder():
    header, top, below = greedy.create(4)
    older, newer = np.empty(4, np.int64), np.empty(4, np.int64)
    greedy.plan_window(header, top, below, 0, 4, older, newer, 0)
    assert greedy.check(header, top, below)
    top[0] = 3
    assert not greedy.check(header, top, below)
