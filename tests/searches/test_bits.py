"""A short part of the search for results that are promised to be bit-for-bit equal."""

import numpy as np
import pytest

import rollstat
from rollstat.registry import REGISTRY
from tests.fuzz import bits

EXACT = [name for name in REGISTRY if REGISTRY[name].exact]


@pytest.mark.parametrize("name", EXACT)
@pytest.mark.filterwarnings("ignore::rollstat.PrecisionWarning")
def test_all_ways_return_the_same_bits(name):
    rng, statistic = np.random.default_rng([20261125, EXACT.index(name)]), REGISTRY[name]
    compared = 0
    for _ in range(6):
        note = {}
        compared += bits.compare(rng, note, statistic, np.dtype("f8" if "f" in statistic.kinds else "?"), 700)
    assert compared


@pytest.mark.parametrize("algorithm", ["auto", "network", "sorted_window", "rank_set"])
@pytest.mark.parametrize("rows", [40, 4000])
def test_distances_of_zeros_have_no_sign(algorithm, rows):
    zeros = np.random.default_rng(5).choice([0.0, -0.0], rows)
    for width in (2, 3, 20):
        assert not np.signbit(rollstat.rolling_mad(zeros, width, algorithm=algorithm)[width:]).any()
        stream = rollstat.RollingMad(width)
        assert not np.signbit([stream.push(zero) for zero in zeros[:40].tolist()][width:]).any()
    for function in (rollstat.rolling_ptp, rollstat.rolling_iqr, rollstat.rolling_gini, rollstat.rolling_std):
        assert not np.signbit(function(zeros, 5)[5:]).any()
