"""Arrays much shorter than the window: what pushes give, without a call from Python for every element."""

import numpy as np
import pytest

import rollstat
from rollstat import thresholds
from tests.streaming.cases import (
    AGGREGATES,
    CASES,
    FIRST,
    NAMED,
    batch,
    columns_of,
    identity,
    make,
    outputs,
    push_all,
    same,
)

WINDOW = 40
every = pytest.mark.parametrize(("name", "sample"), [*CASES, *AGGREGATES], ids=identity)
# Those whose push of a float is a single compiled step.
QUICK = {"kth", "argkth", "median", "quantile", "iqr", "min", "max", "ptp", "argmin", "argmax"}


@every
@pytest.mark.parametrize("min_periods", [None, 3])
def test_short_arrays_are_pushes(name, sample, min_periods, rng):
    options = {} if min_periods is None else {"min_periods": min_periods}
    columns = columns_of(name, rng, 300)
    if min_periods is None:
        for column in columns:
            column[:] = np.nan_to_num(column, nan=4.0)
            column[170:200] = np.nan
    stream, single = (make(name, sample, WINDOW, **options) for _ in range(2))
    for each in (stream, single):
        each.extend(*(column[:90] for column in columns))
    first = 90
    for rows in (1, 10, 2, 3, 9, 1, 7, 5, 10, 10, 4, 10, 8):
        part = [column[first : first + rows] for column in columns]
        got, wanted = outputs(stream.extend(*part)), push_all(single, part)
        same(name, got, wanted)
        like = batch(name, sample, columns, WINDOW, **options)
        assert [one.dtype for one in got] == [one.dtype for one in like]
        same(name, [[value] for value in outputs(stream.value)], [[value] for value in outputs(single.value)])
        first += rows
    rest = [column[first:] for column in columns]
    same(name, push_all(stream, rest), push_all(single, rest))


def reject(*arguments):
    raise AssertionError("it should be one call of the steps")


@pytest.mark.parametrize(("name", "sample"), [case for case in FIRST if case[0] in QUICK], ids=identity)
@pytest.mark.parametrize(
    "given", [np.array, np.flip, lambda x: np.frombuffer(x.tobytes()), lambda x: x.tolist()]
)
def test_in_one_call(name, sample, given, rng, monkeypatch):
    array = given(columns_of(name, rng, 10)[0])
    stream, single = (make(name, sample, WINDOW, min_periods=1) for _ in range(2))
    for each in (stream, single):
        each.extend(np.arange(100.0))
    monkeypatch.setattr(type(stream._window.representation), "push", reject)
    before = np.array(array)
    same(name, outputs(stream.extend(array)), push_all(single, [before]))
    np.testing.assert_array_equal(array, before)


@pytest.mark.parametrize(
    "stream",
    [
        lambda: rollstat.RollingKth(3, 1_000, algorithm="three_trees", min_periods=1),
        lambda: rollstat.RollingArgkth(3, 1_000, algorithm="three_trees", min_periods=1),
        lambda: rollstat.RollingMedian(1_000, algorithm="three_trees", min_periods=1),
        lambda: rollstat.RollingQuantile(1_000, 0.2, algorithm="three_trees", min_periods=1),
    ],
)
def test_algorithms_by_name_in_one_call(stream, rng, monkeypatch):
    values = np.round(rng.normal(size=3_000), 1)
    values[rng.random(3_000) < 0.1] = np.nan
    one, other = stream(), stream()
    one.extend(values[:2_000])
    other.extend(values[:2_000])
    monkeypatch.setattr(type(one._window.representation), "push", reject)
    for first in range(2_000, 3_000, 250):
        part = values[first : first + 250]
        np.testing.assert_array_equal(one.extend(part), [other.push(x) for x in part.tolist()])


@pytest.mark.parametrize(("name", "sample"), NAMED, ids=identity)
@pytest.mark.parametrize("window", [1, 5, 300])
def test_short_arrays_into_any_window(name, sample, window, rng, monkeypatch):
    monkeypatch.setattr(thresholds, "STREAM_STEPS", 100)
    monkeypatch.setattr(thresholds, "STREAM_OPERATOR_STEPS", 100)
    columns = columns_of(name, rng, 200)
    own = sample if abs(sample.get("k", 1)) <= window else sample | {"k": 1}
    stream, single = (make(name, own, window, min_periods=1) for _ in range(2))
    for rows in (slice(0, 40), slice(40, 140), slice(140, 141), slice(141, 141), slice(141, 200)):
        part = [column[rows] for column in columns]
        got = outputs(stream.extend(*part))
        wanted = push_all(single, part) or [[]] * len(got)
        same(name, got, wanted)
        assert len(stream) == len(single)


@pytest.mark.parametrize(("name", "sample"), FIRST, ids=identity)
def test_more_than_a_few_go_to_the_function(name, sample, rng, monkeypatch):
    stream = make(name, sample, 1_000)
    stream.extend(rng.normal(size=1_500))
    monkeypatch.setattr(type(stream._window.representation), "push", reject)
    for result in outputs(stream.extend(rng.normal(size=24))):
        assert len(result) == 24


@pytest.mark.parametrize("rows", [3, 900])
def test_rounded_whole_numbers_are_told_of(rows):
    whole = 2**60 + 1 + 2 * np.arange(3_000)
    stream = rollstat.RollingMin(1_000, dtype=np.int64)
    with pytest.warns(rollstat.PrecisionWarning):
        stream.extend(whole[:2_000])
    with pytest.warns(rollstat.PrecisionWarning):
        result = stream.extend(whole[2_000 : 2_000 + rows])
    assert result.dtype == np.float64
    assert stream.value == whole[1_000 + rows]
