"""Tiers: a kernel that compiles quickly serves until its work would pay for compiling the fast kernel.

::

    rows      --- quick kernel ---|-------- fast kernel --------->
    compiled  0.3 s               ^ 1 to 5 s; once it is on disk, other processes begin with it

Both kernels agree to the bit, except that a zero may have either sign, so results do not depend on the tier.
A fast kernel has variants: hashable objects with a fixed text that stand for the types of its arguments and
are known before there are arguments. A variant is ready once the process has run it, or another process has
and its code is on disk. Time spent in quick kernels is an estimate by the caller, counted for each variant
and process.

Whoever names an algorithm gets it, without tiers. ``ROLLSTAT_TIERS=fast`` in the environment, or
:func:`using`, leaves out the quick kernels: for benchmarks, and to compile in advance.
"""

import os
from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

from numba import config

from rollstat._cache import is_marked, mark
from rollstat.blocks import Block
from rollstat.plan import Choice, forget_plans
from rollstat.thresholds import QUICK_CALL_SECONDS, QUICK_SECONDS

__all__ = [
    "FastKernel",
    "QuickChoice",
    "algorithm_for",
    "choose",
    "note_ready",
    "note_work",
    "serves_quickly",
    "using",
]

FastKernel = tuple[Any, Hashable]
"""A kernel that Python calls, and a variant of it."""

_MODES = ("auto", "fast", "quick")
_setting = SimpleNamespace(mode=os.environ.get("ROLLSTAT_TIERS", "auto"))
if _setting.mode not in _MODES:
    raise ValueError(f"ROLLSTAT_TIERS must be one of {_MODES}; it was {_setting.mode!r}")
_ready: dict[FastKernel, bool] = {}
_spent: dict[FastKernel, float] = {}


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


@dataclass(frozen=True)
class QuickChoice(Choice):
    """The choice of an algorithm that serves in place of a faster one.

    Attributes
    ----------
    fast : str
        The faster one.
    kernels : tuple of (kernel, variant)
        Its kernels that Python calls, each with its variant.
    seconds : float
        About how long a row takes.
    """

    fast: str = ""
    kernels: tuple[FastKernel, ...] = ()
    seconds: float = 0.0


def serves_quickly(kernel: Any, variant: Hashable, seconds: float) -> bool:
    """Return whether a quick kernel, which takes so long for a line, is to serve in place of `kernel`."""
    if _setting.mode != "auto" or config.DISABLE_JIT:
        return bool(_setting.mode == "quick")
    key = kernel, variant
    if key not in _ready:
        _ready[key] = is_marked(kernel.py_func, variant)
    # A line is not counted against itself: its blocks do not change tiers halfway.
    return (
        not _ready[key] and seconds <= QUICK_CALL_SECONDS and _spent.get(key, 0.0) - seconds <= QUICK_SECONDS
    )


def choose(
    fast: Choice,
    name: str,
    kernels: tuple[FastKernel, ...],
    rows: int,
    seconds: float,
) -> Choice:
    """Return the `fast` choice, or that of the algorithm `name` if it is to serve in its place.

    It would take so many `seconds` for a line of `rows`. The other parameters are as in :class:`QuickChoice`.
    """
    for kernel in kernels:
        if serves_quickly(*kernel, seconds):
            break
    else:
        return fast
    reason = f"it compiles quickly, and {fast.name} ({fast.reason}) is not compiled yet"
    return QuickChoice(name, reason, fast.at_run_time, fast.name, kernels, seconds / max(rows, 1))


def algorithm_for(choice: Choice, block: Block) -> str:
    """Return the algorithm for a block, and note how long it takes."""
    if not isinstance(choice, QuickChoice):
        return choice.name
    for kernel in choice.kernels:
        note_work(*kernel, block.rows * choice.seconds)
    return choice.name


def note_work(kernel: Any, variant: Hashable, seconds: float) -> None:
    """Note that a quick kernel has worked in place of `kernel` for about so long."""
    _spent[kernel, variant] = _spent.get((kernel, variant), 0.0) + seconds


def note_ready(kernel: Any, variant: Hashable) -> None:
    """Note that `kernel` has run, which means that the variant is compiled."""
    key = kernel, variant
    if not _ready.get(key) and not config.DISABLE_JIT:
        if not is_marked(kernel.py_func, variant):
            mark(kernel.py_func, variant)
        _ready[key] = True
        forget_plans()  # plans were made for the quick kernel
