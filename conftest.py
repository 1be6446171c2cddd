"""Settings that must be made before the library is imported, for tests and for the examples of pages."""

import os
from typing import Any

import pytest

# Tests are for the fast kernels, and examples show them; tests/test_tiers.py turns tiers on. The workers of
# Spark inherit this.
os.environ.setdefault("ROLLSTAT_TIERS", "fast")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Run the files that need Java one after the other in one process, so that Spark starts once."""
    from xdist.scheduler import LoadFileScheduling

    class Scheduling(LoadFileScheduling):
        def _split_scope(self, nodeid: str) -> str:
            file = super()._split_scope(nodeid)
            needs_java = file.startswith("tests/spark/") and not file.endswith("test_carried_states.py")
            return "tests/spark" if needs_java else file

    return Scheduling(config, log) if config.getoption("dist") == "loadfile" else None
