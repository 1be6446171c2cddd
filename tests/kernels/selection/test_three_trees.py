"""Three trees: brute force, the reduction of the paper, and the steps that a push may take."""

from math import log2

import numpy as np
import pytest

from rollstat.compile.jit import kernel
from rollstat.kernels.selection import three_trees
from rollstat.kernels.selection.three_trees import COUNT, POSITION, STEPS
from tests.kernels.selection.invariants import smallest_in_trees

NONE_MISSING = np.empty(0, np.bool_)
NO_POSITIONS = np.empty(0, np.int64)

# The worst update takes at most this many steps a level, for all k and m; 52 is the largest ever counted.
STEPS_A_LEVEL = 56


def answer(values, missing, i, k, m):
    """Value and row of the k-th smallest of the window that ends with row i, or None."""
    rows = [j for j in range(max(0, i - m + 1), i + 1) if not missing[j]]
    if len(rows) < abs(k):
        return None
    row = sorted(rows, key=lambda j: (values[j], j))[k - 1 if k > 0 else k]
    return values[row], row


@pytest.mark.parametrize("missing_share", [0.0, 0.35])
def test_every_k_and_m_against_sorting(rng, missing_share):
    for m in range(1, 13):
        for k in [*range(1, m + 1), *range(-m, 0)]:
            n = 5 * m + 3
            values = rng.integers(0, 6, n).astype(float)
            missing = rng.random(n) < missing_share
            state = three_trees.create(k, m, float)
            for i in range(n):
                got = three_trees.push(*state, values[i], missing[i])
                assert smallest_in_trees(*state)
                assert state[0][COUNT] == np.count_nonzero(~missing[max(0, i - m + 1) : i + 1])
                expected = answer(values, missing, i, k, m)
                if expected is None:
                    assert np.isnan(got)
                    assert state[0][POSITION] == -1
                else:
                    assert (got, state[0][POSITION]) == expected


@pytest.mark.parametrize(
    ("k", "m"), [(1, 1000), (37, 999), (-37, 1000), (500, 1000), (501, 1001), (700, 1001)]
)
@pytest.mark.parametrize("shape", ["random", "few", "walk", "missing"])
def test_large_windows(rng, k, m, shape):
    n = 4 * m + 17
    values = rng.standard_normal(n)
    if shape == "few":
        values = np.floor(values)
    if shape == "walk":
        values = np.cumsum(values)
    missing = rng.random(n) < 0.3 if shape == "missing" else np.zeros(n, np.bool_)
    values[missing] = np.nan
    state = three_trees.create(k, m, float)
    out, position = np.empty(n), np.empty(n, np.int64)
    three_trees.extend(*state, values, missing, out, position)
    assert smallest_in_trees(*state)
    for i in [*range(m - 2, n, 101), n - 1]:
        expected = answer(values, missing, i, k, m)
        if expected is None:
            assert np.isnan(out[i])
            assert position[i] == -1
        else:
            assert (out[i], position[i]) == expected


def test_whole_numbers_beyond_floating_point(rng):
    top = np.iinfo(np.uint64).max
    values = top - rng.integers(0, 5, 60).astype(np.uint64)
    out, position = np.ones(60, np.uint64), np.zeros(60, np.int64)
    for k in (2, -2, 6):
        state = three_trees.create(k, 7, np.uint64, 7)
        three_trees.extend(*state, values, NONE_MISSING, out, position)
        assert (out[:6] == 0).all()
        for i in range(6, 60):
            expected = answer(values.tolist(), np.zeros(60, np.bool_), i, k, 7)
            assert (int(out[i]), position[i]) == expected


def test_min_periods_and_what_is_answered_before():
    state, none = three_trees.create(1, 4, float, 3), np.nan
    got = [three_trees.push(*state, value, value == 2.0) for value in (5.0, 2.0, 7.0, 6.0, 2.0, 2.0, 2.0)]
    np.testing.assert_array_equal(got, [none, none, none, 5.0, none, none, none])


def test_infinities_and_signed_zeros():
    values = np.array([np.inf, -0.0, 0.0, -np.inf, 0.0, -0.0, np.inf, -np.inf])
    out, position = np.empty(8), np.empty(8, np.int64)
    for k in (1, 2, 3, -1, -2):
        three_trees.extend(*three_trees.create(k, 3, float), values, NONE_MISSING, out, position)
        for i in range(2, 8):
            assert (out[i], position[i]) == answer(values, np.zeros(8, np.bool_), i, k, 3)


