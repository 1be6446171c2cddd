"""Settings of the whole suite."""

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

# Compiling a kernel in the middle of an example is slow, and no fault of the example.
settings.register_profile(
    "rollstat", deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow], derandomize=True
)
settings.load_profile("rollstat")


@pytest.fixture
def rng() -> np.random.Generator:
    """Numbers that are the same in every run."""
    return np.random.default_rng(20261121)
