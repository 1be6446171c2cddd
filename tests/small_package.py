"""A small package of the same name, for tests that edit its files or damage what it stores."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def make_package(folder):
    """Make the package in `folder`, with a kernel ``low`` that adds 1; return its path."""
    package = folder / "rollstat"
    for inner in (package, package / "kernels", package / "compile"):
        inner.mkdir(parents=True)
        (inner / "__init__.py").touch()
    names = ["cache.py", "folders.py", "interrupts.py", "jit.py", "levels.py", "libraries.py", "pipeline.py"]
    for name in [*names, "sources.py"]:
        shutil.copy(ROOT / "rollstat" / "compile" / name, package / "compile" / name)
    (package / "kernels" / "low.py").write_text(
        "from rollstat.compile.jit import kernel\n@kernel\ndef low(x):\n    return x + 1\n"
    )
    return package


def make_two_kernels(folder):
    """Make the package, with a kernel ``high`` that calls ``low`` and multiplies by 10; return its path."""
    package = make_package(folder)
    header = "from rollstat.compile.jit import kernel\n"
    (package / "kernels" / "high.py").write_text(
        f"{header}from rollstat.kernels.low import low\n@kernel\ndef high(x):\n    return low(x) * 10\n"
    )
    return package


def call_high(folder, argument="1", **environment):
    """Call ``high`` in a new process; return the result and the number of cache hits."""
    code = (
        "from rollstat.kernels.high import *\n"
        f"answer = high({argument})\n"
        "from rollstat.compile.cache import compiled_kernels\n"
        "print(answer, sum(kernel.origin == 'cache' for kernel in compiled_kernels))\n"
    )
    kept = {k: v for k, v in os.environ.items() if not k.startswith("NUMBA_")}
    kept |= {"XDG_CACHE_HOME": str(folder / "user"), "TMPDIR": str(folder)}
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=folder,
        env={**kept, **environment},
        capture_output=True,
        text=True,
        check=True,
    )
    answer, hits = done.stdout.split()
    return int(answer), int(hits)
