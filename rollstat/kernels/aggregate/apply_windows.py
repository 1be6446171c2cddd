r"""A function of the values of each window.

::

    columns   a  b [c  d  e] f            out[i] = function((c, d, e), (C, D, E))
              A  B [C  D  E] F
                 start[i]  end[i]

The function is the ``combine`` of an operator, see :mod:`rollstat.kernels.aggregate.operator_calls`, but
takes one view of each column. Two windows share nothing.

State, invariant: none. Cost: one call of the function a row.
"""

from types import FunctionType

from rollstat.compile.jit import kernel
from rollstat.compile.lowering import overloaded
from rollstat.kernels.aggregate.operator_calls import method_call, save


def call_function(operator, columns, first, last):
    """Return what the function returns for the rows ``first, ..., last - 1``."""
    return operator.combine(*(column[first:last] for column in columns))


@overloaded(call_function)
def _call_function(operator, columns, first, last):
    views = [f"columns[{k}][first:last]" for k in range(len(columns))]
    call = method_call(operator.instance_class, "combine", "operator, columns, first, last", views)
    method = call.__globals__["method"]
    if isinstance(operator.instance_class.combine, FunctionType):
        method.targetoptions["boundscheck"] = True  # as in Python, it raises IndexError beyond its window
    return call


@kernel
def apply_windows(operator, columns, start, end, count, least, out):
    """Write the results of each window i whose number of observations, ``count[i]``, is at least `least`."""
    for i in range(len(start)):
        if count[i] >= least:
            save(out, i, call_function(operator, columns, start[i], end[i]))
