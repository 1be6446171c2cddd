"""Settings and fixtures of all tests."""

import gc

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

# An example may compile a kernel, so none has a deadline.
settings.register_profile(
    "rollstat", deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow], derandomize=True
)
settings.load_profile("rollstat")


def pytest_collection_finish() -> None:
    """Collect garbage less often: what is loaded stays, and compiling makes few cycles."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(200_000, 50, 1_000)


@pytest.fixture
def rng() -> np.random.Generator:
    """Return a generator with a fixed seed."""
    return np.random.default_rng(20261121)
