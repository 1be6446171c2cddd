"""Results from carried and combined states equal those of the array functions over all rows."""

import itertools

import numba
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rollstat
import rollstat.operators as operators
from rollstat import snapshots
from rollstat.registry import REGISTRY
from rollstat.spark.aggregates import CallWindow, SparkCall, evaluate
from rollstat.spark.expanding import counts_rows, initial_state, why_no_state
from tests.streaming.cases import SUMS
from tests.test_contract import CASES, equal, taken

WINDOW = CallWindow(rollstat.Expanding(), {})
OPERATORS = [operators.Sum(), operators.First(), operators.ArgMinimum()]
KINDS = [
    *(
        case
        for case in CASES
        if case.values[0].name != "aggregate" and not why_no_state(case.values[0].name, {})
    ),
    pytest.param(REGISTRY["kth"], {"k": [2, -3, 1]}, id="kth-several"),
    pytest.param(REGISTRY["argkth"], {"k": [-1, 4]}, id="argkth-several"),
    *(
        pytest.param(REGISTRY["aggregate"], {"operator": op}, id=f"aggregate-{type(op).__name__}")
        for op in OPERATORS
    ),
]
# Each dtype compiles the kernels of an operator once more; `nox -s spark` tests all dtypes of all operators.
OPERATOR_DTYPES = {"f4": {"var"}, "i8": {"sum", "var", "cov", "aggregate"}, "b1": {"sum", "any"}}


def is_long(statistic, dtype):
    """Return whether a case is of an operator and a dtype that are left to longer runs."""
    name = statistic.name
    operator = name in SUMS or name == "aggregate"
    return operator and name not in OPERATOR_DTYPES.get(dtype.str[1:], (name,))


def in_ranges(call, columns, options, cuts):
    """Return the results of consecutive ranges of rows from one state."""
    state = initial_state(call, [column.dtype for column in columns], options)
    return [state.advance([column[a:b] for column in columns]) for a, b in itertools.pairwise(cuts)]


def in_buckets(call, columns, options, cuts):
    """Return the results of each range from the combined state of the ranges before it."""
    dtypes = [column.dtype for column in columns]
    total, results = initial_state(call, dtypes, options), []
    for a, b in itertools.pairwise(cuts):
        rows = [column[a:b] for column in columns]
        start = initial_state(call, dtypes, options)
        start.load([array.copy() for array in total.arrays])
        results.append(start.advance(rows))
        own = initial_state(call, dtypes, options)
        own.first_row = a
        own.skip(rows)
        total.combine(own)
    return results


@pytest.mark.parametrize(
    ("statistic", "sample", "dtype"),
    [
        pytest.param(
            *(*case.values, dtype),
            id=f"{case.id}-{dtype}",
            marks=pytest.mark.long if is_long(case.values[0], dtype) else (),
        )
        for case in KINDS
        for dtype in taken(case.values[0], ["f8", "f4", "i8", "?", "M8[us]"])
    ],
)
def test_ranges_equal_the_whole(statistic, sample, dtype, rng):
    assert why_no_state(statistic.name, {}) is None
    rows = 60
    for policy in ("omit", "propagate"):
        for min_periods in (None, 0, 1, 5):
            values = rng.integers(0, 6, (statistic.series, rows)).astype(dtype)
            missing = rng.random(values.shape) < (0.2 if policy == "omit" else 0.03)
            missing[:, : rng.integers(0, 4)] = True
            columns = [np.ma.MaskedArray(*pair) for pair in zip(values, missing)]
            options = {"min_periods": min_periods, "nan_policy": policy, "algorithm": "auto"}
            call = SparkCall(statistic.name, tuple(range(statistic.series)), sample, (), False, WINDOW)
            whole = evaluate(statistic, columns, rollstat.Expanding(), sample, options)
            cuts = [0, *np.sort(rng.integers(0, rows + 1, 4)).tolist(), rows]
            for way in (in_ranges, in_buckets):
                found = [np.ma.concatenate(p) for p in zip(*way(call, columns, options, cuts))]
                for wanted, result in zip(whole, found, strict=True):
                    data, mask = np.ma.getdata(wanted), np.ma.getmaskarray(wanted)
                    if statistic.name.startswith("arg"):
                        mask = mask | (data < 0)
                    np.testing.assert_array_equal(np.ma.getmaskarray(result), mask)
                    equal(statistic, result.data[~mask].astype(data.dtype), data[~mask])


def test_a_stored_state_uses_the_kernels_of_a_new_one():
    call = SparkCall("mean", (0,), {}, (), False, WINDOW)
    options = {"min_periods": 1, "nan_policy": "omit", "algorithm": "auto"}
    states = [initial_state(call, [np.dtype(np.int64)], options) for _ in range(2)]
    states[0].skip([np.ma.MaskedArray(np.arange(5))])
    _, _, arrays = snapshots.read(snapshots.write("state", {}, states[0].arrays))
    assert not arrays[2].dtype.isalignedstruct
    states[1].load(arrays)
    new, stored = (tuple(map(numba.typeof, state._window.state)) for state in states)
    assert stored == new


def test_statistics_without_a_bounded_state_are_known():
    without = {name for name in REGISTRY if why_no_state(name, {}) is not None}
    assert {"median", "quantile", "iqr", "mad", "hampel", "gini", "rank", "nunique", "mode"} <= without
    assert "algorithm='two_heaps'" in why_no_state("kth", {"algorithm": "two_heaps"})
    assert counts_rows("linear_fit", {})
    assert counts_rows("aggregate", {"operator": operators.ArgMinimum()})
    assert not counts_rows("sum", {})
    assert not counts_rows("argkth", {"k": 1})


@given(
    st.lists(st.integers(0, 4), max_size=60),
    st.lists(st.integers(1, 9) | st.integers(-9, -1), min_size=1, max_size=3),
    st.lists(st.integers(0, 60), max_size=5),
)
def test_only_possible_results_are_kept(values, ranks, cuts):
    column = np.ma.MaskedArray(np.array(values, float), np.zeros(len(values), np.bool_))
    call = SparkCall("argkth", (0,), {"k": ranks}, (), False, WINDOW)
    options = {"min_periods": 1, "nan_policy": "omit"}
    cuts = [0, *sorted(min(cut, len(values)) for cut in cuts), len(values)]
    whole = rollstat.rolling_argkth(column.data, ranks, rollstat.Expanding(), min_periods=1)
    for way in (in_ranges, in_buckets):
        found = np.ma.concatenate(
            [np.ma.stack(piece) for piece in way(call, [column], options, cuts)], axis=1
        )
        assert found.filled(-1).tolist() == whole.tolist()
    state = initial_state(call, [column.dtype], options)
    state.skip([column])
    assert len(state.kept[0]) <= max([0, *ranks]) - min([0, *ranks])


def test_an_overflow_is_an_error_only_in_a_result():
    largest = np.ma.MaskedArray([2**63 - 1, 1, -1], [False] * 3)
    call = SparkCall("sum", (0,), {}, (), False, WINDOW)
    state = initial_state(call, [largest.dtype], {})
    with pytest.raises(OverflowError, match="does not fit in 64 bits"):
        state.advance([largest])
    few = initial_state(call, [largest.dtype], {"min_periods": 3})
    assert few.advance([largest])[0].tolist() == [None, None, 2**63 - 1]
    missing = initial_state(call, [largest.dtype], {"nan_policy": "raise"})
    with pytest.raises(ValueError, match="nan_policy='raise'"):
        missing.advance([np.ma.MaskedArray([1, 2], [False, True])])
