"""The calls of the table of further statistics run and give equal results; nothing is timed."""

import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SCRIPT = runpy.run_path(str(ROOT / "asv_bench" / "further.py"))
TABLE = ROOT / "docs" / "performance" / "tables" / "further.rst"


@pytest.fixture(scope="module")
def data():
    return SCRIPT["names"](3_000)


@pytest.mark.parametrize("job", SCRIPT["JOBS"], ids=lambda job: job.name)
def test_compared_calls_are_equal(job, data):
    table = TABLE.read_text(encoding="utf-8")
    assert f"``{job.ours}``" in table
    for peer in job.peers:
        assert f"``{peer.call}``" in table
        # Numba takes seconds to compile kernels of other libraries; the script compares their results.
        if SCRIPT["installed"](peer) and "numba" not in peer.call:
            SCRIPT["check"](job, peer, data)
