"""The report of versions."""

import subprocess
import sys
from pathlib import Path

import rollstat

ROOT = Path(__file__).resolve().parent.parent.parent


def test_the_report_of_versions(capsys):
    rollstat.show_versions()
    shown = capsys.readouterr().out
    for part in (
        "rollstat",
        "numba",
        "pandas",
        "java",
        "cpu levels",
        "cache folders",
        "in this process",
        "threads",
    ):
        assert f"\n{part} " in f"\n{shown}"
    done = subprocess.run(
        [sys.executable, "-m", "rollstat", "info"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert "in this process" in done.stdout
