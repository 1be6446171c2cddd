"""The compiled functions of kernels, for arguments whose types are known beforehand.

A function that is called again and again with arrays of its own is called without looking at their types each
time, which for operators, and for a single step, takes longer than the call.
"""

from functools import partial
from typing import Any

import numpy as np
from numba import config, typeof

from rollstat.kernels.stream.fast_call import types_of_step

__all__ = ["bind", "bind_step", "kind"]

_codes: dict[Any, Any] = {}


def kind(argument: Any) -> Any:
    """What the type of an argument depends on, found more quickly than the type."""
    if isinstance(argument, np.ndarray):
        flags = argument.flags
        layout = flags.c_contiguous, flags.f_contiguous, flags.aligned, flags.writeable
        return argument.dtype, argument.ndim, *layout
    if isinstance(argument, tuple):
        return type(argument), *map(kind, argument)
    return type(argument)


def bind(kernel: Any, *arguments: Any) -> Any:
    """The compiled function for arguments of these types."""
    if config.DISABLE_JIT:
        return kernel
    kinds = kernel, *map(kind, arguments)
    if kinds not in _codes:
        _codes[kinds] = kernel.compile(tuple(map(typeof, arguments)))
    return _codes[kinds]


def _interpreted(step: Any, *arguments: Any) -> Any:
    if not isinstance(arguments[-1], float):
        raise TypeError("x must be a float")
    return step(*arguments)


def bind_step(step: Any, *arguments: Any) -> Any:
    """The same for a step, to be called with these arguments and then a float; else it raises TypeError."""
    if config.DISABLE_JIT:
        return partial(_interpreted, step)
    kinds = step, *map(kind, arguments)
    if kinds not in _codes:
        _codes[kinds] = step.compile(types_of_step(arguments))
    return _codes[kinds]
