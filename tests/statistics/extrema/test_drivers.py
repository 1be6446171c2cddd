"""Every extrema algorithm against brute force, over one block."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rollstat
from rollstat.blocks import UNKNOWN, Block
from rollstat.kernels.comparator import Greatest, Least, Newest, Oldest
from rollstat.kernels.extrema import wedge as wedges
from rollstat.statistics.extrema import drivers
from rollstat.statistics.extrema.drivers import Extremum
from tests.arrays import read_only

ALGORITHMS = [drivers.block_scan, drivers.wedge]
FIXED = [*ALGORITHMS, drivers.doubling]


@dataclass
class Extrema:
    """Outputs of one block; those that are None are not wanted."""

    minimum: Any = None
    maximum: Any = None
    minimum_position: Any = None
    maximum_position: Any = None
    last: bool = False
    opposite: bool = False

    def wanted(self):
        """Return the outputs as drivers take them."""
        rules = [Newest() if rule else Oldest() for rule in (self.last, self.last != self.opposite)]
        every = [Extremum(Least(), self.minimum), Extremum(Greatest(), self.maximum)]
        every += [Extremum(Least(), self.minimum_position, rules[0])]
        every += [Extremum(Greatest(), self.maximum_position, rules[1])]
        return [each for each in every if each.out is not None]


def expected(values, missing, start, end, last):
    """Return extrema and positions of every window by brute force; None without an observation."""
    answers = []
    for left, right in zip(start, end):
        rows = [j for j in range(left, right) if not missing[j]]
        if not rows:
            answers.append((None, None, -1, -1))
            continue
        low, high = min(values[j] for j in rows), max(values[j] for j in rows)
        lows, highs = ([j for j in rows if values[j] == x] for x in (low, high))
        answers.append((low, high, lows[-1 if last else 0], highs[-1 if last else 0]))
    return answers


def assert_right(algorithm, values, missing, start, end, width=0, last=False, mask=None):
    """The block gets `mask`; `missing` says which values are missing."""
    wanted, other = (expected(values, missing, start, end, rule) for rule in (last, not last))
    for opposite in (False, True):
        block = Block(read_only(values), mask, start, end, width)
        rows = len(start)
        low, high = np.empty((2, rows), values.dtype)
        positions = np.empty((2, rows), np.int64)
        algorithm(block, Extrema(low, high, *positions, last=last, opposite=opposite).wanted())
        for i, (smallest, largest, first, second) in enumerate(wanted):
            if smallest is not None:
                assert tuple(positions[:, i]) == (first, other[i][3] if opposite else second)
                assert low[i] == smallest
                assert high[i] == largest
    return block


def assert_same_positions(found, wanted):
    """Where there is an observation; `wanted` says where."""
    for name in ("minimum_position", "maximum_position"):
        answered = getattr(wanted, name) >= 0
        np.testing.assert_array_equal(getattr(found, name)[answered], getattr(wanted, name)[answered])


def monotone_bounds(rng, rows, length):
    start = np.sort(rng.integers(0, length + 1, rows))
    end = np.maximum(np.sort(rng.integers(0, length + 1, rows)), start)
    return start, end


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("dtype", [np.float64, np.int8, np.uint64])
@pytest.mark.parametrize("last", [False, True])
def test_any_bounds(algorithm, dtype, last, rng):
    for length in (1, 2, 7, 40):
        for _ in range(6):
            values = rng.integers(0, 6, length).astype(dtype)
            if dtype is np.uint64:
                values = np.uint64(2**64 - 1) - values
            start, end = monotone_bounds(rng, 30, length)
            nothing = np.zeros(length, bool)
            assert_right(algorithm, values, nothing, start, end, last=last)
            mask = rng.random(length) < 0.4
            assert_right(algorithm, values, mask, start, end, last=last, mask=mask)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@given(
    values=st.lists(st.sampled_from([np.nan, np.inf, -np.inf, 0.0, -0.0, 5e-324, 1.0, 2.0]), max_size=30),
    bounds=st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30)), max_size=12),
    last=st.booleans(),
)
def test_special_values(algorithm, values, bounds, last):
    values = np.array(values, np.float64)
    start = np.minimum(np.sort([left for left, _ in bounds]), len(values)).astype(np.int64)
    end = np.minimum(np.sort([right for _, right in bounds]), len(values)).astype(np.int64)
    end = np.maximum(start, end)
    missing = np.isnan(values)
    block = assert_right(algorithm, values, missing, start, end, last=last, mask=UNKNOWN)
    if not missing.any():
        assert block.missing is None
    assert_right(algorithm, values, missing, start, end, last=last, mask=missing)


@pytest.mark.parametrize("algorithm", FIXED)
def test_only_what_is_wanted_is_written(algorithm, rng):
    values = rng.standard_normal(50)
    start = np.arange(46)
    whole = Extrema(*np.empty((2, 46)), *np.empty((2, 46), np.int64))
    algorithm(Block(read_only(values), None, start, start + 5, 5), whole.wanted())
    for name in ("minimum", "maximum", "minimum_position", "maximum_position"):
        out = np.empty_like(getattr(whole, name))
        algorithm(Block(read_only(values), None, start, start + 5, 5), Extrema(**{name: out}).wanted())
        np.testing.assert_array_equal(out, getattr(whole, name))


@pytest.mark.parametrize(
    "dtype",
    [np.float64, np.uint8, *(pytest.param(dtype, marks=pytest.mark.long) for dtype in (np.int8, np.uint64))],
)
def test_doubling_at_every_width(dtype, rng):
    """Every remainder of widths and rows by the lanes of a vector, and several levels of totals."""
    for length in (1, 5, 64, 100, 1000):
        values = (rng.standard_normal(length) * 40).astype(np.int64).astype(dtype)
        mask = rng.random(length) < 0.5
        widths = range(1, length + 1) if length <= 100 else [*range(100, 300, 7), 511, 512, 600, 999, 1000]
        for width in widths:
            for given_mask in (None, mask):
                found = Extrema(*np.empty((2, length - width + 1), dtype))
                wanted = Extrema(*np.empty((2, length - width + 1), dtype))
                drivers.doubling(Block.regular(read_only(values), given_mask, width), found.wanted())
                drivers.block_scan(Block.regular(read_only(values), given_mask, width), wanted.wanted())
                np.testing.assert_array_equal(found.minimum, wanted.minimum)
                np.testing.assert_array_equal(found.maximum, wanted.maximum)


def test_doubling_in_several_chunks(rng):
    values = rng.standard_normal(60_000)
    values[rng.random(60_000) < 0.05] = np.nan
    for width in (8, 1234, 20_000):
        found = Extrema(*np.empty((2, 60_001 - width)), *np.empty((2, 60_001 - width), np.int64))
        wanted = Extrema(*np.empty((2, 60_001 - width)), *np.empty((2, 60_001 - width), np.int64))
        block = Block.regular(read_only(values), UNKNOWN, width)
        assert not drivers.automatic(block, found.wanted()).complete
        assert not block.searched
        drivers.wedge(Block.regular(read_only(values), UNKNOWN, width), wanted.wanted())
        answered = wanted.minimum_position >= 0
        for name in ("minimum", "maximum"):
            for kind in (name, f"{name}_position"):
                left, right = getattr(found, kind)[answered], getattr(wanted, kind)[answered]
                np.testing.assert_array_equal(left, right)


@given(
    values=st.lists(
        st.sampled_from([np.nan, np.inf, -np.inf, 0.0, -0.0, 5e-324, 1.0, 2.0]), min_size=1, max_size=60
    ),
    width=st.integers(1, 60),
    last=st.booleans(),
)
def test_doubling_of_special_values(values, width, last):
    values = np.array(values, np.float64)
    width = min(width, len(values))
    start = np.arange(len(values) - width + 1)
    missing = np.isnan(values)
    for mask in (UNKNOWN, missing):
        assert_right(drivers.doubling, values, missing, start, start + width, width, last, mask)


def test_envelope_like_a_time_warping_library(rng):
    from tslearn.metrics import lb_envelope

    for length, radius in [(1, 1), (2, 5), (30, 1), (30, 14), (30, 15), (30, 40), (500, 100)]:
        series = rng.standard_normal(length)
        low, high = rollstat.lower_upper_envelope(series, radius)
        lower, upper = lb_envelope(series, radius)
        np.testing.assert_array_equal(low, lower[:, 0])
        np.testing.assert_array_equal(high, upper[:, 0])


def test_envelope_of_no_radius_and_of_nothing():
    for envelope in rollstat.lower_upper_envelope(np.array([1.0, np.nan]), 0):
        np.testing.assert_array_equal(envelope, [1.0, np.nan])
    for envelope in rollstat.lower_upper_envelope(np.empty(0), 3):
        assert envelope.shape == (0,)


@pytest.mark.parametrize("last", [False, True])
def test_positions_at_every_width(last, rng):
    for length in (1, 40, 200):
        values = rng.integers(-2, 3, length).astype(np.int8)
        values[length // 3 : length // 2] = 0
        mask = rng.random(length) < 0.5
        mask[length // 2 :][:30] = True
        for width in range(1, length + 1, 1 if length <= 40 else 13):
            for given_mask in (None, mask):
                found = Extrema(None, None, *np.empty((2, length - width + 1), np.int64), last)
                wanted = Extrema(None, None, *np.empty((2, length - width + 1), np.int64), last)
                drivers.doubling(Block.regular(read_only(values), given_mask, width), found.wanted())
                drivers.block_scan(Block.regular(read_only(values), given_mask, width), wanted.wanted())
                assert_same_positions(found, wanted)


@pytest.mark.parametrize("last", [False, True])
def test_positions_on_data_with_a_trend(last):
    """Rising, falling and level runs, longer and shorter than a vector, with ties and gaps."""
    steps = np.repeat([1, 0, -1, 0, 1, -1, 1, -1], [60, 20, 90, 40, 7, 9, 3, 3])
    values = np.cumsum(np.concatenate([steps, -steps, steps])).astype(np.float64)
    gaps = values.copy()
    gaps[np.arange(len(gaps)) % 37 < 2] = np.nan
    for series in (values, gaps, np.repeat(values, 2)[: len(values)]):
        for width in (1, 2, 3, 5, 32, 33, 40, 64, 150):
            rows = len(series) - width + 1
            found = Extrema(None, None, *np.empty((2, rows), np.int64), last)
            wanted = Extrema(None, None, *np.empty((2, rows), np.int64), last)
            drivers.doubling(Block.regular(read_only(series), UNKNOWN, width), found.wanted())
            drivers.wedge(Block.regular(read_only(series), UNKNOWN, width), wanted.wanted())
            assert_same_positions(found, wanted)


@pytest.fixture
def headers(monkeypatch):
    """The headers of all wedges that are created."""
    headers, create = [], wedges.create

    def created(*arguments, **options):
        state = create(*arguments, **options)
        headers.append(state[0])
        return state

    monkeypatch.setattr(wedges, "create", created)
    return headers


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["rows", "times"])
def test_a_wedge_sees_each_value_once_in_a_public_call(kind, rng, headers):
    """At most three comparisons a value, over what other algorithms compute block by block."""
    n, width = 1_200_000, 100_000
    values, create = rng.random(n), wedges.create
    if kind == "rows":
        low, high = rollstat.rolling_minmax(values, width, algorithm="wedge", threads=2, min_periods=1)
    else:
        low, high = rollstat.rolling_minmax(
            values, float(width), times=np.arange(n), algorithm="wedge", threads=2
        )
    (header,) = headers
    state = create(width, np.float64)
    none = np.empty(0, np.int64)
    found, end = np.empty((2, n)), np.arange(1, n + 1)
    wedges.fill(*state[:3], values, none.astype(bool), np.maximum(end - width, 0), end, *found, none, none)
    assert header[wedges.COMPARISONS] == state[0][wedges.COMPARISONS] <= 3 * (n - 1)
    np.testing.assert_array_equal([low, high], found)


@pytest.mark.slow
@pytest.mark.parametrize("shape", ["random", "ties", "rising", "falling", "zigzag"])
@pytest.mark.parametrize("options", [{}, {"relative_to": "newest"}, {"times": np.arange(1_200_000)}])
def test_one_wedge_finds_both_positions(shape, options, rng, headers):
    """At most three comparisons a value in a public call, over several blocks of other algorithms."""
    n, width = 1_200_000, 100_000
    rows = np.arange(n)
    values = {
        "random": rng.random(n),
        "ties": rng.integers(0, 3, n),
        "rising": rows // 2,
        "falling": -(rows // 2),
        "zigzag": np.where(rows % 2, rows, -rows),
    }[shape].astype(np.float64)
    window, own = float(width) if "times" in options else width, {"min_periods": 1, **options}
    found = rollstat.rolling_argminmax(values, window, "opposite", algorithm="wedge", **own, threads=2)
    (header,) = headers
    assert 0 < header[wedges.COMPARISONS] <= 3 * (n - 1)
    np.testing.assert_array_equal(found[0], rollstat.rolling_argmin(values, window, ties="first", **own))
    np.testing.assert_array_equal(found[1], rollstat.rolling_argmax(values, window, ties="last", **own))


@pytest.mark.parametrize("width", [7, 300])
def test_rows_with_too_few_observations_across_cached_parts(rng, width):
    values = rng.integers(-3, 4, 2 * drivers._MARKED_ROWS + 1000).astype(float)
    values[rng.random(len(values)) < 0.4] = np.nan
    values[drivers._MARKED_ROWS - 5 : drivers._MARKED_ROWS + width] = np.nan
    least = round(0.6 * width)
    found = rollstat.rolling_minmax(values, width, min_periods=least, mode="valid", threads=1)
    windows = np.lib.stride_tricks.sliding_window_view(values, width)
    rows = slice(drivers._MARKED_ROWS - 400, drivers._MARKED_ROWS + 400)
    few = np.isfinite(windows[rows]).sum(axis=1) < least
    assert few.any()
    assert not few.all()
    for result, best in zip(found, (np.fmin, np.fmax)):
        wanted = np.where(few, np.nan, best.reduce(windows[rows], axis=1))
        np.testing.assert_array_equal(result[rows], wanted)
