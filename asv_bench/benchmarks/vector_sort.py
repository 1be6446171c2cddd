"""NumPy with and without its vector sort, which some machines lack."""

import os
import sys

import numpy as np

VARIABLE = "NPY_DISABLE_CPU_FEATURES"


def features() -> str:
    """Return the CPU features that NumPy uses beyond its baseline; the vector sort needs them."""
    core = np._core._multiarray_umath
    return " ".join(name for name in core.__cpu_dispatch__ if core.__cpu_features__[name])


def environment() -> dict[str, str]:
    """Return the environment of a process whose NumPy has no vector sort."""
    disabled = features()
    return {**os.environ, VARIABLE: disabled} if disabled else dict(os.environ)


def restart_without() -> None:
    """Run this program again without the vector sort; do nothing if it has none, as on the second run."""
    if VARIABLE not in os.environ:
        os.execve(sys.executable, [sys.executable, *sys.argv], {**environment(), VARIABLE: features()})


def argsort_of_blocks(values: np.ndarray, window: int) -> np.ndarray:
    """Rank blocks of the length of a window: selection in windows cannot be faster."""
    whole = len(values) // window * window
    return values[:whole].reshape(-1, window).argsort(axis=1)
