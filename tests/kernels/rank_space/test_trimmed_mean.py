"""Trimmed and winsorized means against SciPy, with the invariants of the trees checked."""

from fractions import Fraction

import numpy as np
import pytest
import scipy.stats

from rollstat.blocks import Block
from rollstat.kernels.rank_space.sorted_windows import TrimmedMean
from rollstat.kernels.rank_space.trimmed_mean import assign, check_sums, create, create_sums, trimmed_means
from rollstat.kernels.selection import rank_set
from rollstat.statistics.ranks.rank_space import read_sorted
from rollstat.statistics.selection.ranking import tied_ranks


def means(values, missing, start, end, proportion, winsorize):
    """Return the results of both kernels."""
    rank, ordered = tied_ranks(values, missing)
    result, small = np.zeros(len(start)), np.zeros(len(start))
    scratch = create(len(ordered))
    trimmed_means(rank, ordered, start, end, scratch, proportion, winsorize, result)
    sums, base, cursors = scratch.sums, scratch.base, scratch.cursors
    assert check_sums(sums, base)
    assert rank_set.check(scratch.window)
    kept = np.flatnonzero(sums[base : base + len(ordered)])
    assert ((kept >= cursors[0, 0]) & (kept < cursors[1, 0])).all()
    reader = TrimmedMean(proportion, winsorize, 0)
    read_sorted(Block(values, missing, start, end), lambda part: part, reader, 1, [small])
    return result, small


@pytest.mark.parametrize("winsorize", [False, True])
@pytest.mark.parametrize("proportion", [0.0, 0.1, 0.25, 0.499])
def test_both_kernels_agree_with_scipy(rng, proportion, winsorize):
    for values in (rng.standard_normal(200), rng.integers(0, 5, 200) + 0.5):
        missing = rng.random(200) < 0.2
        start = np.sort(rng.integers(0, 200, 120))
        end = np.maximum(start, np.sort(rng.integers(0, 201, 120)))
        results = means(values, missing, start, end, proportion, winsorize)
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


@pytest.mark.parametrize("ranks", [1, 8, 9, 600])
def test_sums_keep_the_bound_and_no_trace_of_removed_values(rng, ranks):
    sums, base = create_sums(ranks)
    values = np.zeros(ranks)
    levels = int(np.ceil(np.log(max(ranks, 8)) / np.log(8) - 1e-9))
    for _ in range(300):
        rank = int(rng.integers(ranks))
        value = float(rng.choice([0.0, rng.standard_normal(), 1e300, np.inf, np.nan]))
        assign(sums, base, rank, value)
        assert check_sums(sums, base)
        assign(sums, base, rank, 0.0)
        value = rng.standard_normal() * 10.0 ** rng.integers(-9, 9)
        assign(sums, base, rank, value)
        values[rank] = value
        assert check_sums(sums, base)
        exact = sum(map(Fraction, values))
        bound = 3 * levels * 2.0**-53 * float(sum(map(Fraction, np.abs(values)))) * (1 + 1e-12)
        assert abs(Fraction(float(sums[0])) - exact) <= bound
    sums[0] += 1e9
    assert not check_sums(sums, base)
