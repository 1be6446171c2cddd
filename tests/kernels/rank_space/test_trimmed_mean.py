"""Means of what is kept against SciPy, with the tree checked, and moves of the cursors counted."""

import numpy as np
import pytest
import scipy.stats

from rollstat.algorithms.ranking import tied_ranks
from rollstat.kernels.rank_space import bitset_tree, sum_tree
from rollstat.kernels.rank_space.trimmed_mean import follow_small_trimmed, follow_trimmed


def follow(values, missing, start, end, proportion, winsorize):
    """Run both kernels, and return both results."""
    rank, ordered = tied_ranks(values, missing)
    result, small = np.zeros(len(start)), np.zeros(len(start))
    sums, base = sum_tree.create(len(ordered))
    words, counts = bitset_tree.create(len(ordered))
    held, cursors = np.zeros(len(ordered), np.int64), np.zeros((2, 2), np.int64)
    state = (held, words, counts, cursors, sums, base)
    follow_trimmed(rank, ordered, start, end, *state, proportion, winsorize, result)
    assert sum_tree.check(sums, base)
    assert bitset_tree.check(words, counts)
    kept = np.flatnonzero(sums[base : base + len(ordered)])
    assert ((kept >= cursors[0, 0]) & (kept < cursors[1, 0])).all()
    window = np.zeros(int((end - start).max()) + 1)
    follow_small_trimmed(values, missing, start, end, window, proportion, winsorize, small)
    return result, small


@pytest.mark.parametrize("winsorize", [False, True])
@pytest.mark.parametrize("proportion", [0.0, 0.1, 0.25, 0.499])
def test_both_kernels_are_scipy(rng, proportion, winsorize):
    for values in (rng.standard_normal(200), rng.integers(0, 5, 200) + 0.5):
        missing = rng.random(200) < 0.2
        start = np.sort(rng.integers(0, 200, 120))
        end = np.maximum(start, np.sort(rng.integers(0, 201, 120)))
        results = follow(values, missing, start, end, proportion, winsorize)
        for i in range(120):
            seen = values[start[i] : end[i]][~missing[start[i] : end[i]]]
            if len(seen) == 0:
                continue
            if winsorize:
                wanted = scipy.stats.mstats.winsorize(seen, (proportion, proportion)).mean()
            else:
                wanted = scipy.stats.trim_mean(seen, proportion)
            for result in results:
                assert result[i] == pytest.approx(wanted, rel=1e-13, abs=1e-13)
