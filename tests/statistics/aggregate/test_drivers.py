"""All algorithms agree with brute force, for every built-in operator, dtype and shape of windows."""

import math
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rollstat
from rollstat import operators as ops
from rollstat.blocks import Block
from rollstat.kernels.aggregate import greedy
from rollstat.statistics.aggregate.drivers import (
    ALGORITHMS,
    AggregateOverflow,
    aggregate,
    block_rows,
    prepare,
)
from tests.operators.builtin import BUILTIN, PAIRS, same
from tests.spans import counting_operator

NAMES = list(ALGORITHMS)
bounds_strategy = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 6)), min_size=1, max_size=40)


def compute(operator, block, algorithm="auto", wanted=1, dtypes=None):
    """Results of one block, as a tuple with one array for each output."""
    given_dtypes = [series.dtype for series in (block.values, *block.others)]
    if block.values.ndim > 1:
        given_dtypes = [np.dtype((block.values.dtype, block.values.shape[1:]))]
    ready, layout = prepare(operator, given_dtypes)
    results = [
        np.zeros((block.rows, *output.shape), dtype or output.base)
        for output, dtype in zip(layout.outputs, dtypes or [None] * len(layout.outputs))
    ]
    aggregate(block, ready, layout, results, algorithm, wanted)
    return results


def bounds_of(steps, length):
    """Monotone bounds within `length` rows, from how far each moves."""
    left = right = 0
    start, end = [], []
    for left_step, right_step in steps:
        left = min(left + left_step, length)
        right = min(max(right + right_step, left), length)
        start.append(left)
        end.append(right)
    return np.array(start, np.int64), np.array(end, np.int64)


def as_columns(samples):
    if isinstance(samples[0], tuple):
        return tuple(np.array(column, float) for column in zip(*samples))
    return (np.array(samples),)


def random_bounds(rng, length):
    return bounds_of(zip(rng.integers(0, 3, length), rng.integers(0, 4, length)), length)


def check(operator, meaning, samples, columns, start, end, missing, algorithm, width=0):
    block = Block(columns[0], missing, start, end, width, columns[1:])
    results = compute(operator, block, algorithm)
    for i in range(len(start)):
        kept = [samples[k] for k in range(start[i], end[i]) if missing is None or not missing[k]]
        if kept:
            row = tuple(result[i] for result in results)
            wanted = meaning(kept)
            assert same(row if isinstance(wanted, tuple) else row[0], wanted), (i, kept)


def identity(value):
    """Name a parameter the same in every process; a function's text holds its address."""
    return None if callable(value) else repr(value)[:30]


@pytest.mark.parametrize(("operator", "samples", "meaning"), BUILTIN, ids=identity)
def test_builtin_operators(operator, samples, meaning, rng):
    samples = [samples[k] for k in rng.integers(0, len(samples), 24)]
    if "Product" in type(operator).__name__:
        samples = [x if isinstance(x, tuple) or abs(x) < 8 else 1 for x in samples]
    columns = as_columns(samples)
    if type(operator).__name__.startswith("Unsigned"):
        columns = (columns[0].astype(np.uint64),)
    missing = rng.random(24) < 0.3
    start, end = random_bounds(rng, 24)
    check(operator, meaning, samples, columns, start, end, missing, "auto")


TRAVELLED = [
    (ops.AffineMap(), PAIRS, BUILTIN[[type(row[0]) for row in BUILTIN].index(ops.AffineMap)][2]),
    (ops.Last(), [3.0, 1.0, 2.0, 5.0], lambda v: v[-1]),
    (ops.First(), [3.0, 1.0, 2.0, 5.0], lambda v: v[0]),
]


@pytest.mark.parametrize("algorithm", NAMES)
@pytest.mark.parametrize(("operator", "samples", "meaning"), TRAVELLED, ids=identity)
@given(steps=bounds_strategy, gaps=st.lists(st.booleans(), min_size=20, max_size=20), some=st.booleans())
def test_operators_that_do_not_commute(algorithm, operator, samples, meaning, steps, gaps, some):
    samples = [samples[(k * k) % len(samples)] for k in range(20)]
    columns = as_columns(samples)
    start, end = bounds_of(steps, 20)
    missing = np.array(gaps) if some else None
    check(operator, meaning, samples, columns, start, end, missing, algorithm)


