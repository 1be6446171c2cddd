"""Settings that must be made before the library is imported, for tests and for the examples of pages."""

import os
import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest

# Tests are for the fast kernels, and examples show them; tests/test_tiers.py turns tiers on. The workers of
# Spark inherit this.
os.environ.setdefault("ROLLSTAT_TIERS", "fast")

# These take most of the time, compiling or waiting for Java or for new processes. They start first, in this
# order, so that all processes of a run end together.
SESSION = "tests/spark, "
LONGEST = (
    SESSION,
    "tests/streaming/test_general.py",
    "tests/test_contract.py",
    "tests/streaming/test_contract.py",
    "tests/streaming/test_short_arrays.py",
    "tests/compile/test_cache.py",
    "tests/precompile/test_prebuild.py",
    "tests/test_plan.py",
    "tests/streaming/",
    "tests/operators/",
    "tests/compile/test_jit.py",
    "tests/test_import.py",
    "tests/statistics/",
    "tests/spark/",
)
# This compiles what other tests compile too, and only loads it at the end of its process.
LOADING = "test_every_registered_statistic_in_one_pass"


@cache
def scope(file: str) -> str:
    """Return the tests that one process runs: a file, or half of the files with a session of Spark."""
    if not file.startswith("tests/spark/"):
        return file
    text = (Path(__file__).parent / file).read_text(encoding="utf-8")
    if re.search(r"^def \w+\(.*\bspark\b", text, re.MULTILINE) is None:
        return file
    return SESSION + ("a to r" if file < "tests/spark/test_s" else "s to z")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the tests that take longest first."""

    def place(item: pytest.Item) -> tuple[int, bool]:
        name = scope(item.nodeid.partition("::")[0])
        rank = next((i for i, begin in enumerate(LONGEST) if name.startswith(begin)), len(LONGEST))
        return rank, item.name == LOADING

    items.sort(key=place)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Run the files of Spark in two processes, so that Spark starts only twice."""
    from xdist.scheduler import LoadFileScheduling

    class Scheduling(LoadFileScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return scope(super()._split_scope(nodeid))

    return Scheduling(config, log) if config.getoption("dist") == "loadfile" else None
