"""A memory-mapped series is never copied as a whole."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[1] / "asv_bench" / "memory.py"
LINUX = Path("/proc/self/status").exists()


@pytest.mark.skipif(not LINUX, reason="only Linux reports the anonymous memory of a process")
def test_a_mapped_file_is_read_block_by_block():
    # A copy of the input, or of the output, would take 96 MB.
    command = [sys.executable, str(SCRIPT), "--n", "12000000", "--windows", "5", "1000", "--limit", "48"]
    environment = {**os.environ, "PYTHONPATH": str(SCRIPT.parents[1])}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("MB beyond input and output") == 2
