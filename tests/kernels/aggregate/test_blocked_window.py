"""Blocked windows: the right elements in the right order, few combinations in every step."""

from itertools import pairwise

import numpy as np
import pytest

from rollstat.kernels.aggregate.blocked_window import (
    COUNT,
    HALF,
    HAS_PREFIX,
    LAST,
    NEXT_LAST,
    SHIFT,
    UNBUILT,
    block_length,
)
from rollstat.kernels.aggregate.window import FIRST, NEXT
from rollstat.operators.layout import Layout
from rollstat.streaming.windows.blocked import BlockedWindow
from tests.spans import STATE, counting_operator

WINDOWS = [*range(1, 18), 31, 64, 100]
N = 500
# Combinations of a row and its result; of a block that the window starts to drop, and of one that ends.
A_ROW, A_BLOCK = 4, 3 + 4
algorithms = pytest.mark.parametrize("algorithm", ["daba", "two_stacks"])
windows = pytest.mark.parametrize("rows", WINDOWS)


def make(rows, algorithm):
    operator, counter = counting_operator()
    outputs = tuple(STATE[name] for name in STATE.names)
    return BlockedWindow(operator, Layout(STATE, outputs, False), np.int64(0), algorithm, rows), counter


def marks(rng, share):
    """Return which rows are missing; some of them are contiguous."""
    missing = rng.random(N) < share
    missing[120:330] |= share > 0
    return missing


def expected(elements, missing, rows, i):
    """Return what the window of row `i` spans, or None."""
    held = elements[max(i - rows + 1, 0) : i + 1][~missing[max(i - rows + 1, 0) : i + 1]]
    return (held[0], held[-1], True) if len(held) else None


@algorithms
@windows
@pytest.mark.parametrize("share", [0.0, 0.3, 0.97])
def test_every_row(rows, algorithm, share, rng):
    missing = marks(rng, share)
    elements = np.cumsum(~missing)  # positions among the observations
    window, counter = make(rows, algorithm)
    for i in range(N):
        before = int(counter[0])
        size = window.push(None, i, elements[i], not missing[i])
        assert algorithm == "two_stacks" or counter[0] - before <= A_ROW + A_BLOCK * (rows > 1)
        wanted = expected(elements, missing, rows, i)
        assert (window.result() if size else None) == wanted
        window.header[NEXT] = i + 1
        assert size == (~missing[max(i - rows + 1, 0) : i + 1]).sum()
        assert wanted is None or window.value() == wanted
    block = block_length(rows)
    assert counter[0] <= (2 * A_ROW + 2 * A_BLOCK / block) * N


@algorithms
@windows
@pytest.mark.parametrize("share", [0.0, 0.3])
def test_rows_are_loaded(rows, algorithm, share, rng):
    missing = marks(rng, share)
    elements = np.cumsum(~missing)
    for end in sorted({0, 1, rows // 2, rows, rows + 1, *rng.integers(rows, N - 80, 12).tolist()}):
        window, counter = make(rows, algorithm)
        for i in range(rng.integers(0, 30)):  # earlier contents must not matter
            window.push(None, i, i)
        first, before = max(end - rows, 0), int(counter[0])
        window.load(first, elements[first:end], missing[first:end])
        blocks = rows // block_length(rows) + 2
        assert counter[0] - before <= end - first + 2 * block_length(rows) + 4 * blocks
        wanted = expected(elements, missing, rows, end - 1)
        assert window.size == (~missing[first:end]).sum()
        assert wanted is None or window.value() == wanted
        for i in range(end, end + 80):
            size = window.push(None, i, elements[i], not missing[i])
            assert (window.result() if size else None) == expected(elements, missing, rows, i)


@algorithms
@windows
@pytest.mark.parametrize("share", [0.0, 0.3, 0.97])
def test_rows_in_parts(rows, algorithm, share, rng):
    missing = marks(rng, share)
    elements = np.cumsum(~missing)
    window, counter = make(rows, algorithm)
    cuts = [0, *sorted(rng.integers(0, N, 4).tolist()), N]
    for first, last in pairwise(cuts):
        part = slice(first, last)
        written = window.extend(np.arange(first, last), None, elements[part], missing[part], 2)
        for i in range(first, last):
            wanted = expected(elements, missing, rows, i)
            few = (~missing[max(i - rows + 1, 0) : i + 1]).sum() < 2
            assert written.insufficient[i - first] == few
            assert few or tuple(array[i - first] for array in written.arrays) == wanted
    assert counter[0] <= (A_ROW + (A_BLOCK + 1) / block_length(rows)) * N


@algorithms
def test_a_state_that_does_not_fit_is_refused(algorithm):
    window, _ = make(20, algorithm)
    for i in range(50):
        window.push(None, i, i)
    window.header[NEXT] = 50
    whole = [array.copy() for array in window.state]
    other = make(20, algorithm)[0]
    other.adopt([array.copy() for array in whole])
    assert other.push(None, 50, 50) == 20
    assert other.result() == (31, 50, True)
    refused = [whole[:3], [whole[0], whole[1][:-1], *whole[2:]], [*whole[:4], whole[4].astype(np.float64)]]
    refused.append([whole[0], np.zeros(len(whole[1])), *whole[2:]])
    bad = {COUNT: 21, SHIFT: 9, UNBUILT: 5, HALF: 2, LAST: 4, NEXT_LAST: 4, HAS_PREFIX: 2, FIRST: 1, NEXT: -1}
    for slot, value in [*bad.items(), (0, -1), (1, 10**6), (UNBUILT, -1), (LAST, -2), (COUNT, -1)]:
        header = whole[0].copy()
        header[slot] = value
        refused.append([header, *whole[1:]])
    for arrays in refused:
        with pytest.raises(ValueError, match="its arrays do not fit"):
            other.adopt(arrays)
    with pytest.raises(ValueError, match="its arrays do not fit"):
        make(40, algorithm)[0].adopt(whole)
