"""The compiled functions of kernels for arguments whose types are known in advance.

A compiled function that is called again and again with arguments of the same types is looked up once and then
called directly. The dispatcher would inspect the type of each argument in every call, and that takes longer
than a single step.
"""

from typing import Any

import numpy as np
from numba import config, typeof

from rollstat.compile.entries import STEPS, compiled_step, words_of

_compiled: dict[Any, Any] = {}


def kind(argument: Any) -> Any:
    """Return a key for the type of an argument, faster than the type itself."""
    if isinstance(argument, np.ndarray):
        flags = argument.flags
        layout = flags.c_contiguous, flags.f_contiguous, flags.aligned, flags.writeable
        return argument.dtype, argument.ndim, *layout
    if isinstance(argument, tuple):
        return type(argument), *map(kind, argument)
    return type(argument)


def bind(kernel: Any, *arguments: Any) -> Any:
    """Return the compiled function of a kernel for arguments of these types."""
    if config.DISABLE_JIT:
        return kernel
    key = kernel, *map(kind, arguments)
    return _compiled.get(key) or _compiled.setdefault(key, kernel.compile(tuple(map(typeof, arguments))))


def forget_bound() -> None:
    """Forget which compiled functions have been looked up; those that are in use stay."""
    _compiled.clear()


class BoundKernel:
    """A kernel that is always called with arguments of the same types as in the first call."""

    __slots__ = ("_code", "_kernel")

    def __init__(self, kernel: Any) -> None:
        self._kernel = kernel
        self._code: Any = None

    def __call__(self, *arguments: Any) -> Any:
        """Call the kernel."""
        if self._code is None:
            self._code = bind(self._kernel, *arguments)
        return self._code(*arguments)


class Words(np.ndarray[Any, Any]):
    """Steps and their arguments, as :mod:`rollstat.compile.entries` reads them."""

    held: Any = None
    """What must stay in memory: the arguments and the code."""


def words(steps: tuple[Any, ...], *arguments: Any) -> Words:
    """Return steps and the arguments that all take; no step if none can be compiled for these."""
    found = []
    for step in () if config.DISABLE_JIT else steps:
        key = step, *map(kind, arguments)
        found.append(_compiled.get(key) or _compiled.setdefault(key, compiled_step(step, arguments)))
    addresses = [address for address, _ in found]
    numbers = addresses + [0] * (STEPS - len(found))
    made = np.array(numbers + words_of(arguments) if all(addresses) else [0] * STEPS).view(Words)
    made.held = arguments, found
    return made
