"""Interrupts (SIGINT, Ctrl-C) come after a kernel is compiled or loaded, never during that.

An exception in a callback of LLVM ends the process, and one in the middle of Numba's work, or of its import,
leaves objects that make later calls fail.
"""

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


with held_back():
    import numba.extending
    import numba.np.arrayobj  # noqa: F401  # otherwise Numba imports it at the first kernel
    from numba.core.registry import cpu_target

    _ = cpu_target.typing_context, cpu_target.target_context  # these make the engine of LLVM
