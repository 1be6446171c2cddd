"""Streams whose windows leave out the newest row: the functions over arrays, and what a stream promises."""

import pickle

import numpy as np
import pytest

import rollstat
from tests.streaming.cases import NAMED, batch, columns_of, identity, make, outputs, push_all, same, typical

every = pytest.mark.parametrize(("name", "sample"), typical(NAMED), ids=identity)
SECONDS = np.cumsum([0, 1, 0, 2, 0, 0, 3, 1, 1, 0, 9, 1, 0, 0, 1, 1, 1, 2, 4, 0])


@every
def test_results_are_those_of_the_function_at_the_newest_row(name, sample, rng):
    columns = columns_of(name, rng, 20)
    for closed in ("left", "neither"):
        for window, times in ((5, None), ("10s", SECONDS.astype("M8[s]")), (10.0, SECONDS * 1.0)):
            given = {} if times is None else {"times": times}
            options = {"min_periods": 1, "closed": closed}
            wanted = batch(name, sample, columns, window, **given, **options)
            stream = make(name, sample, window, **options)
            same(name, push_all(stream, columns, times), wanted)
            stream.reset()
            head, tail = ([column[part] for column in columns] for part in (slice(9), slice(9, None)))
            first, rest = (
                {} if times is None else {"times": times[part]} for part in (slice(9), slice(9, None))
            )
            found = outputs(stream.extend(*head, **first))
            same(name, found, [each[:9] for each in wanted])
            twins = stream.copy(), pickle.loads(pickle.dumps(stream)), rollstat.restore(stream.snapshot())
            for twin in (stream, *twins):
                same(name, outputs(twin.extend(*tail, **rest)), [each[9:] for each in wanted])
                assert twin.snapshot() == stream.snapshot()
            own = dict(sample)
            leading = [own.pop("k")] if "k" in own else []
            array = tuple(head) if len(head) > 1 else head[0]
            more = type(stream).from_tail(array, *leading, window, **own, **first, **options)
            same(name, push_all(more, tail, *rest.values()), [each[9:] for each in wanted])


@pytest.mark.parametrize("dtype", ["i8", "M8[s]", "?"])
def test_dtypes(dtype, rng):
    for name in ("max", "argmin", "hampel", "any", "first"):
        if np.dtype(dtype).kind in rollstat.streaming.STREAMS[name]._row.kinds:
            columns = columns_of(name, rng, 12, dtype)
            stream = make(name, {}, 4, min_periods=2, closed="left", dtype=dtype)
            wanted = batch(name, {}, columns, 4, min_periods=2, closed="left")
            found = outputs(stream.extend(*columns))
            assert [each.dtype for each in found] == [each.dtype for each in wanted]
            same(name, found, wanted)


def test_weights_that_fall_with_time(rng):
    (column,), times = columns_of("mean", rng, 20), SECONDS.astype("M8[s]")
    wanted = rollstat.ewm_mean(column, "5s", halflife="2s", closed="left", min_periods=1, times=times)
    pushed, extended = (rollstat.EwmMean("5s", halflife="2s", closed="left", min_periods=1) for _ in range(2))
    same("ewm_mean", push_all(pushed, [column], times), [wanted])
    same("ewm_mean", outputs(extended.extend(column, times=times)), [wanted])


def test_errors_change_nothing():
    stream = rollstat.RollingSum("3s", closed="left", nan_policy="raise")
    times = np.array([1, 2, 2], "M8[s]")
    stream.extend([1.0, 2.0, 3.0], times=times)
    before = stream.snapshot()
    for element, time in ((np.nan, times[2]), ("4", times[2]), (4.0, times[0]), (4.0, None), (4.0, 5.0)):
        with pytest.raises((TypeError, ValueError)):
            stream.push(element, time)
    with pytest.raises(ValueError, match="times must not decrease"):
        stream.extend([1.0], times=times[:1])
    assert stream.snapshot() == before
    assert len(stream) == 1
    assert stream.push(4.0, times[2] + 1) == 6.0


def test_windows_that_cannot_leave_out_their_newest_row():
    for window in (None, rollstat.Expanding()):
        with pytest.raises(ValueError, match="closed='left' needs a window of rows or a duration"):
            rollstat.RollingMax(window, closed="left")
    with pytest.raises(ValueError, match="without lateness"):
        rollstat.RollingMax("5s", closed="left", lateness="1s")
    with pytest.raises(ValueError, match="window must be at least 2 rows with closed='neither'; got 1"):
        rollstat.RollingMax(1, closed="neither")
    with pytest.raises(ValueError, match="min_periods must be at most 3 with closed='neither'; got 4"):
        rollstat.RollingMax(4, closed="neither")


def test_a_result_that_does_not_fit_comes_back():
    stream = rollstat.RollingSum(2, dtype="i8", closed="left", min_periods=1)
    for x in (2**62, 2**62):
        stream.push(x)
    with pytest.raises(OverflowError):
        stream.push(0)
    assert [stream.push(x) for x in (1, 2)] == [2**62, 1]
