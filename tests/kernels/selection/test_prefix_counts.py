"""Counts of a few levels against sorted windows."""

import numpy as np
import pytest

from rollstat.kernels.selection.prefix_counts import are_levels, select_few


@pytest.mark.parametrize("levels", [[3.0], [0.0, 1.0], [-np.inf, -1.0, 0.0, 5.0, np.inf]])
@pytest.mark.parametrize("width", [1, 2, 7, 50])
def test_every_rank(levels, width):
    levels = np.array(levels)
    values = np.random.default_rng(width).choice(levels, 200)
    expected = np.sort(np.lib.stride_tricks.sliding_window_view(values, width), axis=1)
    counts = np.zeros(len(values) + 1, np.int32)
    for target in range(width):
        lower, upper = np.full((2, len(expected)), np.nan)
        want_upper = target + 1 < width
        select_few(values, levels, width, target, want_upper, counts, lower, upper if want_upper else lower)
        np.testing.assert_array_equal(lower, expected[:, target])
        if want_upper:
            np.testing.assert_array_equal(upper, expected[:, target + 1])


def test_levels_are_all_values():
    values = np.tile([1.0, 2.0], 5000)
    assert are_levels(values, np.array([1.0, 2.0]))
    assert are_levels(values, np.array([0.0, 1.0, 2.0]))
    assert not are_levels(values, np.array([1.0, 3.0]))
    values[-1] = 7.0
    assert not are_levels(values, np.array([1.0, 2.0]))