@pytest.mark.parametrize("algorithm", NAMES)
def test_fixed_windows_of_every_width(algorithm, rng):
    values = rng.standard_normal(30)
    for width in range(1, 31):
        rows = np.arange(31 - width)
        (result,) = compute(ops.Maximum(), Block(values, None, rows, rows + width, width), algorithm)
        windows = np.lib.stride_tricks.sliding_window_view(values, width)
        np.testing.assert_array_equal(result, windows.max(axis=1))


@pytest.mark.parametrize("algorithm", NAMES)
def test_matrices(algorithm, rng):
    values = rng.standard_normal((15, 2, 2))
    start, end = random_bounds(rng, 15)
    (result,) = compute(ops.MatrixProduct(), Block(values, None, start, end), algorithm)
    for i in np.flatnonzero(start < end):
        wanted = np.eye(2)
        for matrix in values[start[i] : end[i]]:
            wanted = wanted @ matrix
        np.testing.assert_allclose(result[i], wanted, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("dtype", ["f8", "f4", "i8", "i4", "u8", "u1"])
def test_dtypes(dtype, rng):
    values = rng.integers(0, 100, 40).astype(dtype)
    rows = np.arange(36)
    block = Block(values, None, rows, rows + 5, 5)
    windows = np.lib.stride_tricks.sliding_window_view(values, 5)
    (smallest,) = compute(ops.Minimum(), block, dtypes=[np.dtype(dtype)])
    np.testing.assert_array_equal(smallest, windows.min(axis=1))
    (total,) = compute(ops.Sum(), block)
    np.testing.assert_array_equal(total, windows.astype(object).sum(axis=1).astype(total.dtype))
    (positions,) = compute(ops.ArgMinimum(), block)
    np.testing.assert_array_equal(positions, rows + windows.argmin(axis=1))


@pytest.mark.parametrize("algorithm", NAMES)
def test_overflow_names_the_first_row_that_is_wanted(algorithm):
    values = np.array([1, 2**62, 2**62, -5, 2**62, 2**62], np.int64)
    rows = np.arange(5)
    with pytest.raises(AggregateOverflow, match="IntegerSum of the window of row 1 does not fit int64"):
        compute(ops.Sum(), Block(values, None, rows, rows + 2, 2), algorithm)
    # 2**62 + 2**62 is out of reach, but with -5 it is not, wherever the window is split.
    rows = np.arange(4)
    (total,) = compute(ops.Sum(), Block(values, None, rows[1:2], rows[1:2] + 3), algorithm)
    assert total[0] == 2**63 - 5
    missing = np.array([False, False, False, True, True, True])
    start, end = np.array([0, 1, 1]), np.array([2, 3, 6])
    # No window has three observations, so no sum is wanted, and the one out of reach is no error.
    compute(ops.Sum(), Block(values, missing, start, end), algorithm, wanted=3)


def test_windows_without_observations():
    values = np.array([1.0, np.nan, 3.0])
    block = Block(values, np.isnan(values), np.array([0, 1, 2, 3]), np.array([1, 2, 3, 3]))
    np.testing.assert_array_equal(compute(ops.Sum(), block, wanted=0)[0], [1.0, 0.0, 3.0, 0.0])
    np.testing.assert_array_equal(compute(ops.Count(), block, wanted=0)[0], [1, 0, 1, 0])
    slopes, offsets = compute(
        ops.AffineMap(), Block(values, np.isnan(values), block.start, block.end, 0, (values,)), wanted=0
    )
    np.testing.assert_array_equal(slopes, [1.0, 1.0, 3.0, 1.0])
    np.testing.assert_array_equal(offsets, [1.0, 0.0, 3.0, 0.0])
    all_missing = Block(values, np.ones(3, np.bool_), block.start, block.end)
    assert compute(ops.Minimum(), all_missing)[0].shape == (4,)
    none = np.empty(0, np.int64)
    assert compute(ops.Minimum(), Block(values, None, none, none))[0].shape == (0,)


def test_a_huge_value_leaves_no_trace():
    values = np.array([1.0, 1e16, np.inf, np.nan, 1.0, 2.0, 3.0])
    start = np.arange(5)
    block = Block(values, np.isnan(values), start, start + 3)
    (total,) = compute(ops.Sum(), block)
    assert total[4] == 6.0
    (variance,) = compute(ops.Variance(), block)
    assert variance[4] == 1.0


def shifted(amount):
    class Shifted(NamedTuple):
        """Sums of shifted values; a class of this name exists more than once."""

        scale: float

        def lift(self, x):
            return x * self.scale + amount

        def combine(self, older, newer):
            return older + newer

    return Shifted(2.0)


@pytest.mark.parametrize("algorithm", ["operator_scan", "greedy"])
def test_operators_of_users(algorithm, rng):
    values = rng.integers(0, 9, 20).astype(float)
    start, end = random_bounds(rng, 20)
    block = Block(values, None, start, end)
    full = start < end
    sums = np.array([values[i:j].sum() for i, j in zip(start, end)])
    count = end - start
    for amount in (0.0, 1.0):
        (result,) = compute(shifted(amount), block, algorithm)
        np.testing.assert_array_equal(result[full], (2 * sums + amount * count)[full])
    operator = ops.function_operator(lambda a, b: (a[0] + b[0], max(a[1], b[1])), lift=lambda x: (x, x))
    totals, largest = compute(operator, block, algorithm)
    np.testing.assert_array_equal(totals[full], sums[full])
    np.testing.assert_array_equal(largest[full], [values[i:j].max() for i, j in zip(start[full], end[full])])


@pytest.mark.parametrize("algorithm", ["operator_scan", "two_stacks"])
def test_methods_that_make_arrays(algorithm):
    def combine(older, newer):
        both = np.empty(2)
        both[0], both[1] = older, newer
        return both.max()

    def join(older, newer):
        return older[0] + newer[0], older[1] + newer[1]

    values = np.array([3.0, 1.0, 2.0, 5.0, 4.0])
    rows = np.arange(3)
    block = Block(values, None, rows, rows + 3, 3)
    (largest,) = compute(ops.function_operator(combine), block, algorithm)
    np.testing.assert_array_equal(largest, [3.0, 5.0, 5.0])
    counted = ops.function_operator(join, lift=lambda x: (1, np.array([x, x * x])))
    count, powers = compute(counted, block, algorithm)
    np.testing.assert_array_equal(count, [3, 3, 3])
    np.testing.assert_array_equal(powers, [[6, 14], [8, 30], [11, 45]])


def test_states_of_changing_shape_are_an_error():
    def join(older, newer):
        total = older[0] + newer[0]
        return np.full(1 if total < 3.0 else 2, total)

    values = np.array([1.0, 1.0, 1.0, 1.0])
    block = Block(values, None, np.arange(2), np.arange(2) + 3, 3)
    with pytest.raises(ValueError, match="shape"):
        compute(ops.function_operator(join, lift=lambda x: np.array([x])), block)


def test_numbers_of_series():
    rows = np.arange(2)
    with pytest.raises(ValueError, match="Covariance takes 2 series"):
        compute(ops.Covariance(), Block(np.ones(3), None, rows, rows + 2, 2))


@pytest.mark.parametrize("width", [1, 2, 1000, 10**6])
def test_blocks_hold_whole_windows(width):
    rows = block_rows(width)
    assert rows % width == 0
    assert 8 * width <= rows <= max(8 * width, 1.5 * 2**16)


def test_floating_sums_are_exact_to_one_rounding(rng):
    values = np.full(4096, 0.1)
    rows = np.arange(4096 - 1000 + 1)
    for algorithm in NAMES:
        (total,) = compute(ops.Sum(), Block(values, None, rows, rows + 1000, 1000), algorithm)
        np.testing.assert_allclose(total, math.fsum([0.1] * 1000), rtol=2.0**-52)


@pytest.mark.parametrize("algorithm", ["auto", *NAMES])
def test_empty_windows_are_missing_without_an_identity(algorithm):
    values = np.array([np.nan, 5.0, 2.0, 7.0])
    bounds = np.array([0, 0, 1, 2, 4]), np.array([0, 1, 1, 4, 4])
    result = rollstat.rolling_aggregate(values, ops.Maximum(), bounds, min_periods=0, algorithm=algorithm)
    np.testing.assert_array_equal(result, [np.nan, np.nan, np.nan, 7.0, np.nan])


def planned(start, end):
    """The fewest combinations for these windows, from one plan for all of them."""
    header, top, below = greedy.create(int((end - start).max()))
    older, newer = np.empty((2, 4 * int(end[-1])), np.int64)
    stop = np.empty(len(start), np.int64)
    rows = greedy.plan_windows(header, top, below, start, end, 0, older, newer, stop)
    assert rows == len(start)
    return int(stop[-1])


@pytest.mark.parametrize("kind", ["rows", "times", "bounds"])
def test_greedy_makes_the_fewest_combinations_in_a_public_call(kind, rng):
    """The plan goes on over what other algorithms compute block by block, with any number of threads."""
    n, width = 132_000, 10_000
    operator, counter = counting_operator()
    if kind == "rows":
        start = np.arange(n - width + 1)
        window, end, options = width, start + width, {}
    elif kind == "times":
        times = np.cumsum(rng.integers(1, 9, n))
        start, end = np.searchsorted(times, times - 20_000, side="right"), np.arange(1, n + 1)
        window, options = 20_000, {"times": times}
    else:
        start = np.sort(rng.integers(0, n - width, n))
        end = np.minimum(np.maximum.accumulate(start + rng.integers(0, width, n)), n)
        window, options = (start, end), {"min_periods": 0}
        start, end = start[start < end], end[start < end]
    values = np.arange(n)
    rollstat.rolling_aggregate(values[:1], operator, 1, check=False)
    to_find_dtypes = int(counter[0])
    for threads in (1, 2):
        counter[:] = -to_find_dtypes
        first, last, sound = rollstat.rolling_aggregate(
            values, operator, window, check=False, algorithm="greedy", threads=threads, **options
        )
        assert counter[0] == planned(start, end)
        rows = ~np.isnan(first)
        assert sound[rows].all()
        np.testing.assert_array_equal(first[rows], start)
        np.testing.assert_array_equal(last[rows], end - 1)


def test_strings_are_objects():
    texts = ["a", "b", "c"]
    for given_texts in (texts, np.array(texts), np.array(texts, object)):
        result = rollstat.rolling_aggregate(given_texts, lambda older, newer: older + newer, 2)
        assert result.tolist() == [None, "ab", "bc"]


def test_operators_of_several_columns(rng):
    x, y = rng.integers(-3, 4, (2, 40)).astype(float)
    y[7] = np.nan
    slope, offset = rollstat.rolling_aggregate((x, y), ops.AffineMap(), 3, min_periods=2)
    for i in range(2, 40):
        rows = [k for k in range(i - 2, i + 1) if k != 7]
        a, b = 1.0, 0.0
        for k in rows:
            a, b = x[k] * a, x[k] * b + y[k]
        assert (slope[i], offset[i]) == (a, b)
    np.testing.assert_allclose(
        rollstat.rolling_aggregate((x[:6], y[:6]), ops.Covariance(), 4), rollstat.rolling_cov(x[:6], y[:6], 4)
    )
    for wrong in (x, (x,), (x, y, y), [x, y]):
        with pytest.raises(TypeError, match="arr must be a tuple of 2 arrays"):
            rollstat.rolling_aggregate(wrong, ops.AffineMap(), 3)
    with pytest.raises(ValueError, match=r"arr\[1\] must have the shape of arr\[0\]"):
        rollstat.rolling_aggregate((x, y[:5]), ops.AffineMap(), 3)


@pytest.mark.parametrize("algorithm", ["auto", "greedy"])
def test_products_of_matrices(algorithm, rng):
    matrices = rng.integers(-2, 3, (20, 2, 2)).astype(float)
    matrices[9, 0, 1] = np.nan
    result = rollstat.rolling_aggregate(matrices, ops.MatrixProduct(), 3, min_periods=2, algorithm=algorithm)
    assert np.isnan(result[0]).all()
    for i in range(1, 20):
        wanted = np.eye(2)
        for k in range(max(i - 2, 0), i + 1):
            wanted = wanted if k == 9 else wanted @ matrices[k]
        np.testing.assert_array_equal(result[i], wanted)
    with pytest.raises(TypeError, match="numbers in 3 dimensions, the rows first"):
        rollstat.rolling_aggregate(matrices[:, 0, 0], ops.MatrixProduct(), 3)
    assert "operator_scan" in str(
        rollstat.explain(rollstat.rolling_aggregate, matrices, ops.MatrixProduct(), 3)
    )


def test_complex_sums_and_products(rng):
    values = rng.integers(-3, 4, 30) + 1j * rng.integers(-3, 4, 30)
    values[4] = complex(np.nan, 1)
    total = rollstat.rolling_aggregate(values, ops.Sum(), 3, min_periods=1)
    product = rollstat.rolling_aggregate(values.tolist(), ops.Product(), 3, min_periods=3)
    for i in range(30):
        rows = [k for k in range(max(i - 2, 0), i + 1) if k != 4]
        assert total[i] == sum(values[rows])
        assert product[i] == np.prod(values[rows]) if len(rows) == 3 else np.isnan(product[i])
    with pytest.raises(TypeError, match="supported by Sum and Product; got the operator Maximum"):
        rollstat.rolling_aggregate(values, ops.Maximum(), 3)


def test_rows_are_counted_from_the_start_of_the_line(rng):
    values = rng.normal(size=140_000)
    found = rollstat.rolling_aggregate(values, ops.ArgMinimum(), 3)
    np.testing.assert_array_equal(found[2:], rollstat.rolling_argmin(values, 3)[2:])
    lines = rng.normal(size=(4, 30))
    found = rollstat.rolling_aggregate(lines, ops.ArgMinimum(), 3)
    np.testing.assert_array_equal(found[:, 2:], rollstat.rolling_argmin(lines, 3)[:, 2:])


def test_masks_and_layouts_of_matrices_and_complex_numbers(rng):
    matrices = rng.integers(-2, 3, (20, 2, 2)).astype(float)
    mask = np.zeros(matrices.shape, bool)
    mask[9, 1, 0] = True
    gaps = np.where(mask, np.nan, matrices)
    wanted = rollstat.rolling_aggregate(gaps, ops.MatrixProduct(), 3)
    masked = rollstat.rolling_aggregate(np.ma.MaskedArray(matrices, mask), ops.MatrixProduct(), 3)
    np.testing.assert_array_equal(np.ma.getmaskarray(masked), np.isnan(wanted))
    np.testing.assert_array_equal(masked.data[~masked.mask], wanted[~np.isnan(wanted)])
    for other in (gaps.astype(">f8"), np.asfortranarray(gaps), np.repeat(gaps, 2, axis=0)[::2]):
        np.testing.assert_array_equal(rollstat.rolling_aggregate(other, ops.MatrixProduct(), 3), wanted)
    values = rng.integers(-3, 4, 30) + 1j * rng.integers(-3, 4, 30)
    hidden = rng.random(30) < 0.2
    wanted = rollstat.rolling_aggregate(np.where(hidden, np.nan, values), ops.Sum(), 3, min_periods=1)
    found = rollstat.rolling_aggregate(np.ma.MaskedArray(values, hidden), ops.Sum(), 3, min_periods=1)
    np.testing.assert_array_equal(np.ma.getmaskarray(found), np.isnan(wanted))
    np.testing.assert_array_equal(found.data[~found.mask], wanted[~np.isnan(wanted)])
    with pytest.raises(ValueError, match="out does not apply to complex numbers"):
        rollstat.rolling_aggregate(values, ops.Sum(), 3, out=values)
