"""A small package of the same name, for tests that edit its files or damage what it stores."""

import shutil
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def make_package(folder):
    """Make the package in `folder`, with a kernel ``low`` that adds 1; return its path."""
    package = folder / "rollstat"
    (package / "kernels").mkdir(parents=True)
    for name in ("_jit.py", "_cache.py", "_sources.py"):
        shutil.copy(ROOT / "rollstat" / name, package / name)
    for inner in (package, package / "kernels"):
        (inner / "__init__.py").touch()
    (package / "kernels" / "low.py").write_text(
        "from rollstat._jit import kernel\n@kernel\ndef low(x):\n    return x + 1\n"
    )
    return package
