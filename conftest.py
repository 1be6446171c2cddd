"""Settings that must be made before the library is imported, for tests and for the examples of pages."""

import os
from typing import Any

import pytest

# Tests are for the fast kernels, and examples show them; tests/test_tiers.py turns tiers on. The workers of
# Spark inherit this.
os.environ.setdefault("ROLLSTAT_TIERS", "fast")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Run the files of Spark in two processes, early, so that Spark starts only twice."""
    from xdist.scheduler import LoadFileScheduling

    class Scheduling(LoadFileScheduling):
        def _split_scope(self, nodeid: str) -> str:
            file = super()._split_scope(nodeid)
            if not file.startswith("tests/spark/"):
                return file
            return "tests/spark, a to m" if file < "tests/spark/test_n" else "tests/spark, n to z"

    return Scheduling(config, log) if config.getoption("dist") == "loadfile" else None
