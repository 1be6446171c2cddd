"""Two indexed heaps as a stream: fixed windows, windows that grow and shrink, ranks of every kind."""

import ast
import os
import subprocess
import sys
from typing import ClassVar

import numpy as np
import pytest

from rollstat.compile.jit import kernel
from rollstat.kernels.selection import two_heaps
from rollstat.kernels.selection.two_heaps import CAPACITY, COUNT, HIGH, LOW, POSITION, PUSHED, ROWS
from tests.kernels.selection.invariants import linked_heaps

NONE_MISSING = np.empty(0, np.bool_)


@kernel
def extend(header, keys, links, new, missing, out, position):
    """Push all of `new`; write the answers to `out` and their rows to `position`, unless these are empty.

    `missing` marks the missing values, or is empty where there are none.
    """
    for i in range(len(new)):
        answer = two_heaps.push(header, keys, links, new[i], len(missing) > 0 and missing[i])
        if len(out) > 0:
            out[i] = answer
        if len(position) > 0:
            position[i] = header[two_heaps.POSITION]


def expected_pair(values, missing, rows, k, q):
    """The order statistic of the rows, its row and the next order statistic; None where there is none."""
    observed = sorted((values[j], j) for j in rows if not missing[j])
    if len(observed) < max(1, abs(k)):
        return None
    rank = int(q * (len(observed) - 1)) if k == 0 else (k - 1 if k > 0 else len(observed) + k)
    value, row = observed[rank]
    return value, row, observed[min(rank + 1, len(observed) - 1)][0]


def check_answer(state, got, expected, ties=True):
    header, keys, _ = state
    if expected is None:
        assert np.isnan(got)
        assert np.isnan(two_heaps.upper(header, keys))
        assert header[POSITION] == -1
    else:
        assert (got, two_heaps.upper(header, keys)) == (expected[0], expected[2])
        if ties:
            assert header[POSITION] == expected[1]


