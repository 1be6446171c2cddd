"""Inputs and results die with their last reference, whatever kind of call took them."""

import gc
import weakref

import numpy as np
import pandas as pd
import pytest

import rollstat
import rollstat.pandas


def _array():
    return np.random.default_rng(0).random(200)


def _function(values):
    return rollstat.rolling_mean(values, 5, min_periods=np.int64(1))


def _median(values):
    return rollstat.rolling_median(values, np.int64(5), min_periods=np.int64(1))


def _out(values):
    return rollstat.rolling_max(values, 5, min_periods=np.int64(2), out=np.empty(200))


def _accessor(values):
    return pd.Series(values, copy=False).rollstat.rolling(5, min_periods=np.int64(1)).mean()


def _extended(values):
    return rollstat.RollingMean(5, min_periods=np.int64(1)).extend(values)


def _operator(values):
    return rollstat.rolling_aggregate(values, rollstat.operators.Sum(), 5, min_periods=np.int64(1))


@pytest.mark.parametrize("call", [_function, _median, _out, _accessor, _extended, _operator])
def test_nothing_stays_alive_after_a_call(call):
    for _ in range(3):  # the first call, and those that a plan is kept for
        values = _array()
        result = call(values)
        alive = [weakref.ref(values), weakref.ref(result)]
        del values, result
        gc.collect()
        assert [reference() for reference in alive] == [None, None]


def test_a_stream_keeps_no_array_that_it_was_given():
    stream, values = rollstat.RollingMedian(5, min_periods=np.int64(1)), _array()
    results = stream.extend(values)
    alive = [weakref.ref(values), weakref.ref(results)]
    del values, results
    gc.collect()
    assert [reference() for reference in alive] == [None, None]
    assert len(stream) == 5
