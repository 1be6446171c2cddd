"""The usual calls: derived for every statistic, over the dtypes that it takes."""

import numpy as np
import pytest

import rollstat
from rollstat.precompile import usual_calls
from rollstat.registry import REGISTRY
from rollstat.streaming import STREAMS


@pytest.mark.parametrize("name", REGISTRY)
@pytest.mark.parametrize("dtype", ["float64", "M8[ns]"])
def test_calls_are_derived_for_every_statistic(name, dtype):
    calls = list(usual_calls.usual_calls(name, np.dtype(dtype)))
    assert bool(calls) == (np.dtype(dtype).kind in REGISTRY[name].kinds)
    streams = sum(call.func is usual_calls._use_stream for call in calls if hasattr(call, "func"))
    assert bool(streams) == (bool(calls) and (name in STREAMS or name == "aggregate"))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "dtype"), [("nunique", "bool"), pytest.param("nunique", "M8[ns]", marks=pytest.mark.long)]
)
def test_other_dtypes(name, dtype):
    assert len(rollstat.warmup(name, dtype, progress=False).dtypes) == 1