@pytest.mark.parametrize("missing_share", [0.0, 0.35])
@pytest.mark.parametrize("ties", [True, False])
def test_fixed_windows(rng, missing_share, ties):
    for m in (1, 2, 3, 4, 7, 12, 30):
        rules = [(k, 0.0) for k in {1, 2, (m + 1) // 2, m, -1, -m} if abs(k) <= m]
        for k, q in [*rules, (0, 0.0), (0, 0.3), (0, 0.5), (0, 1.0)]:
            n = 4 * m + 5
            values = rng.integers(0, 7, n).astype(float)
            missing = rng.random(n) < missing_share
            state = two_heaps.create(m, float, k=k, q=q, width=m, ties=ties)
            for i in range(n):
                got = two_heaps.push(*state, values[i], missing[i])
                assert linked_heaps(*state)
                rows = range(max(0, i - m + 1), i + 1)
                check_answer(state, got, expected_pair(values, missing, rows, k, q), ties)


@pytest.mark.parametrize(("k", "q"), [(0, 0.5), (0, 0.1), (2, 0.0), (-2, 0.0)])
def test_windows_that_grow_and_shrink(rng, k, q):
    n = 400
    values = rng.integers(0, 30, n).astype(float)
    missing = rng.random(n) < 0.2
    state = two_heaps.create(n, float, k=k, q=q)
    left = right = 0
    while right < n:
        if right - left > 0 and rng.random() < (0.3 if right < n // 2 else 0.6):
            number = min(int(rng.integers(0, 5)), right - left)
            left += number
            got = two_heaps.pop(*state, number)
        else:
            got = two_heaps.push(*state, values[right], missing[right])
            right += 1
        assert linked_heaps(*state)
        assert (state[0][ROWS], state[0][PUSHED]) == (right - left, right)
        check_answer(state, got, expected_pair(values, missing, range(left, right), k, q))


def test_a_full_window_of_varying_size_lets_go_of_the_oldest():
    state = two_heaps.create(3, float, k=1)
    assert [two_heaps.push(*state, value, False) for value in (1.0, 2.0, 3.0, 4.0)] == [1.0, 1.0, 1.0, 2.0]
    assert np.isnan(two_heaps.pop(*state, 9))
    assert state[0][COUNT] == 0
    assert two_heaps.push(*state, 5.0, False) == 5.0
    assert state[0][POSITION] == 4


def test_unwanted_ties_do_not_move():
    """Equal values are left in place where positions are not wanted, and go by row where they are."""
    for ties in (False, True):
        state = two_heaps.create(64, float, width=64, ties=ties)
        for _ in range(64):
            two_heaps.push(*state, 1.0, False)
        before = state[2].copy()
        two_heaps.push(*state, 1.0, False)
        assert np.array_equal(before, state[2]) != ties


def test_extend_is_push_and_a_copy_goes_on_alone(rng):
    values = rng.standard_normal(300)
    missing = rng.random(300) < 0.1
    pushed = two_heaps.create(20, float, width=20, min_periods=3)
    expected = [two_heaps.push(*pushed, value, bool(lost)) for value, lost in zip(values, missing)]
    extended = two_heaps.create(20, float, width=20, min_periods=3)
    out, position = np.empty(300), np.empty(300, np.int64)
    extend(*extended, values[:130], missing[:130], out[:130], position[:130])
    copy = tuple(array.copy() for array in extended)
    extend(*extended, values[130:], missing[130:], out[130:], position[130:])
    assert np.array_equal(out, expected, equal_nan=True)
    assert np.array_equal(position >= 0, ~np.isnan(out))
    assert np.array_equal(values[position[position >= 0]], out[position >= 0])
    again = np.empty(170)
    extend(*copy, values[130:], missing[130:], again, np.empty(0, np.int64))
    assert np.array_equal(again, out[130:], equal_nan=True)


def test_whole_numbers_beyond_floating_point(rng):
    top = np.iinfo(np.uint64).max
    values = top - rng.integers(0, 50, 60).astype(np.uint64)
    state = two_heaps.create(7, np.uint64, width=7, min_periods=7)
    out = np.ones(60, np.uint64)
    extend(*state, values, NONE_MISSING, out, np.empty(0, np.int64))
    assert (out[:6] == 0).all()
    assert out[6:].tolist() == [sorted(values[i : i + 7].tolist())[3] for i in range(54)]


def levels(size):
    """Levels of a heap of that size with four children a node."""
    count, room = 0, 0
    while room < size:
        room += 4**count
        count += 1
    return count


def written_places(state, values, missing):
    """Places of the heaps that each push writes; every one gets another row, so it shows."""
    header, keys, links = state
    both = 2 * int(header[CAPACITY])
    counts = []
    for value, lost in zip(values.tolist(), missing.tolist()):
        before = links[:both].copy()
        two_heaps.push(header, keys, links, value, lost)
        counts.append(int((links[:both] != before).sum()))
    return np.array(counts)


def hostile_series(m, n, rng):
    rows = np.arange(n, dtype=float)
    return {
        "normal": rng.standard_normal(n),
        "sorted": rows,
        "reversed": -rows,
        "alternating": np.resize([-1.0, 1.0], n) * (1 + rows),
        "saw-tooth": rows % (m // 2),
        "constant": np.zeros(n),
    }


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("kind", hostile_series(2, 2, np.random.default_rng(0)))
@pytest.mark.parametrize(("m", "n"), [(300, 2_000), pytest.param(100_000, 300, marks=pytest.mark.slow)])
def test_worst_push(rng, ties, kind, m, n):
    """A push writes each level of each heap at most once, less than 20 times what a median one does."""
    values = hostile_series(m, m + n, rng)[kind]
    state = two_heaps.create(m, float, width=m, ties=ties)
    extend(*state, values[:m], NONE_MISSING, np.empty(0), np.empty(0, np.int64))
    counts = written_places(state, values[m:], np.zeros(n, np.bool_))
    assert counts.max() <= 2 * levels(m // 2)
    assert counts.max() <= 20 * max(1, np.median(counts))


class Compared(float):
    """A number that notes with which other ones it is compared."""

    pairs: ClassVar[set] = set()

    def _note(self, other):
        self.pairs.add(frozenset((id(self), id(other))))

    def __lt__(self, other):
        self._note(other)
        return float(self) < float(other)

    def __gt__(self, other):
        self._note(other)
        return float(self) > float(other)

    def __eq__(self, other):
        self._note(other)
        return float(self) == float(other)

    __hash__ = None


def most_comparisons(m, n):
    """The most pairs of values that a push compares, where kernels run as Python, by rule of ties."""
    found = {}
    for ties in (False, True):
        most = 0
        for values in hostile_series(m, m + n, np.random.default_rng(1)).values():
            header, keys, links = two_heaps.create(m, float, width=m, ties=ties)
            state = header, np.array([Compared(x) for x in keys], object), links
            for x in values.tolist():
                Compared.pairs.clear()
                two_heaps.push(*state, Compared(x), False)
                most = max(most, len(Compared.pairs))
        found[ties] = most
    return found


def test_comparisons_of_the_worst_push():
    """At most five comparisons in each level of each heap, counted without the compiler."""
    m, n = 300, 700
    module = "tests.kernels.selection.test_two_heaps"
    code = f"from {module} import most_comparisons as most; print(most({m}, {n}))"
    run = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | {"NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    for most in ast.literal_eval(run.stdout).values():
        assert levels(m // 2) < most <= 5 * 2 * levels(m // 2)


def test_worst_push_with_missing_values(rng):
    """A row that is missing, or takes the place of one that was, also moves a top from heap to heap."""
    m, n = 300, 3_000
    for values in hostile_series(m, n, rng).values():
        state = two_heaps.create(m, float, width=m)
        counts = written_places(state, values, rng.random(n) < 0.4)
        assert linked_heaps(*state)
        assert counts.max() <= 3 * levels(m)


def test_check_sees_damage(rng):
    state = two_heaps.create(30, float, width=30)
    extend(*state, rng.standard_normal(80), NONE_MISSING, np.empty(0), np.empty(0, np.int64))
    header, keys, links = state
    assert header[LOW] == header[HIGH] == 15
    assert linked_heaps(*state)
    for array, place, value in ((header, COUNT, 29), (keys, 14, 9.0), (keys, 30, -9.0), (links, 3, 0)):
        kept = array[place]
        array[place] = value
        assert not linked_heaps(*state)
        array[place] = kept
    assert linked_heaps(*state)


def test_all_pairs_in_a_ring_of_seven():
    for newest in range(7):
        rows = [(slot - newest - 1) % 7 for slot in range(7)]
        for slot in range(7):
            for other in range(7):
                assert two_heaps.is_older(slot, other, newest) == (rows[slot] < rows[other])
