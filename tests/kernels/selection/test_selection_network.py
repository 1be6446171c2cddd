"""Networks over lanes against sorting every window."""

import itertools

import numpy as np
import pytest

from rollstat.compile.simd.register_networks import AT_RANK, LINEAR, MIDPOINT
from rollstat.kernels.selection.extended_image import Edges
from rollstat.kernels.selection.selection_network import (
    LaneScratch,
    run_box_in_registers,
    run_in_registers,
    run_network,
)
from rollstat.statistics.selection.networks import (
    register_network,
    selection_network,
)


def run(values, m, ranges, block, lanes, outputs, fractions, out):
    values.flags.writeable = False  # as the driver passes them
    network = selection_network(m, ranges, block)
    vector_lanes = 64 // values.itemsize
    stride = lanes + (network.reach // vector_lanes + 2) * vector_lanes
    scratch = LaneScratch(np.zeros(network.rows * stride, values.dtype), np.zeros(4 * lanes), lanes, stride)
    run_network(values, network, scratch, np.array(outputs), np.array(fractions, float), out)


def select(values, m, low, high, block, lanes):
    lower = np.zeros((high + 1 - low, len(values) - m + 1), values.dtype)
    outputs = [(i, AT_RANK) for i in range(len(lower))]
    run(values, m, ((low, high),), block, lanes, outputs, [0] * len(outputs), lower)
    return lower


@pytest.mark.parametrize(("m", "block"), [(1, 4), (2, 4), (3, 4), (5, 4), (12, 8), (25, 8), (40, 16)])
def test_against_sorted_windows(m, block):
    rng = np.random.default_rng(m)
    for rows in (1, 2, block, block + 1, 8 * block - 1, 8 * block, 8 * block + 1, 300):
        values = np.round(rng.standard_normal(rows + m - 1), 1)
        expected = np.sort(np.lib.stride_tricks.sliding_window_view(values, m), axis=1).T
        for low, high in ((0, 0), (0, min(1, m - 1)), (m // 2, m // 2), (m - 1, m - 1)):
            for lanes in (8, 24):
                np.testing.assert_array_equal(
                    select(values, m, low, high, block, lanes), expected[low : high + 1]
                )


def test_infinities_and_small_numbers():
    pool = np.array([-np.inf, np.inf, 0.0, 5e-324, -5e-324, 1.7e308, -1.7e308])
    values = np.random.default_rng(0).choice(pool, 500)
    expected = np.sort(np.lib.stride_tricks.sliding_window_view(values, 9), axis=1).T
    np.testing.assert_array_equal(select(values, 9, 0, 8, 4, 16), expected)


def test_kinds_of_output():
    values = np.random.default_rng(1).standard_normal(400)
    ranks = np.sort(np.lib.stride_tricks.sliding_window_view(values, 10), axis=1).T
    out = np.zeros((4, 391))
    outputs = [(0, LINEAR), (2, MIDPOINT), (1, AT_RANK), (0, AT_RANK)]
    run(values, 10, ((2, 3), (4, 5)), 4, 16, outputs, [0.3, 0, 0, 0], out)
    np.testing.assert_array_equal(out[0], ranks[2] + (ranks[3] - ranks[2]) * 0.3)
    np.testing.assert_array_equal(out[1], (ranks[4] + ranks[5]) / 2)
    np.testing.assert_array_equal(out[2:], ranks[[3, 2]])


def test_midpoint_of_numbers_whose_sum_overflows():
    largest = np.finfo(float).max
    lower = np.zeros((1, 3))
    values = np.array([largest, largest, -largest, np.inf])
    with np.errstate(over="ignore", invalid="ignore"):  # without compilation NumPy would warn
        run(values, 2, ((0, 1),), 4, 8, [(0, MIDPOINT)], [0], lower)
    np.testing.assert_array_equal(lower, [[largest, 0.0, np.inf]])


def run_compiled(values, m, ranges, outputs, fractions, dtype):
    """Run a compiled network over blocks of four windows; return whether it is done, and the outputs."""
    network = register_network(m, ranges, outputs, 4, 1000)
    group = network.group_rows(values.dtype)
    rest = np.full(3 * group, values[-1])
    left = values[max(len(values) // group - 1, 0) * group :]
    rest[: len(left)] = left
    out = np.full(len(outputs) * (len(values) - m + 1), 77, dtype)
    last = np.empty(2 * group * len(outputs), dtype)
    for array in (values, rest):
        array.flags.writeable = False
    done = run_in_registers(network, values, rest, np.array(fractions), out, last)
    return done, out.reshape(len(outputs), -1)


def cases_of_five():
    """Windows of every order of five values, and of two values, one after the other."""
    orders = list(itertools.permutations(range(5))) + list(itertools.product(range(2), repeat=5))
    return np.array(orders, float).ravel()


@pytest.mark.parametrize("length", [5, 36, 63, 64, 65, 95, 99, 100, 160, None])
def test_a_compiled_network_on_every_order_of_values_with_and_without_ties(length):
    values = cases_of_five()[:length].copy()
    values[values == 0] = np.where(np.arange((values == 0).sum()) % 2, 0.0, -0.0)
    ranks = np.sort(np.lib.stride_tricks.sliding_window_view(values, 5), axis=1).T
    outputs = ((0, AT_RANK), (0, LINEAR), (1, MIDPOINT), (2, AT_RANK))
    done, out = run_compiled(values, 5, ((2, 4),), outputs, [0.0, 0.2, 0.0, 0.0], np.float64)
    assert done
    np.testing.assert_array_equal(out[0], ranks[2])
    np.testing.assert_array_equal(out[1], ranks[2] + (ranks[3] - ranks[2]) * 0.2)
    np.testing.assert_array_equal(out[2], (ranks[3] + ranks[4]) * 0.5)
    np.testing.assert_array_equal(out[3], ranks[4])


def test_a_compiled_network_sees_nan_and_infinite_points_wherever_they_are():
    n, outputs = 9000, ((0, AT_RANK), (0, LINEAR), (1, MIDPOINT), (2, AT_RANK))
    for place in [*range(9), n // 2, *range(4085, 4110), *range(n - 40, n)]:
        for bad in (np.nan, np.inf):
            values = np.zeros(n)
            values[place] = bad
            if bad == np.inf:  # three in one window, so that it is among the ranks
                values[max(min(place, n - 3), 0) :][:3] = bad
            assert not run_compiled(values, 5, ((2, 4),), outputs, [0.0, 0.2, 0.0, 0.0], np.float64)[0]


@pytest.mark.parametrize("dtype", ["u1", "i8", "f4"])
def test_a_compiled_network_of_other_dtypes(dtype):
    limits = np.finfo(dtype) if dtype == "f4" else np.iinfo(dtype)
    pool = np.array([limits.min, limits.max, limits.max // 2, 0, 1, 5] + [np.inf] * (dtype == "f4"), dtype)
    values = np.random.default_rng(0).choice(pool, 2000)
    ranks = np.sort(np.lib.stride_tricks.sliding_window_view(values, 7), axis=1).T
    done, out = run_compiled(values, 7, ((3, 3),), ((0, AT_RANK),), [0.0], dtype)
    assert done
    np.testing.assert_array_equal(out[0], ranks[3])
    if dtype != "i8":
        target = np.dtype("f8" if dtype == "u1" else dtype)
        values = np.random.default_rng(1).integers(0, 200, 700).astype(dtype)
        ranks = np.sort(np.lib.stride_tricks.sliding_window_view(values, 6), axis=1).T
        below, above = ranks[2:4].astype(float)
        done, out = run_compiled(values, 6, ((2, 3),), ((0, LINEAR), (1, AT_RANK)), [0.3, 0.0], target)
        assert done
        np.testing.assert_array_equal(out, np.array([below + (above - below) * 0.3, above]).astype(target))


@pytest.mark.parametrize(("size", "block"), [((3, 3), 2), ((4, 5), 4)])
def test_boxes_in_registers(size, block):
    rng = np.random.default_rng(6)
    image = rng.choice([-np.inf, np.inf, -0.0, 0.0, 1.5, 2.5, -7.0], (11, 24))
    image.flags.writeable = False  # as the driver passes them
    low, high = 1, size[0] * size[1] // 2
    outputs = (0, AT_RANK), (1, AT_RANK)
    network = register_network(size[0], ((low, low), (high, high)), outputs, block, 10_000, size[1])
    assert register_network(size[0], ((low, low), (high, high)), outputs, block, 20, size[1]) is None
    edges = Edges(np.arange(11), np.arange(24), 0, 0.0)
    rows, columns = 12 - size[0], 25 - size[1]
    out, work = np.zeros((2, rows * columns)), np.empty((block + size[0] - 1) * 24)
    run_box_in_registers(network, block, image, edges, work, 24, columns, out)
    boxes = np.sort(np.lib.stride_tricks.sliding_window_view(image, size).reshape(rows * columns, -1), axis=1)
    np.testing.assert_array_equal(out, boxes[:, [low, high]].T)
