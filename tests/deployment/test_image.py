"""The Dockerfile of the guide: root warms the image up, another user calls."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.deployment.test_folders import AS_NOBODY, let_others_read, other_user  # noqa: F401  # a fixture

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "guide" / "production.rst"
ORIGINS = "from rollstat.compile.cache import compiled_kernels as k; print({each.origin for each in k})"


@pytest.mark.long  # test_folders.py shares a folder of one kernel between users
def test_an_image_that_root_has_warmed_serves_its_user(tmp_path, other_user):  # noqa: F811  # the fixture
    let_others_read(tmp_path)
    page = PAGE.read_text()
    (folder,) = re.findall(r"ENV NUMBA_CACHE_DIR=(\S+)", page)
    (warmup,) = re.findall(r"RUN (python -m rollstat warmup .*)", page)
    (called,) = re.findall(r'CMD python -c "(.*)"', page)
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("NUMBA_", "XDG_", "ROLLSTAT_"))}
    environment = kept | {
        "NUMBA_CACHE_DIR": str(tmp_path / folder.strip("/")),
        "HOME": str(tmp_path / "nowhere"),
        "PYTHONPATH": str(ROOT),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    command = [sys.executable, *shlex.split(warmup)[1:], "--quiet"]
    subprocess.run(command, cwd="/", env=environment, check=True, capture_output=True)
    (tmp_path / "nowhere").mkdir(exist_ok=True)
    user = [*AS_NOBODY, sys.executable, "-c", f"{called}; {ORIGINS}"]
    done = subprocess.run(user, cwd="/", env=environment, check=True, capture_output=True, text=True)
    assert done.stdout.split("\n")[:2] == ["[nan 1.5 4. ]", "{'cache'}"], done.stderr
