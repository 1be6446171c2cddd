"""Single steps of a stream of float64: push a number and return the finished answer, in one call from Python.

::

    x         ---> [ push into the window | compute the answer ] ---> number; NaN or -1 for none
    x0 x1 ... ---> run: the same step for every element          ---> answers, all in one call

    int64   int64     int64 ...   float64 ...   int32 ...
    [ len(header), len(values) | header | values | links ]       three arrays packed into one, of float64

A step is an empty NamedTuple, so that :func:`run` is compiled for its class. ``push(*arguments, x)`` takes
the arrays of the window first. A compiled push returns one number, so statistics of two outputs have none.
Each array argument of a call from Python costs 10 ns without reference counts and 40 ns with them, as much as
the step of many algorithms.

State: that of the window. Heaps and trees (:mod:`rollstat.kernels.selection.two_heaps`,
:mod:`rollstat.kernels.selection.three_trees`) are packed into one array each, of which :func:`views` returns
views, and the monotonic deque (:mod:`rollstat.kernels.extrema.monotonic_deque`) is one array. Beside the
wedge (:mod:`rollstat.kernels.extrema.wedge`), the ring `rows` keeps the value of every row of the window. For
the windows of operators, see :mod:`rollstat.kernels.aggregate.window`.

Invariant, cost, source: those of the window. A copy of a packed array is a copy of the state.
"""

from typing import NamedTuple

import numpy as np

import rollstat.kernels.aggregate.window as aggregate_window
import rollstat.kernels.extrema.monotonic_deque as monotonic_deque
import rollstat.kernels.extrema.wedge as wedge
import rollstat.kernels.selection.three_trees as three_trees
import rollstat.kernels.selection.two_heaps as two_heaps
from rollstat.compile.fast_call import plain, single_step
from rollstat.compile.jit import kernel
from rollstat.compile.lowering import overloaded
from rollstat.kernels.aggregate.operator_calls import define
from rollstat.kernels.aggregate.ring_queue import END, FRONT
from rollstat.kernels.aggregate.window import FOLDED, LEAST, NEXT, SPAN
from rollstat.kernels.rank_space.distances import middle
from rollstat.kernels.selection.quantiles import quantile_point

_deque_push = monotonic_deque.push
_heaps_push, _heaps_upper = two_heaps.push, two_heaps.upper
_trees_push, _trees_push_quantile = three_trees.push, three_trees.push_quantile
_wedge_push = wedge.push
_smallest, _largest = wedge.minimum, wedge.maximum
_smallest_row, _largest_row = wedge.minimum_position, wedge.maximum_position
_advance, _fold, _result = aggregate_window.advance, aggregate_window.fold, aggregate_window.result

_LENGTHS = 2


