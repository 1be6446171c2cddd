"""Windows that are asked for one after the other, against folds, and their combinations counted."""

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rollstat
from rollstat import operators
from rollstat.kernels.aggregate import greedy
from rollstat.snapshots import SnapshotError
from rollstat.streaming import GreedyAggregate
from rollstat.streaming.greedy_window import NumberTree, ObjectTree
from rollstat.streaming.operator_adapter import OperatorAdapter
from tests.streaming.affine_maps import compose, composition, element

moves_strategy = st.lists(
    st.tuples(st.integers(0, 4), st.integers(0, 4), st.lists(st.booleans(), max_size=5)), max_size=40
)


def bounds(rng, rows, number):
    left = np.sort(rng.integers(0, rows, number))
    right = np.minimum(np.maximum.accumulate(left + rng.integers(0, 12, number)), rows)
    return list(zip(left.tolist(), np.maximum(left, right).tolist()))


def in_order(older, newer):
    return older + newer


def test_numbers(rng):
    values = rng.integers(-9, 9, 200).astype(float)
    values[rng.random(200) < 0.2] = np.nan
    stream = GreedyAggregate(operators.Sum(), min_periods=2)
    asked = bounds(rng, 200, 150)
    for k, (left, right) in enumerate(asked):
        while stream.rows < right:
            stream.push(values[stream.rows].item())
        kept = values[left:right][~np.isnan(values[left:right])]
        got = stream.move(left, right)
        assert np.array_equal(got, kept.sum() if len(kept) >= 2 else np.nan, equal_nan=True)
        assert stream.bounds == (left, right)
        assert len(stream) == right - left
        if k == 70:
            stream = rollstat.restore(stream.snapshot())
        if k == 90:
            stream = pickle.loads(pickle.dumps(stream))
        if k == 110:
            stream, old = copy.copy(stream), stream
            old.push(5.0)
    stream.reset()
    assert stream.bounds == (0, 0)
    assert stream.rows == 0


def test_objects_are_combined_as_seldom_as_can_be():
    calls = []

    def combine(older, newer):
        calls.append(older + newer)
        return older + newer

    stream = GreedyAggregate(combine, dtype=object, check=False)
    stream.extend("2452")
    assert [stream.move(0, 3), stream.move(0, 4), stream.move(1, 4)] == ["245", "2452", "452"]
    # The example of the paper, whose windows are counted from 1.
    assert len(calls) == 4
    assert stream.move(1, 4) == "452"
    assert stream.move(7, 7) is None
    assert len(calls) == 4
    stream.extend("abcdef")
    assert stream.move(7, 9) == "de"
    twin = stream.copy()
    assert twin.move(8, 10) == stream.move(8, 10) == "ef"


def test_two_columns(rng):
    x, y = rng.normal(size=(2, 30))
    stream = GreedyAggregate(operators.Covariance(1))
    stream.extend(x, y)
    np.testing.assert_allclose(stream.move(3, 20), np.cov(x[3:20], y[3:20])[0, 1])


def test_errors_change_nothing():
    stream = GreedyAggregate(operators.Sum(), min_periods=0)
    assert stream.value == 0.0
    stream.extend([1.0, 2.0, 3.0])
    assert stream.move(1, 3) == 5.0
    before = stream.snapshot()
    for bad in ((0, 3), (1, 2), (2, 4), (1.0, 3), (3, 2)):
        with pytest.raises((TypeError, ValueError)):
            stream.move(*bad)
    for bad in (("1.5",), (1.0, 2.0), (1j,)):
        with pytest.raises(TypeError):
            stream.push(*bad)
    with pytest.raises(TypeError):
        stream.extend(["x"])
    assert stream.snapshot() == before
    assert stream.push(4.0) == 5.0
    assert stream.move(3, 4) == 4.0
    assert stream.move(9, 9) == 0.0
    for data in (before[:-1], before.replace(b"GreedyAggregate", b"SlidingGreedyyy")):
        with pytest.raises(SnapshotError):
            rollstat.restore(data)
    with pytest.raises(TypeError, match="pickle"):
        GreedyAggregate(in_order, dtype=object).snapshot()
    overflow = GreedyAggregate(operators.Sum(), dtype=np.int64)
    overflow.extend([2**62, 2**62, 1])
    with pytest.raises(OverflowError):
        overflow.move(0, 2)
    assert overflow.move(1, 3) == 2**62 + 1


