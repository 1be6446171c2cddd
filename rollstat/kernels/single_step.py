"""How steps are compiled that Python calls with one element at a time.

::

    push(x) ---> [ unbox | step | box ] ---> answer         all of it under the interpreter's lock

State, invariant: none. Cost: letting go of the lock and taking it back takes some 27 ns, as long as many a
step, so a single step keeps it; loops over arrays let go of it, see :mod:`rollstat._jit`.
"""

from numba import config

from rollstat._jit import kernel

__all__ = ["single_step"]


def single_step(function):
    """Compile a step over preallocated arrays that is to be called from Python, for the shortest call."""
    dispatcher = kernel(references=False)(function)
    if not config.DISABLE_JIT:
        dispatcher.targetoptions["nogil"] = False
    return dispatcher