def pack(header, values, links):
    """Return one array with a copy of three: int64, float64 and int32."""
    state = np.zeros(_LENGTHS + len(header) + len(values) + (len(links) + 1) // 2)
    state[:_LENGTHS].view(np.int64)[:] = len(header), len(values)
    for part, given in zip(views(state), (header, values, links)):
        part[: len(given)] = given
    return state


def views(state):
    """Return views of the three arrays."""
    lengths = state[:_LENGTHS].view(np.int64)
    first = _LENGTHS + lengths[0]
    last = first + lengths[1]
    return state[_LENGTHS:first].view(np.int64), state[first:last], state[last:].view(np.int32)


_unpack = kernel(inline="always")(views)


@kernel
def distance(low, high):
    """Return ``high - low``; zero between equal infinities."""
    if low == high:
        return 0.0
    return high - low


@kernel
def _push_heaps(state, x):
    """Push a number into packed heaps; return the header, the keys and the order statistic."""
    header, keys, links = _unpack(state)
    return header, keys, _heaps_push(header, keys, links, x, x != x)


@kernel
def _push_trees(state, x):
    """Push a number into packed trees; return the header and the order statistic."""
    header, values, links = _unpack(state)
    return header, _trees_push(header, links.reshape(2, -1), values, x, x != x)


class KthByHeaps(NamedTuple):
    """The k-th smallest observation, from two heaps."""

    @staticmethod
    @single_step
    def push(state, x):
        return _push_heaps(plain(state), plain(x))[2]


class KthByTrees(NamedTuple):
    """The k-th smallest observation, from three trees."""

    @staticmethod
    @single_step
    def push(state, x):
        return _push_trees(plain(state), plain(x))[1]


class ArgkthByHeaps(NamedTuple):
    """The row of the k-th smallest observation, -1 for none, from two heaps."""

    @staticmethod
    @single_step
    def push(state, x):
        return _push_heaps(plain(state), plain(x))[0][two_heaps.POSITION]


class ArgkthByTrees(NamedTuple):
    """The row of the k-th smallest observation, -1 for none, from three trees."""

    @staticmethod
    @single_step
    def push(state, x):
        return _push_trees(plain(state), plain(x))[0][three_trees.POSITION]


class Median(NamedTuple):
    """The median."""

    @staticmethod
    @single_step
    def push(state, x):
        header, keys, below = _push_heaps(plain(state), plain(x))
        if header[two_heaps.COUNT] & 1 or header[two_heaps.COUNT] < header[two_heaps.MINIMUM]:
            return below
        return middle(below, _heaps_upper(header, keys))


@kernel
def _push_quantile(q, interpolation, state, x):
    header, keys, below = _push_heaps(state, x)
    count = header[two_heaps.COUNT]
    if count < header[two_heaps.MINIMUM]:
        return below
    return quantile_point(below, _heaps_upper(header, keys), count, q, interpolation)


class Quantile(NamedTuple):
    """A quantile."""

    @staticmethod
    @single_step
    def push(q, interpolation, state, x):
        return _push_quantile(q, interpolation, plain(state), plain(x))


class QuantileByTrees(NamedTuple):
    """A quantile, or with q = 0.5 and midpoints the median, from three trees."""

    @staticmethod
    @single_step
    def push(q, interpolation, state, x):
        state, x = plain(state), plain(x)
        header, values, links = _unpack(state)
        below, above = _trees_push_quantile(header, links.reshape(2, -1), values, x, x != x, q)
        if header[three_trees.COUNT] < header[three_trees.MINIMUM]:
            return below
        return quantile_point(below, above, header[three_trees.COUNT], q, interpolation)


class QuantileDistance(NamedTuple):
    """The distance between two quantiles, each from heaps of its own."""

    @staticmethod
    @single_step
    def push(q_low, q_high, interpolation, state_low, state_high, x):
        x = plain(x)
        low = _push_quantile(q_low, interpolation, plain(state_low), x)
        return distance(low, _push_quantile(q_high, interpolation, plain(state_high), x))


class Minimum(NamedTuple):
    """The minimum, from a monotonic deque."""

    @staticmethod
    @single_step
    def push(state, x):
        return _deque_push(plain(state), plain(x))


class Maximum(NamedTuple):
    """The maximum, from a monotonic deque of the negated numbers."""

    @staticmethod
    @single_step
    def push(state, x):
        return -_deque_push(plain(state), -plain(x))


@kernel
def _push_wedge(header, position, value, observed, rows, x):
    """Push a number into the wedge and the ring of rows, and return the number of observations."""
    header, observed, rows, x = plain(header), plain(observed), plain(rows), plain(x)
    rows[header[wedge.NEXT] & (len(rows) - 1)] = x
    return _wedge_push(header, position, value, observed, x, x != x)


class Range(NamedTuple):
    """The distance from the minimum to the maximum, from a wedge."""

    @staticmethod
    @single_step
    def push(min_periods, header, position, value, observed, rows, x):
        if _push_wedge(header, position, value, observed, rows, x) < min_periods:
            return np.nan
        header = plain(header)
        return distance(_smallest(header, position, value), _largest(header, position, value))


class Argmin(NamedTuple):
    """The row of the minimum, counted from the first row pushed."""

    @staticmethod
    @single_step
    def push(min_periods, header, position, value, observed, rows, x):
        if _push_wedge(header, position, value, observed, rows, x) < min_periods:
            return -1
        return _smallest_row(plain(header), position)


class Argmax(NamedTuple):
    """The row of the maximum, counted from the first row pushed."""

    @staticmethod
    @single_step
    def push(min_periods, header, position, value, observed, rows, x):
        if _push_wedge(header, position, value, observed, rows, x) < min_periods:
            return -1
        return _largest_row(plain(header), position)


@kernel
def _add_row(algorithm, operator, header, cells, stamps, element, observed):
    """Add a row to a window, whose states become one if they fill it; return the number of observations."""
    row = header[NEXT]
    limit = row - header[SPAN]
    if _advance(algorithm, operator, header, cells, stamps, limit, row, element, observed):
        header[FOLDED] += header[END] - header[FRONT] - 1
        _fold(algorithm, operator, header, cells)
        _advance(algorithm, operator, header, cells, stamps, limit, row, element, observed)
    header[NEXT] = row + 1
    return header[END] - header[FRONT] + header[FOLDED]


@single_step
def push_row(algorithm, operator, header, cells, stamps, x):
    """Push a number, and return the operator's result, NaN with fewer than LEAST observations."""
    header, cells, stamps, x = plain(header), plain(cells), plain(stamps), plain(x)
    if _add_row(algorithm, operator, header, cells, stamps, x, x == x) >= header[LEAST]:
        return _result(algorithm, operator, header, cells)
    return np.nan


@single_step
def push_counted(algorithm, operator, header, cells, stamps, x):
    """As `push_row`, for an operator whose states are rows, and whose last result counts the observations."""
    header, cells, stamps, x = plain(header), plain(cells), plain(stamps), plain(x)
    row = header[NEXT]
    _add_row(algorithm, operator, header, cells, stamps, (x, row if x == x else ~row), True)
    answer, count = _result(algorithm, operator, header, cells)
    return answer if count >= header[LEAST] else np.nan


def _push(step, arguments, x):
    return step.push(*arguments, x)


@overloaded(_push)
def _push_of_class(step, arguments, x):
    places = "".join(f"arguments[{k}], " for k in range(len(arguments)))
    return define("step, arguments, x", [f"return push({places}x)"], push=step.instance_class.push)


@kernel
def run(step, arguments, values, out):
    """Push all of `values`, and write the answer after each into `out`; `arguments` are those of the step."""
    for i in range(len(values)):
        out[i] = _push(step, arguments, values[i])
