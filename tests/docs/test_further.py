"""The calls of the table of further statistics run and give equal results; nothing is timed."""

import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TABLE = ROOT / "docs" / "performance" / "tables" / "further.rst"


@pytest.fixture(scope="module")
def script():
    """Return the script that writes the table, which imports the other libraries."""
    return runpy.run_path(str(ROOT / "asv_bench" / "further.py"))


def test_all_calls_are_in_the_table(script):
    table = TABLE.read_text(encoding="utf-8")
    for job in script["JOBS"]:
        for call in (job.ours, *(peer.call for peer in job.peers)):
            assert f"``{call}``" in table


def test_compared_calls_are_equal(script):
    data = script["names"](3_000)
    for job in script["JOBS"]:
        for peer in job.peers:
            # Numba takes seconds to compile kernels of other libraries; the script compares their results.
            if script["installed"](peer) and "numba" not in peer.call:
                script["check"](job, peer, data)
