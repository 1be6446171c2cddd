"""Distances of integers from a median against exact arithmetic."""

from fractions import Fraction

import numpy as np
import pytest

from rollstat.kernels.rank_space.distances import integer_deviations, integer_distances
from tests.kernels.rank_space.test_mad_tree import find


def test_integer_deviations_are_exact_up_to_the_limits_of_the_dtype():
    top = 2**64 - 1
    for values in ([0, top], [0, 0, top, top], [top - 2, top - 1, top], [1, 4, 6, 2**63, 2**63 + 1]):
        array = np.array(values, np.uint64)
        found, _ = find(array, np.array([0]), np.array([len(array)]))
        result = np.zeros(1)
        integer_deviations(*found, result)
        twice = sorted(2 * v for v in values)
        center = (twice[(len(twice) - 1) // 2] + twice[len(twice) // 2]) // 2
        distances = sorted(abs(v - center) for v in twice)
        exact = distances[(len(twice) - 1) // 2] + distances[len(twice) // 2]
        assert result[0] == float(exact) / 4


@pytest.mark.parametrize("scale", [4, 2**53, 2**62, 2**64 - 9])
def test_integer_distances_from_the_median_are_rounded_once(scale):
    steps = [0, 1, 2, 3, 5, 8, scale // 2, scale // 2 + 1, scale, scale + 1, scale + 3, scale + 4]
    triples = [(key, low, high) for key in steps for low in steps for high in steps if low <= high]
    key, lower, upper = np.array(triples, np.uint64).T.copy()
    result = np.empty(len(triples))
    integer_distances(key, lower, upper, result)
    assert result.tolist() == [float(abs(key - Fraction(low + high, 2))) for key, low, high in triples]