def test_a_copied_state_goes_on_alone(rng):
    values = rng.standard_normal(200)
    whole = np.empty(200)
    state = three_trees.create(4, 13, float)
    three_trees.extend(*state, values, NONE_MISSING, whole, NO_POSITIONS)
    state = three_trees.create(4, 13, float)
    first, second, again = np.empty(90), np.empty(110), np.empty(110)
    three_trees.extend(*state, values[:90], NONE_MISSING, first, NO_POSITIONS)
    copy = tuple(array.copy() for array in state)
    three_trees.extend(*state, values[90:], NONE_MISSING, second, NO_POSITIONS)
    three_trees.extend(*copy, values[90:], NONE_MISSING, again, NO_POSITIONS)
    assert np.array_equal(whole, np.concatenate([first, second]), equal_nan=True)
    assert np.array_equal(second, again)


@pytest.mark.parametrize(("k", "m"), [(1, 2), (1, 9), (4, 9), (5, 10), (8, 40), (100, 250)])
def test_the_reduction_sorts_piecewise(rng, k, m):
    """Algorithm 2 of the paper: blocks of k, each above the one before, come out sorted."""
    n = 7 * k
    values = rng.permutation(n).astype(float)
    padded = np.concatenate(
        [np.full(k - 1, -np.inf), values + n * (np.arange(n) // k), np.full(m - k, np.inf)]
    )
    out = np.empty(len(padded))
    three_trees.extend(*three_trees.create(k, m, float), padded, NONE_MISSING, out, NO_POSITIONS)
    found = out[m - 1 :] - n * (np.arange(n) // k)
    assert np.array_equal(found.reshape(-1, k), np.sort(values.reshape(-1, k), axis=1))


@kernel
def most_steps(header, links, values, new):
    """Push all of `new`; the steps of the worst push."""
    most = 0
    for i in range(len(new)):
        three_trees.push(header, links, values, new[i], False)
        most = max(most, header[STEPS])
    return most


@pytest.mark.slow
@pytest.mark.parametrize("k", [1, 2, 3, -2])
def test_steps_do_not_depend_on_the_window(rng, k):
    """A tree of all rows of the window would take three times as many steps."""
    m = 200_000
    rows = np.arange(2.5 * m)
    for new in (rng.random(len(rows)), rows, -rows, rows * np.where(rows % 2, 1, -1), rows % 1000):
        assert most_steps(*three_trees.create(k, m, float), new) <= 64


@pytest.mark.slow
@pytest.mark.parametrize("shape", ["random", "sorted", "reversed", "alternating", "saw-tooth", "constant"])
def test_no_push_takes_more_than_log_k_steps(rng, shape):
    for k in (1, 2, 3, 8, 64, 1000, 4096):
        for m in (2 * k, 2 * k + 1, 16 * k + 1):
            n = 3 * m + 500
            rows = np.arange(float(n))
            new = {
                "random": rng.random(n),
                "sorted": rows,
                "reversed": -rows,
                "alternating": rows * np.where(rows % 2, 1, -1),
                "saw-tooth": rows % max(2, m // 2),
                "constant": np.zeros(n),
            }[shape]
            for sign in (1, -1):
                state = three_trees.create(sign * k, m, float)
                assert most_steps(*state, new) <= STEPS_A_LEVEL * (1 + log2(k))


def test_memory_is_linear_in_m():
    for m in (10, 1000, 100_000):
        state = three_trees.create(m // 2, m, float)
        assert sum(array.nbytes for array in state) <= 41 * m + 5000


@pytest.mark.parametrize("k", [0, 6, -6])
def test_k_outside_the_window_is_rejected(k):
    with pytest.raises(ValueError, match=r"k must be in 1\.\.5"):
        three_trees.create(k, 5, float)


def test_check_sees_damage(rng):
    state = three_trees.create(3, 8, float)
    three_trees.extend(*state, rng.standard_normal(20), NONE_MISSING, np.empty(0), NO_POSITIONS)
    assert smallest_in_trees(*state)
    state[0][COUNT] -= 1
    assert not smallest_in_trees(*state)
    state[0][COUNT] += 1
    state[2][4:] = state[2][4:][::-1].copy()
    assert not smallest_in_trees(*state)
