"""No result, warning or error depends on what new memory holds."""

import numpy as np
import pytest

from rollstat.registry import REGISTRY
from tests.fuzz import unwritten
from tests.test_contract import data, fits, taken

OPTIONS = [
    {},
    {"min_periods": 0, "closed": "left"},
    {"min_periods": 2, "step": 3},
    {"min_periods": 1, "mode": "valid"},
    {"min_periods": 0, "segments": np.array([0, 0, 5, 40])},
]


@pytest.mark.parametrize("name", REGISTRY)
def test_memory_that_is_not_written_decides_nothing(name, rng):
    statistic = REGISTRY[name]
    for dtype in taken(statistic):
        columns = [data(rng, 40, dtype) for _ in range(statistic.series)]
        if dtype.kind == "f":
            columns[0][5:15] = np.nan  # windows without observations
        for sample in statistic.samples:
            for window in (4, (np.arange(40), np.arange(40) + (np.arange(40) % 3 == 0))):
                for options in OPTIONS if isinstance(window, int) else OPTIONS[:1]:
                    if fits(sample, window):
                        unwritten.compare(statistic, columns, window, dict(sample), options)


def test_random_calls(rng):
    for _ in range(40):
        unwritten.fuzz(rng, {})


def test_a_result_of_unwritten_memory_is_found(monkeypatch):
    count = REGISTRY["count"]
    monkeypatch.setattr(unwritten, "call", lambda *_, **__: np.empty(3, np.float32))
    with pytest.raises(AssertionError):
        unwritten.compare(count, [np.zeros(3)], 2, {}, {})
