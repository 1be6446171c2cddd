"""Settings and fixtures of all tests."""

import gc
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

from rollstat.compile.cache import KernelCache, _operators

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


@pytest.fixture(autouse=True, scope="session")
def _every_kernel_of_the_library_is_stored() -> Iterator[None]:
    """Fail if a kernel cannot be stored, such as one that gets another kernel as an argument."""

    def save(self: KernelCache, sig: Any, data: Any) -> None:
        modules = [self._function.__module__, *(cls.__module__ for cls in _operators(sig))]
        own = all(str(module).startswith("rollstat.") for module in modules)
        assert not (own and data.library.has_dynamic_globals), f"{self._function} cannot be stored"
        save_overload(self, sig, data)

    save_overload = KernelCache.save_overload
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(KernelCache, "save_overload", save)
        yield


@pytest.fixture
def rng() -> np.random.Generator:
    """Return a generator with a fixed seed."""
    return np.random.default_rng(20261121)
