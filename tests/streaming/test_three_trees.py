"""Order statistics by three trees: what two heaps give, in O(log k) steps a push, whatever is missing."""

import numpy as np
import pytest

import rollstat
from rollstat.kernels.selection import three_trees
from tests.kernels.selection.test_three_trees import STEPS_A_LEVEL

WINDOW = 9
MEDIAN = [(rollstat.RollingMedian, (WINDOW,))]
QUANTILES = [
    (rollstat.RollingQuantile, (WINDOW, q, interpolation))
    for q, interpolation in [
        (0.0, "linear"),
        (0.05, "linear"),
        (0.3, "lower"),
        (0.5, "higher"),
        (0.7, "nearest"),
        (0.9, "midpoint"),
        (1.0, "linear"),
    ]
]
RANKS = [(rollstat.RollingArgkth, (k, WINDOW)) for k in (1, 3, 5, 9, -1, -4, -9)]


def pair_of(cls, arguments, **options):
    return (cls(*arguments, **options, algorithm=name) for name in ("three_trees", "two_heaps"))


@pytest.mark.parametrize(("cls", "arguments"), [*MEDIAN, *QUANTILES, *RANKS])
@pytest.mark.parametrize("min_periods", [None, 0, 1, 4])
@pytest.mark.parametrize("dtype", ["f8", "f4", "i8", "u8", "?", "M8[s]", "m8[ns]"])
def test_trees_answer_what_heaps_answer(cls, arguments, min_periods, dtype, rng):
    values = rng.integers(0, 2 if dtype == "?" else 12, 150).astype(dtype)
    given = values if values.dtype.kind in "mM" else values.tolist()
    # Stretches without a missing value, with a few, and with nothing else.
    missing = rng.random(150) < np.repeat([0.0, 0.3, 1.0, 0.6, 0.0], 30)
    trees, heaps = pair_of(cls, arguments, min_periods=min_periods, dtype=dtype)
    for i in range(150):
        x = None if missing[i] else given[i]
        assert repr(trees.push(x)) == repr(heaps.push(x))
        if i == 70:
            trees = rollstat.restore(trees.snapshot())
        if i == 100:
            trees, other = trees.copy(), trees
            other.push(None)
            assert repr(trees.value) == repr(heaps.value)
    np.testing.assert_array_equal(trees.extend(values[:4]), heaps.extend(values[:4]))
    np.testing.assert_array_equal(trees.extend(values), heaps.extend(values))
    assert repr(trees.push(given[0])) == repr(heaps.push(given[0]))


@pytest.mark.parametrize("m", [1, 2, 3, 64, 65])
@pytest.mark.parametrize("q", [0.5, 0.1, 0.99, 1 - 2.0**-53, 2.0**-60])
def test_every_number_of_observations(m, q, rng):
    """The rank of a quantile moves with the number of observations; the trees hold it for every number."""
    trees, heaps = pair_of(rollstat.RollingQuantile, (m, q), min_periods=1)
    for present in [*range(m + 1), *range(m, -1, -1)]:
        gone = rng.permutation(m) >= present
        for x in np.where(gone, np.nan, rng.integers(0, 50, m)).tolist():
            assert repr(trees.push(x)) == repr(heaps.push(x))


@pytest.mark.parametrize("missing", [0.0, 0.4])
@pytest.mark.parametrize("share", [0.0, 0.001, 0.01, 0.5, 0.99, 1.0])
@pytest.mark.parametrize("shape", ["random", "sorted", "reversed", "alternating", "saw"])
def test_steps_of_a_quantile_do_not_depend_on_the_window(shape, share, missing, rng):
    rows = np.arange(5_000.0)
    values = {
        "random": rng.random(5_000),
        "sorted": rows,
        "reversed": -rows,
        "alternating": rows * np.where(rows % 2, 1, -1),
        "saw": rows % 700,
    }[shape]
    values[rng.random(5_000) < missing] = np.nan
    stream = rollstat.RollingQuantile(2_000, share, min_periods=1, algorithm="three_trees")
    header, k = stream._window.representation.arrays[0], round(min(share, 1 - share) * 1_999) + 2
    assert header[three_trees.CAPACITY] in (k - 1, k, k + 1)
    most = 0
    for x in values.tolist():
        stream.push(x)
        most = max(most, int(header[three_trees.STEPS]))
    # One look-up more than the k-th smallest takes: that of the next order statistic.
    assert most <= 1.25 * STEPS_A_LEVEL * (1 + np.log2(k))


@pytest.mark.parametrize("window", [3.0, None, rollstat.Expanding()])
@pytest.mark.parametrize(("cls", "leading"), [(rollstat.RollingMedian, ()), (rollstat.RollingArgkth, (1,))])
def test_other_windows_are_rejected(cls, leading, window):
    with pytest.raises(ValueError, match="'three_trees' supports only windows of a fixed number of rows"):
        cls(*leading, window, algorithm="three_trees")


def test_unknown_algorithms_are_rejected():
    with pytest.raises(ValueError, match="'two_heaps', 'three_trees'"):
        rollstat.RollingMedian(3, algorithm="wedge")
