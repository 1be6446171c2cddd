"""What parts of the library need beyond its own dependencies."""

from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any


def require(extra: str, part: str, *modules: str) -> None:
    """Raise unless all modules of an extra are installed; the message names the extra."""
    missing = [module for module in modules if find_spec(module) is None]
    if missing:
        names = " and ".join(missing)
        raise ModuleNotFoundError(
            f"{part} needs {names}; run: python -m pip install 'rollstat[{extra}]'", name=missing[0]
        )


def if_installed(module: str) -> Any:
    """Return an optional module that no extra names, such as SciPy's; None if it is not installed."""
    return None if find_spec(module.partition(".")[0]) is None else import_module(module)


def pyinstaller_hooks() -> list[str]:
    """Return the folders with hooks for PyInstaller; an entry point names this function."""
    return [str(Path(__file__).with_name("_pyinstaller"))]