@pytest.mark.parametrize("dtype", [np.float64, object])
def test_memory_of_a_wide_window_is_freed(dtype):
    stream = GreedyAggregate(in_order, dtype=dtype)
    stream.extend(np.ones(100_000))
    assert stream.move(0, 100_000) == 100_000
    assert stream.move(99_995, 100_000) == 5
    assert len(pickle.dumps(stream)) < 20_000
    stream.extend(np.ones(1000))
    assert stream.move(99_999, 101_000) == 1001


def test_windows_of_times(rng):
    values, times = rng.integers(-9, 9, 200).astype(float), np.sort(rng.integers(0, 300, 200))
    for kind, wrap in ((float, float), ("M8[ns]", lambda t: np.datetime64(int(t), "ns"))):
        stream = GreedyAggregate(operators.Sum(), min_periods=0, times=kind)
        stream.extend(values[:20], times=[wrap(t) for t in times[:20]])
        start = end = -5
        for i in range(20, 200):
            stream.push(values[i].item(), wrap(times[i]))
            start += int(rng.integers(0, 4))
            end = max(start, end) + int(rng.integers(0, 4))
            seen = (times[: i + 1] > start) & (times[: i + 1] <= end)
            assert stream.move(wrap(start), wrap(end)) == values[: i + 1][seen].sum()
            assert len(stream) == seen.sum()
            if i == 70:
                stream = rollstat.restore(stream.snapshot())
            if i == 90:
                stream = pickle.loads(pickle.dumps(stream))
        before = stream.snapshot()
        for bad in (
            (wrap(start - 1), wrap(end)),
            (wrap(start), wrap(end - 1)),
            (wrap(end + 2), wrap(end + 1)),
        ):
            with pytest.raises(ValueError, match=r"start|end"):
                stream.move(*bad)
        with pytest.raises(ValueError, match="decrease"):
            stream.push(1.0, wrap(0))
        for wrong in ((1.0,), (1.0, None)):
            with pytest.raises(TypeError):
                stream.push(*wrong)
        with pytest.raises(TypeError, match="times"):
            stream.extend([1.0])
        assert stream.snapshot() == before


def number_tree():
    return NumberTree(OperatorAdapter(operators.AffineMap(), np.float64))


def object_tree():
    return ObjectTree(composition())


@pytest.mark.parametrize("make", [number_tree, object_tree])
@given(moves=moves_strategy)
def test_windows_as_they_are_asked_for(make, moves):
    tree, rows = make(), []
    left = right = 0
    for left_step, right_step, arriving in moves:
        for observed in arriving:
            tree.push(element(len(rows)), observed)
            rows.append(observed)
        # Past the end of what has arrived, only an empty window can be asked for.
        left += left_step
        right = max(min(right + right_step, len(rows)), right, left)
        left = left if right <= len(rows) else right
        kept = [element(k) for k in range(left, min(right, len(rows))) if rows[k]]
        assert tree.move(left, right) == len(kept)
        assert tree.rows == len(rows)
        assert tree.bounds == (left, right)
        if kept:
            assert tree.value() == compose(kept)


def test_online_calls_are_as_few_as_planned_offline(rng):
    left = np.sort(rng.integers(0, 100, 150))
    right = np.minimum(np.maximum.accumulate(left + rng.integers(0, 20, 150)), 100)
    header, top, below = greedy.create(100)
    older, newer = np.empty((2, 100), np.int64)
    planned = sum(greedy.plan_window(header, top, below, i, j, older, newer, 0) for i, j in zip(left, right))
    calls = []
    operator = operators.function_operator(lambda a, b: calls.append(a + b) or a + b)
    tree = ObjectTree(OperatorAdapter(operator, object))
    for i, j in zip(left.tolist(), right.tolist()):
        while tree.rows < j:
            tree.push(chr(97 + tree.rows))
        if tree.move(i, j):
            assert tree.value() == "".join(chr(97 + k) for k in range(i, j))
    assert len(calls) == planned
