"""Steps of a stream of floating numbers taken one after another for an array, in one call.

::

    values    x0          x1          x2
    step      push        push        push         the step that a single element takes
    out       answer 0    answer 1    answer 2

A step is an instance of a class of its own, so that :func:`run` is compiled with it. It says of how many
windows an array may be, beside those that are short anyhow, for which the steps take no longer than the
function over arrays would for the rows held and the array; and it may have an `extend` for all values, which
writes so many `rows` of answers, the first of which are those asked for. A step of two answers has no push:
its result would be no number.

State, invariant, cost, source: those of the step, see :mod:`rollstat.kernels.stream.steps` and
:mod:`rollstat.kernels.stream.aggregate_steps`.
"""

from typing import NamedTuple

from rollstat._jit import kernel
from rollstat._lowering import overloaded
from rollstat.kernels.aggregate.operator_calls import define
from rollstat.kernels.stream import aggregate_steps, steps

__all__ = [
    "ARGKTH",
    "ARGMAX",
    "ARGMIN",
    "BOTH",
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

    windows = 1 / 4
    push = staticmethod(steps.push_heaps)


class Trees(NamedTuple):
    """The order statistic of three trees."""

    windows = 1 / 4
    push = staticmethod(steps.push_trees)


class Argkth(NamedTuple):
    """The row of the order statistic."""

    windows = 1 / 4
    push = staticmethod(steps.push_argkth)


class Median(NamedTuple):
    """The median."""

    windows = 1 / 4
    push = staticmethod(steps.push_median)


class Quantile(NamedTuple):
    """A quantile."""

    windows = 1 / 4
    push = staticmethod(steps.push_quantile)


class Spread(NamedTuple):
    """The distance of two quantiles."""

    windows = 1 / 4
    push = staticmethod(steps.push_spread)


class Minimum(NamedTuple):
    """The minimum, by ascending minima."""

    windows = 2
    push = staticmethod(steps.push_minimum)
    extend = staticmethod(steps.extend_minimum)


class Maximum(NamedTuple):
    """The maximum, by ascending minima of the opposite numbers."""

    windows = 2
    push = staticmethod(steps.push_maximum)
    extend = staticmethod(steps.extend_maximum)


class Both(NamedTuple):
    """Minimum and maximum, two rows of answers."""

    windows = 1
    push = None
    rows = 2
    extend = staticmethod(steps.extend_both)


class Range(NamedTuple):
    """The distance from the minimum to the maximum."""

    windows = 1
    push = staticmethod(steps.push_range)
    rows = 2
    extend = staticmethod(steps.extend_range)


class Argmin(NamedTuple):
    """The row of the minimum."""

    windows = 1
    push = staticmethod(steps.push_argmin)
    rows = 2
    extend = staticmethod(steps.extend_argmin)


class Argmax(NamedTuple):
    """The row of the maximum."""

    windows = 1
    push = staticmethod(steps.push_argmax)
    rows = 2
    extend = staticmethod(steps.extend_argmax)


class KeptRow(NamedTuple):
    """The result of an operator whose window keeps its rows."""

    windows = 1 / 4
    push = staticmethod(aggregate_steps.push_kept_row)


HEAPS, TREES, ARGKTH, MEDIAN = Heaps(), Trees(), Argkth(), Median()
QUANTILE, SPREAD, KEPT_ROW = Quantile(), Spread(), KeptRow()
MINIMUM, MAXIMUM, BOTH, RANGE = Minimum(), Maximum(), Both(), Range()
ARGMIN, ARGMAX = Argmin(), Argmax()


def _take(step, arguments, x):
    return step.push(*arguments, x)


@overloaded(_take)
def _take_of_class(step, arguments, x):
    places = "".join(f"arguments[{k}], " for k in range(len(arguments)))
    return define("step, arguments, x", [f"return push({places}x)"], push=step.instance_class.push)


def _take_all(step, arguments, values, out):
    for i in range(len(values)):
        out[i] = _take(step, arguments, values[i])


@overloaded(_take_all)
def _take_all_of_class(step, arguments, values, out):
    extend = getattr(step.instance_class, "extend", None)
    if extend is None:
        return _take_all
    places = "".join(f"arguments[{k}], " for k in range(len(arguments)))
    return define("step, arguments, values, out", [f"extend({places}values, out)"], extend=extend)


@kernel
def run(step, arguments, values, out):
    """Push all of `values`, and write the answers after each into `out`; a step takes `arguments` first."""
    _take_all(step, arguments, values, out)
