"""Warnings as errors: a call that raises leaves `out` as it was; `nox -s fuzz` tries more."""

import numpy as np
import pytest

from rollstat.registry import REGISTRY
from tests.fuzz import warnings as area


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", list(REGISTRY))
def test_out_is_unchanged_if_a_warning_is_an_error(name):
    draws = [np.random.default_rng([i, 7]) for i in range(8)]
    assert sum(area.of_function(rng, {}, REGISTRY[name], ("i8",)) for rng in draws) > 0
