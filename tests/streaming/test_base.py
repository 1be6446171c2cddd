"""What streams say about themselves with missing rows: `len`, `full`, `observations`, `repr` and `value`."""

import numpy as np
import pytest

import rollstat
from rollstat.streaming import STREAMS
from tests.fuzz import views
from tests.streaming.cases import FURTHER

NAMES = [pytest.param(name, marks=pytest.mark.long if name in FURTHER else ()) for name in STREAMS]


@pytest.mark.parametrize("name", [*NAMES, "sum of any", views.OBJECTS])
@pytest.mark.parametrize("kind", ["rows", "time"])
def test_every_stream(name, kind):
    _compare(name, kind)


@pytest.mark.parametrize("name", ["median", "argmin", "mad", "sum", "linear_fit", views.OBJECTS])
@pytest.mark.parametrize("kind", ["expanding", "free"])
def test_windows_of_any_number_of_rows(name, kind):
    _compare(name, kind)


def _compare(name, kind):
    for number in range(4):
        views.compare(np.random.default_rng([number, 7]), {}, name, kind)


def test_windows_that_are_asked_for():
    for number in range(20):
        views.of_greedy(np.random.default_rng([number, 8]), {})


def test_missing_rows_of_a_window_by_time():
    stream = rollstat.RollingSum(10.0)
    stream.extend([1.0, None, 3.0, None], times=[0.0, 4.0, 8.0, 9.0])
    assert (len(stream), stream.observations) == (4, 2)
    stream.push(None, 14.5)
    assert (len(stream), stream.observations) == (3, 1)
    twin = rollstat.restore(stream.snapshot())
    assert (len(twin), twin.observations) == (3, 1)
    twin.push(2.0, 100.0)
    assert (len(twin), len(stream), repr(twin)) == (1, 3, "<RollingSum of 1 rows, value 2.0>")


def test_missing_rows_of_a_fit_are_no_observations():
    stream = rollstat.RollingLinearFit(4, min_periods=2)
    assert stream.observations == 0
    stream.extend([1.0, None, 3.0])
    assert (len(stream), stream.observations) == (3, 2)
