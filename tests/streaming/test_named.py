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
    assert keywords == ["min_periods", "dtype", "lateness", "inf", *(["algorithm"] if row.algorithms else [])]
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
