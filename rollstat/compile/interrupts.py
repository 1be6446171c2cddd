"""Interrupts (SIGINT, Ctrl-C) come after a kernel is compiled or loaded, never during that.

An exception in a callback of LLVM ends the process, and one in the middle of Numba's work, or of its import,
leaves objects that make later calls fail.
"""

import gc
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def held_back() -> Iterator[None]:
    """Call the handler of interrupts at the end, once, if there were any."""
    handler, came = signal.getsignal(signal.SIGINT), list[Any]()
    try:
        if callable(handler):
            signal.signal(signal.SIGINT, lambda *arguments: came.append(arguments))
    except ValueError:  # outside the main thread, where Python runs no handlers
        handler = None
    try:
        yield
    finally:
        if callable(handler):
            signal.signal(signal.SIGINT, handler)
            if came:
                handler(*came[-1])


@contextmanager
def _without_collections() -> Iterator[None]:
    """Leave new objects to the next full garbage collection.

    Hundreds of collections would visit what Numba makes when it is imported, again and again, and find
    nothing. They take a quarter of the time of a first call.
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
        if not gc.get_freeze_count():
            gc.freeze()
            gc.unfreeze()  # into the oldest generation
    finally:
        if enabled:
            gc.enable()


with held_back(), _without_collections():
    from numba.core.registry import cpu_target

    _ = cpu_target.typing_context, cpu_target.target_context  # these make the engine of LLVM
