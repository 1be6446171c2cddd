"""The random comparison itself: it passes, repeats a call, and reports what differs."""

import dataclasses

import numpy as np
import pytest

import rollstat
from rollstat.registry import REGISTRY
from tests.fuzz import boxes
from tests.fuzz.__main__ import Area
from tests.fuzz.compare import Answer, check
from tests.fuzz.draws import draw_window


def test_a_call_is_repeated_by_its_seed():
    first, again = Area("boxes", boxes), Area("boxes", boxes)
    for area in (first, again):
        for number in range(5):
            area.run(0, number)
    assert first.failures == []
    assert first.rows == again.rows > 0


def test_a_wrong_result_is_reported(monkeypatch):
    wrong = REGISTRY["median"]
    monkeypatch.setitem(REGISTRY._loaded, "median", dataclasses.replace(wrong, function=rollstat.rolling_max))
    area = Area("boxes", boxes)
    for number in range(5):  # the first of these is a median of floats
        area.run(3, number)
    assert area.failures
    assert "python -m tests.fuzz --seed 3 --area boxes --number" in area.failures[0]
    for wrong in (2.0, np.nan):
        with pytest.raises(AssertionError):
            check(REGISTRY["max"], [np.array([wrong])], [Answer((1.0,), False)])
    with pytest.raises(AssertionError):
        check(REGISTRY["max"], [np.array([0.0])], [Answer((None,), True)])


def test_windows_lie_in_the_data(rng):
    for n in (0, 1, 20):
        for _ in range(50):
            drawn = draw_window(rng, n)
            assert all(0 <= start <= end <= n for _, start, end in drawn.rows)
