"""A small package of the same name, for tests that edit its files or damage what it stores."""

import shutil
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def make_package(folder):
    """Make the package in `folder`, with a kernel ``low`` that adds 1; return its path."""
    package = folder / "rollstat"
    for inner in (package, package / "kernels", package / "compile"):
        inner.mkdir(parents=True)
        (inner / "__init__.py").touch()
    for name in ("jit.py", "cache.py", "sources.py"):
        shutil.copy(ROOT / "rollstat" / "compile" / name, package / "compile" / name)
    (package / "kernels" / "low.py").write_text(
        "from rollstat.compile.jit import kernel\n@kernel\ndef low(x):\n    return x + 1\n"
    )
    return package
