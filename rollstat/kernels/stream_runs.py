"""Steps of a stream of floating numbers taken one after another for an array, in one call.

::

    values    x0          x1          x2
    step      push        push        push         the step that a single element takes
    out       answer 0    answer 1    answer 2

A step is an instance of a class of its own, so that :func:`run` is compiled with it.

State, invariant, cost, source: those of the step, see :mod:`rollstat.kernels.stream_steps` and
:mod:`rollstat.kernels.stream_aggregates`.
"""

from typing import NamedTuple

from rollstat._jit import kernel
from rollstat._lowering import overloaded
from rollstat.kernels import stream_aggregates, stream_steps
from rollstat.kernels.states import define

__all__ = [
    "ARGKTH",
    "ARGMAX",
    "ARGMIN",
    "HEAPS",
    "KEPT_ROW",
    "MAXIMUM",
    "MEDIAN",
    "MINIMUM",
    "QUANTILE",
    "RANGE",
    "SPREAD",
    "TREES",
    "run",
]


class Heaps(NamedTuple):
    """The order statistic between two heaps."""

    push = staticmethod(stream_steps.push_heaps)


class Trees(NamedTuple):
    """The order statistic of three trees."""

    push = staticmethod(stream_steps.push_trees)


class Argkth(NamedTuple):
    """The row of the order statistic."""

    push = staticmethod(stream_steps.push_argkth)


class Median(NamedTuple):
    """The median."""

    push = staticmethod(stream_steps.push_median)


class Quantile(NamedTuple):
    """A quantile."""

    push = staticmethod(stream_steps.push_quantile)


class Spread(NamedTuple):
    """The distance of two quantiles."""

    push = staticmethod(stream_steps.push_spread)


class Minimum(NamedTuple):
    """The minimum, by ascending minima."""

    push = staticmethod(stream_steps.push_minimum)


class Maximum(NamedTuple):
    """The maximum, by ascending minima of the opposite numbers."""

    push = staticmethod(stream_steps.push_maximum)


class Range(NamedTuple):
    """The distance from the minimum to the maximum."""

    push = staticmethod(stream_steps.push_range)


class Argmin(NamedTuple):
    """The row of the minimum."""

    push = staticmethod(stream_steps.push_argmin)


class Argmax(NamedTuple):
    """The row of the maximum."""

    push = staticmethod(stream_steps.push_argmax)


class KeptRow(NamedTuple):
    """The result of an operator whose window keeps its rows."""

    push = staticmethod(stream_aggregates.push_kept_row)


HEAPS, TREES, ARGKTH, MEDIAN = Heaps(), Trees(), Argkth(), Median()
QUANTILE, SPREAD, KEPT_ROW = Quantile(), Spread(), KeptRow()
MINIMUM, MAXIMUM, RANGE = Minimum(), Maximum(), Range()
ARGMIN, ARGMAX = Argmin(), Argmax()


def _take(step, arguments, x):
    return step.push(*arguments, x)


@overloaded(_take)
def _take_of_class(step, arguments, x):
    places = "".join(f"arguments[{k}], " for k in range(len(arguments)))
    return define("step, arguments, x", [f"return push({places}x)"], push=step.instance_class.push)


@kernel
def run(step, arguments, values, out):
    """Push all of `values`, and write the answer after each into `out`; a step takes `arguments` first."""
    for i in range(len(values)):
        out[i] = _take(step, arguments, values[i])
