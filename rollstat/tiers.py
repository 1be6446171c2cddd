"""Tiers: one call of a kernel that compiles quickly serves a long series until its blocks pay for compiling.

::

    rows      --- one call -------|-------- blocks ------------>
    compiled  0.5 s               ^ 1 to 5 s; once they are on disk, other processes begin with them

Both agree bit-for-bit, except for the signs of zeros, because only computations that do not round have tiers.
A variant is what tells the kernels of blocks apart before there are values. It is ready once the process has
run its blocks, or another process has and their code is on disk. The time spent in such calls is an estimate,
counted for each variant and process.

Whoever names an algorithm gets it, without tiers. ``ROLLSTAT_TIERS=fast`` in the environment, or
:func:`using`, leaves them out: for benchmarks, and to compile in advance.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

from numba import config

from rollstat.compile.cache import is_marked, mark
from rollstat.plan import OneCall, Plan, forget_plans
from rollstat.thresholds import QUICK_CALL_SECONDS, QUICK_SECONDS

_MODES = ("auto", "fast", "quick")
_setting = SimpleNamespace(mode=os.environ.get("ROLLSTAT_TIERS", "auto"))
if _setting.mode not in _MODES:
    raise ValueError(f"ROLLSTAT_TIERS must be one of {_MODES}; got {_setting.mode!r}")
_ready: dict[Any, bool] = {}
_spent: dict[Any, float] = {}


@contextmanager
def using(mode: str) -> Iterator[None]:
    """Let all threads use ``"auto"``, both ways, or ``"fast"`` or ``"quick"``, one of them."""
    before, _setting.mode = _setting.mode, mode
    forget_plans()
    try:
        yield
    finally:
        _setting.mode = before
        forget_plans()


def call_of(plan: Plan) -> OneCall | None:
    """Return the one call to try: for a short series, or until the kernels of the blocks are compiled."""
    return plan.one_call or (plan.call if _serves_quickly(plan) else None)


def _serves_quickly(plan: Plan) -> bool:
    """Return whether the one call of a long series is to serve in place of blocks."""
    if _setting.mode == "fast" or config.DISABLE_JIT or plan.call is None or plan.computation.rounds:
        return False
    if _setting.mode == "quick":
        return True
    few = not _pays(_compute_of(plan), plan.variant)
    return few and plan.call_seconds <= QUICK_CALL_SECONDS


def _pays(function: Any, variant: Any) -> bool:
    """Return whether a variant is ready, or was spared for so long that compiling it pays."""
    if variant not in _ready:
        _ready[variant] = is_marked(function, variant)
    return _ready[variant] or _spent.get(variant, 0.0) > QUICK_SECONDS


def pays(kernel: Any, variant: Any, seconds: float) -> bool:
    """Return whether to compile a variant of a kernel, and note that it would save so many seconds."""
    if _setting.mode != "auto" or config.DISABLE_JIT:
        return _setting.mode == "fast" and not config.DISABLE_JIT
    if not _pays(kernel.py_func, variant):
        _spent[variant] = _spent.get(variant, 0.0) + seconds
        return False
    if not _ready[variant]:
        mark(kernel.py_func, variant)
        _ready[variant] = True
    return True


def note_work(plan: Plan) -> None:
    """Note that the one call serves a long line in place of blocks."""
    _spent[plan.variant] = _spent.get(plan.variant, 0.0) + plan.call_seconds


def note_ready(plan: Plan) -> None:
    """Note that the blocks of a plan have run, so their kernels are compiled."""
    if plan.call is None or plan.computation.rounds or config.DISABLE_JIT or _ready.get(plan.variant):
        return
    compute, variant = _compute_of(plan), plan.variant
    if not is_marked(compute, variant):
        mark(compute, variant)
    _ready[variant] = True


def _compute_of(plan: Plan) -> Any:
    """Return the function on whose source, and all that it imports, the kernels depend."""
    return type(plan.computation).compute
