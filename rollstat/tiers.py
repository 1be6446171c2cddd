"""Tiers: a kernel that compiles quickly serves until its work would pay for compiling the fast kernel.

::

    rows      --- quick kernel ---|-------- fast kernel --------->
    compiled  0.3 s               ^ 1 to 5 s; once it is on disk, other processes begin with it

Both kernels agree to the bit, so results do not depend on the tier; data for which they do not go to the fast
one. A fast kernel has variants: texts that
stand for the types of its arguments and are known before there are arguments. A variant is ready once the
process has run it, or another process has and its code is on disk. Time spent in quick kernels is an
estimate by the caller, counted for each variant and process.

Whoever names an algorithm gets it, without tiers. ``ROLLSTAT_TIERS=fast`` in the environment, or
:func:`using`, leaves out the quick kernels: for benchmarks, and to compile in advance.
"""

import os
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import numpy as np
from numba import config
from numpy.typing import NDArray

from rollstat._cache import is_marked, mark
from rollstat.plan import Choice, forget_plans
from rollstat.thresholds import QUICK_CALL_SECONDS, QUICK_SECONDS

__all__ = ["has_negative_zero", "note_ready", "note_work", "quick_choice", "serves_quickly", "using"]

_MODES = ("auto", "fast", "quick")
_setting = SimpleNamespace(mode=os.environ.get("ROLLSTAT_TIERS", "auto"))
if _setting.mode not in _MODES:
    raise ValueError(f"ROLLSTAT_TIERS must be one of {_MODES}; it was {_setting.mode!r}")
_ready: dict[tuple[Any, str], bool] = {}
_spent: Counter[tuple[Any, str]] = Counter()


@contextmanager
def using(mode: str) -> Iterator[None]:
    """Let all threads use ``"auto"``, both kinds of kernels, or ``"fast"`` or ``"quick"`` ones alone."""
    before, _setting.mode = _setting.mode, mode
    forget_plans()
    try:
        yield
    finally:
        _setting.mode = before
        forget_plans()


def serves_quickly(kernel: Any, variant: str, seconds: float) -> bool:
    """Return whether a quick kernel, which takes so long for a line, is to serve in place of `kernel`."""
    if _setting.mode != "auto" or config.DISABLE_JIT:
        return bool(_setting.mode == "quick")
    key = kernel, variant
    if key not in _ready:
        _ready[key] = is_marked(kernel.py_func, variant)
    # A line is not counted against itself: its blocks do not change tiers halfway.
    return not _ready[key] and seconds <= QUICK_CALL_SECONDS and _spent[key] - seconds <= QUICK_SECONDS


def note_work(kernel: Any, variant: str, seconds: float) -> None:
    """Note that a quick kernel has worked in place of `kernel` for about so long."""
    _spent[kernel, variant] += seconds  # type: ignore[assignment]  # a Counter of floats


def note_ready(kernel: Any, variant: str) -> None:
    """Note that `kernel` has run, which means that the variant is compiled."""
    key = kernel, variant
    if not _ready.get(key) and not config.DISABLE_JIT:
        if not is_marked(kernel.py_func, variant):
            mark(kernel.py_func, variant)
        _ready[key] = True
        forget_plans()  # plans were made for the quick kernel


def quick_choice(name: str, fast: Choice, *exceptions: str) -> Choice:
    """Return the choice of the quick algorithm `name`; with one of the `exceptions` the fast one runs."""
    reason = f"it compiles quickly, and {fast.name} ({fast.reason}) has not been compiled yet"
    return Choice(name, reason, tuple((fast.name, exception) for exception in exceptions) + fast.at_run_time)


def has_negative_zero(values: NDArray[Any]) -> bool:
    """Return whether a value is -0.0, which equals 0.0.

    Selection and extrema may return either, and kernels differ in which. Everything else is equal to the bit.
    """
    if values.dtype.kind != "f":
        return False
    bits = values.view(f"i{values.itemsize}")
    return bool((bits == np.iinfo(bits.dtype).min).any())
