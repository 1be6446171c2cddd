"""The compiled functions of kernels for arguments whose types are known in advance.

A compiled function that is called again and again with arguments of the same types is looked up once and
then called directly. The dispatcher would inspect the type of each argument in every call, which takes longer
than a single step.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numba import config, typeof

from rollstat.compile.fast_call import types_of_step

BoundStep = tuple[Callable[[Any, float], Any], Any]

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
    """A kernel that is always called with arguments of the same types, those of the first call."""

    __slots__ = ("_code", "_kernel")

    def __init__(self, kernel: Any) -> None:
        self._kernel = kernel
        self._code: Any = None

    def __call__(self, *arguments: Any) -> Any:
        """Call the kernel."""
        if self._code is None:
            self._code = bind(self._kernel, *arguments)
        return self._code(*arguments)


def _interpreted(step: Any, *arguments: Any) -> Any:
    if not isinstance(arguments[-1], float):
        raise TypeError("x must be a float")
    return step(*arguments)


def bind_step(step: Any, *arguments: Any) -> Any:
    """Return a compiled step, to be called with these arguments and then a float.

    A step rejects anything but a float with a TypeError, before it changes anything.
    """
    if config.DISABLE_JIT:
        return partial(_interpreted, step)
    key = step, *map(kind, arguments)
    return _compiled.get(key) or _compiled.setdefault(key, step.compile(types_of_step(arguments)))


def bind_push(step: Any, *arguments: Any) -> BoundStep:
    """Return a compiled step with all arguments bound but the last, and the last: ``step(last, x)``."""
    # A call through `partial` takes time, so a step with one argument needs none.
    *leading, last = arguments
    code = bind_step(step, *arguments)
    return (partial(code, *leading) if leading else code), last
