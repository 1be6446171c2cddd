"""NumPy with and without its vector sort, which not every machine has."""

import os
import sys

import numpy as np

VARIABLE = "NPY_DISABLE_CPU_FEATURES"


def features() -> str:
    """Names of what NumPy chose for this machine beyond its baseline, the vector sort among it."""
    core = np._core._multiarray_umath
    return " ".join(name for name in core.__cpu_dispatch__ if core.__cpu_features__[name])


def environment() -> dict[str, str]:
    """Environment of a process whose NumPy has no vector sort."""
    disabled = features()
    return {**os.environ, VARIABLE: disabled} if disabled else dict(os.environ)


def restart_without() -> None:
    """Run this program again without the vector sort, if it has one; nothing happens the second time."""
    if VARIABLE not in os.environ:
        os.execve(sys.executable, [sys.executable, *sys.argv], {**environment(), VARIABLE: features()})


def argsort_of_blocks(values: np.ndarray, window: int) -> np.ndarray:
    """Ranks of blocks of as many rows as a window: what selection in windows cannot be quicker than."""
    whole = len(values) // window * window
    return values[:whole].reshape(-1, window).argsort(axis=1)
