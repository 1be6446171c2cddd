"""The named classes, made from the table: names, signatures, docstrings, and what a new row takes."""

import inspect
import pickle

import numpy as np
import pytest

import rollstat
from rollstat.registry import REGISTRY
from rollstat.streaming import STREAMS, answers
from rollstat.streaming.base import CLASSES
from rollstat.streaming.named import _class
from rollstat.streaming.table import TABLE, StatisticRow
from rollstat.windows import Expanding
from tests.streaming.cases import NAMED, batch, columns_of, identity, make, typical

each = pytest.mark.parametrize("row", TABLE, ids=lambda row: row.name)


@each
def test_names(row):
    cls = STREAMS[row.statistic]
    assert getattr(rollstat, row.name) is cls
    assert (cls.__module__, cls.__name__, cls.__qualname__) == ("rollstat.streaming", row.name, row.name)
    assert pickle.loads(pickle.dumps(cls)) is cls


@each
def test_signatures(row):
    parameters = inspect.signature(STREAMS[row.statistic]).parameters
    keywords = [p.name for p in parameters.values() if p.kind is p.KEYWORD_ONLY]
    own = set(REGISTRY[row.statistic].parameters) - set(row.rejected)
    assert set(parameters) - set(keywords) == {"window", *own}
    common = ["min_periods", "dtype", "lateness", "closed", "nan_policy", "inf"]
    assert keywords == [*common, *(["algorithm"] if row.algorithms else [])]
    assert parameters["dtype"].default is np.float64
    with pytest.raises((TypeError, ValueError), match=r"required argument|exactly one of .*; got none"):
        STREAMS[row.statistic]()
    with pytest.raises(TypeError, match="unknown"):
        STREAMS[row.statistic](*(1 for _ in row.positional), unknown=1)


@each
def test_docstrings(row):
    doc = STREAMS[row.statistic].__doc__
    for section in ("Parameters", "See Also", "Notes", "Examples"):
        assert f"\n{section}\n{'-' * len(section)}\n" in doc
    assert f"Cost of a push: {row.cost or next(iter(row.algorithms.values()))}" in doc
    for name in inspect.signature(STREAMS[row.statistic]).parameters:
        assert f"\n{name} : " in doc


def test_a_statistic_takes_one_row(rng):
    """A row with a sorted array and an answer is a whole class."""
    largest = StatisticRow(
        *("RollingLargest", "max", "3", "1.0", "[nan]"),
        *(answers.sorted_window_of, lambda window: window.representation.ordered[-1]),
        cost="O(m)",
    )
    values = rng.integers(0, 50, 60).astype(float)
    values[rng.random(60) < 0.2] = np.nan
    try:
        stream = _class(largest)(7, min_periods=2)
        wanted = rollstat.rolling_max(values, 7, min_periods=2)
        np.testing.assert_array_equal([stream.push(x) for x in values[:20].tolist()], wanted[:20])
        twin = rollstat.restore(stream.snapshot())
        np.testing.assert_array_equal(stream.extend(values[20:]), wanted[20:])
        np.testing.assert_array_equal([twin.push(x) for x in values[20:].tolist()], wanted[20:])
    finally:
        CLASSES.pop("RollingLargest", None)


@pytest.mark.parametrize(("name", "sample"), typical(NAMED), ids=identity)
def test_missing_elements_by_policy(name, sample, rng):
    columns = columns_of(name, rng, 40)
    for column in columns:
        column[[0, 7, 8, 20]] = np.nan
    for window in (4, Expanding()):
        stream = make(name, sample, window, nan_policy="propagate")
        arrays = make(name, sample, window, nan_policy="propagate").extend(*columns)
        pushed = [stream.push(*row) for row in zip(*columns)]
        found = [*zip(*pushed)] if isinstance(pushed[0], tuple) else [pushed]
        wanted = batch(name, sample, columns, window, nan_policy="propagate")
        for each, of_array, result in zip(found, arrays if isinstance(arrays, tuple) else [arrays], wanted):
            floats = np.array([np.nan if x is None else x for x in each], float)
            np.testing.assert_allclose(floats, np.asarray(result, float), rtol=1e-9, atol=1e-12)
            np.testing.assert_allclose(of_array, floats, rtol=1e-9, atol=1e-12)
        assert type(stream).restore(stream.snapshot())._window.nan_policy == "propagate"
    stream = make(name, sample, 4, nan_policy="raise")
    stream.push(*(column[1] for column in columns))
    for call in (lambda: stream.push(*(np.nan for _ in columns)), lambda: stream.extend(*columns)):
        with pytest.raises(ValueError, match="nan_policy='raise'"):
            call()
    assert len(stream) == 1


@pytest.mark.parametrize("dtype", ["f8", "i8", "M8[s]"])
def test_several_order_statistics(rng, dtype):
    values = rng.integers(0, 9, 60).astype(dtype)
    if dtype == "f8":
        values[[5, 6, 7, 8, 30]] = np.nan
    for name, own in (
        ("quantile", {"q": [0.1, 0.5, 0.9]}),
        ("quantile", {"q": (0.25, 0.5), "interpolation": "nearest"}),
        ("kth", {"k": [1, -2, 4]}),
    ):
        for window in (5, Expanding()):
            stream, whole = (STREAMS[name](window=window, dtype=dtype, min_periods=2, **own) for _ in "12")
            wanted = REGISTRY[name].function(values, window=window, min_periods=2, **own)
            missing = np.datetime64("NaT") if dtype == "M8[s]" else np.nan
            pushed = [[missing if x is None else x for x in stream.push(value)] for value in values]
            np.testing.assert_array_equal(np.array(pushed).T, wanted)
            parts = [np.array(whole.extend(part)) for part in (values[:20], values[20:])]
            np.testing.assert_array_equal(np.concatenate(parts, axis=1), wanted)
            again = STREAMS[name].restore(stream.snapshot())
            assert repr(again.push(values[0])) == repr(stream.push(values[0]))
    assert rollstat.explain(stream).algorithm == "sorted_window"
    for bad, text in (((1, 9), r"1\.\.5"), ([], "k must hold at least one value")):
        with pytest.raises(ValueError, match=text):
            rollstat.RollingKth(bad, 5)
    with pytest.raises(ValueError, match="RollingArgkth takes one k with algorithm='auto'"):
        rollstat.RollingArgkth([1, 2], 5)


@pytest.mark.parametrize(("name", "sample"), typical(NAMED), ids=identity)
def test_windows_with_both_ends(name, sample, rng):
    columns = columns_of(name, rng, 30)
    times = np.cumsum(rng.integers(0, 3, 30)).astype("M8[s]")
    for window, options in ((4, {}), ("4s", {"times": times})):
        if name.startswith("ewm") and options:
            continue
        stream = make(name, sample, window, closed="both")
        rows = zip(*columns, *options.values())
        pushed = [stream.push(*row) for row in rows]
        found = [*zip(*pushed)] if isinstance(pushed[0], tuple) else [pushed]
        wanted = batch(name, sample, columns, window, closed="both", **options)
        for each, result in zip(found, wanted):
            floats = np.array([np.nan if x is None else x for x in each], float)
            np.testing.assert_allclose(floats, np.asarray(result, float), rtol=1e-9, atol=1e-12)
    with pytest.raises(ValueError, match="closed must be one of 'right', 'both', 'left', 'neither'"):
        make(name, sample, 4, closed="middle")
    with pytest.raises(ValueError, match="a window of rows or a duration"):
        make(name, sample, 4.0, closed="both")
