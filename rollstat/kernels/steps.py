"""Single steps of a stream of float64: push a number and return the finished answer, in one call from Python.

::

    x, t      ---> [ read objects | remove old rows | add the row | compute the answer ] ---> object
    x0 x1 ... ---> run: the same step for every element                        ---> answers, all in one call

A step is an empty NamedTuple, and the functions here are compiled for its class. Its kernels take the `state`
of the window, a tuple of arrays, and `parameters`, a tuple: ``add(state, x)`` adds a row, and removes the
oldest one of a full window of a fixed number of rows; ``drop(state, number)`` removes the oldest rows, of
windows of any number of rows; ``answer(state, parameters)`` returns the answer. Instead of these, a class may
have ``push(state, parameters, x)`` to add a row and return the answer.

The entries :func:`push_row`, :func:`push_growing` and :func:`push_state` read objects of Python. They answer
LATER before anything has changed if they do not take an object, or the memory has the wrong length; then the
window converts the objects, or moves the rows to other memory.

State: the window's state. Beside the wedge (:mod:`rollstat.kernels.extrema.wedge`), the ring `rows` keeps the
value of every row of the window. For the windows of operators, see :mod:`rollstat.kernels.aggregate.window`,
for times :mod:`rollstat.kernels.row_times`.

Invariant, cost, source: as in the window. The objects are read as ``PyFloatObject`` and
``PyDatetimeScalarObject`` are declared in the headers of Python and NumPy.
"""

from typing import NamedTuple

import numpy as np
from numba import types

import rollstat.kernels.aggregate.window as aggregate_window
import rollstat.kernels.extrema.monotonic_deque as monotonic_deque
import rollstat.kernels.extrema.wedge as wedge
import rollstat.kernels.selection.three_trees as three_trees
import rollstat.kernels.selection.two_heaps as two_heaps
from rollstat.compile.entries import (
    HEAD,
    LATER,
    answered,
    arguments_of,
    entry,
    float_at,
    whole_number,
    word_at,
)
from rollstat.compile.jit import kernel
from rollstat.compile.lowering import overloaded
from rollstat.kernels import row_times
from rollstat.kernels.aggregate.operator_calls import define
from rollstat.kernels.aggregate.ring_queue import END, FRONT, MASK
from rollstat.kernels.aggregate.window import FIRST, FOLDED, LEAST, NEXT, SPAN, method_of_class
from rollstat.kernels.row_times import CLASS, GROWS, KIND, NEWEST, TICKS, WIDTH, fits
from rollstat.kernels.selection.quantiles import quantile_point

_deque_push = monotonic_deque.push
_heaps_push, _heaps_pop, _heaps_value = two_heaps.push, two_heaps.pop, two_heaps.value_at
_heaps_upper = two_heaps.upper
_trees_push, _trees_push_quantile = three_trees.push, three_trees.push_quantile
_wedge_push, _wedge_pop = wedge.push, wedge.pop
_smallest, _largest = wedge.minimum, wedge.maximum
_smallest_row, _largest_row = wedge.minimum_position, wedge.maximum_position
_advance, _fold, _result = aggregate_window.advance, aggregate_window.fold, aggregate_window.result
_number_to_drop = aggregate_window.number_to_drop
_key_of, _number_of, _limit_of = row_times.key_of, row_times.number_of, row_times.limit_of
_leaving, _append, _note = row_times.leaving, row_times.append, row_times.note


@kernel
def distance(low, high):
    """Return ``high - low``; zero between equal infinities."""
    if low == high:
        return 0.0
    return high - low


# Order statistics. The state of heaps is header, keys and links; the state of trees is header, links and
# values.


@kernel
def _add_to_heaps(state, x):
    header, keys, links = state
    _heaps_push(header, keys, links, x, x != x)


@kernel
def _drop_from_heaps(state, number):
    header, keys, links = state
    _heaps_pop(header, keys, links, number)


@kernel
def _kth(state, parameters):
    header, keys, links = state
    return _heaps_value(header, keys, links)


class KthByHeaps(NamedTuple):
    """The k-th smallest observation, from two heaps."""

    add, drop, answer = _add_to_heaps, _drop_from_heaps, _kth


@kernel
def _argkth(state, parameters):
    return state[0][two_heaps.POSITION]


class ArgkthByHeaps(NamedTuple):
    """The row of the k-th smallest observation, -1 for none, from two heaps."""

    add, drop, answer = _add_to_heaps, _drop_from_heaps, _argkth


@kernel
def _quantile_of(state, q, interpolation):
    header, keys, _ = state
    count = header[two_heaps.COUNT]
    if count < header[two_heaps.MINIMUM]:
        return np.nan
    return quantile_point(keys[0], _heaps_upper(header, keys), count, q, interpolation)


@kernel
def _quantile(state, parameters):
    q, interpolation = parameters
    return _quantile_of(state, q, interpolation)


class Quantile(NamedTuple):
    """A quantile, or with q = 0.5 and midpoints the median, from two heaps."""

    add, drop, answer = _add_to_heaps, _drop_from_heaps, _quantile


@kernel
def _add_to_both(state, x):
    _add_to_heaps(state[0], x)
    _add_to_heaps(state[1], x)


@kernel
def _drop_from_both(state, number):
    _drop_from_heaps(state[0], number)
    _drop_from_heaps(state[1], number)


@kernel
def _quantile_distance(state, parameters):
    low, high, interpolation = parameters
    return distance(_quantile_of(state[0], low, interpolation), _quantile_of(state[1], high, interpolation))


class QuantileDistance(NamedTuple):
    """The distance between two quantiles, each from heaps of its own."""

    add, drop, answer = _add_to_both, _drop_from_both, _quantile_distance


class KthByTrees(NamedTuple):
    """The k-th smallest observation, from three trees."""

    @staticmethod
    @kernel
    def push(state, parameters, x):
        header, links, values = state
        return _trees_push(header, links, values, x, x != x)


class ArgkthByTrees(NamedTuple):
    """The row of the k-th smallest observation, -1 for none, from three trees."""

    @staticmethod
    @kernel
    def push(state, parameters, x):
        header, links, values = state
        _trees_push(header, links, values, x, x != x)
        return header[three_trees.POSITION]


class QuantileByTrees(NamedTuple):
    """A quantile, or with q = 0.5 and midpoints the median, from three trees."""

    @staticmethod
    @kernel
    def push(state, parameters, x):
        header, links, values = state
        q, interpolation = parameters
        below, above = _trees_push_quantile(header, links, values, x, x != x, q)
        if header[three_trees.COUNT] < header[three_trees.MINIMUM]:
            return below
        return quantile_point(below, above, header[three_trees.COUNT], q, interpolation)


# Extrema. The state of a deque is one array; its parameter is 1 for the minimum, -1 for the maximum. The
# state of a wedge is its own arrays and the ring of rows; its parameters are the number of observations that
# an answer needs, and whether it is the maximum.


class DequeExtremum(NamedTuple):
    """The minimum, from a monotonic deque, or the maximum, from one of the negated numbers."""

    @staticmethod
    @kernel
    def push(state, parameters, x):
        return parameters[0] * _deque_push(state[0], parameters[0] * x)


@kernel
def _add_to_wedge(state, x):
    header, position, value, observed, rows = state
    rows[header[wedge.NEXT] & (len(rows) - 1)] = x
    _wedge_push(header, position, value, observed, x, x != x)


@kernel
def _drop_from_wedge(state, number):
    header, position, value, observed, _ = state
    _wedge_pop(header, position, value, observed, number)


@kernel
def _extremum(state, parameters):
    header, position, value = state[0], state[1], state[2]
    least, greatest = parameters
    if header[wedge.OBSERVED] < least:
        return np.nan
    return _largest(header, position, value) if greatest else _smallest(header, position, value)


class WedgeExtremum(NamedTuple):
    """The minimum or the maximum, from a wedge."""

    add, drop, answer = _add_to_wedge, _drop_from_wedge, _extremum


@kernel
def _range(state, parameters):
    return distance(_extremum(state, (parameters[0], False)), _extremum(state, (parameters[0], True)))


class Range(NamedTuple):
    """The distance from the minimum to the maximum, from a wedge."""

    add, drop, answer = _add_to_wedge, _drop_from_wedge, _range


@kernel
def _row(state, parameters):
    header, position = state[0], state[1]
    least, greatest = parameters
    if header[wedge.OBSERVED] < least:
        return -1
    return _largest_row(header, position) if greatest else _smallest_row(header, position)


class ArgExtremum(NamedTuple):
    """The row of the minimum or the maximum, counted from the first row pushed; -1 for none."""

    add, drop, answer = _add_to_wedge, _drop_from_wedge, _row


_add = method_of_class("add", "state, x")
_drop = method_of_class("drop", "state, number")
_answer = method_of_class("answer", "state, parameters")


def _push(step, state, parameters, x):
    if hasattr(step, "push"):
        return step.push(state, parameters, x)
    _add(step, state, x)
    return _answer(step, state, parameters)


@overloaded(_push)
def _push_of_class(step, state, parameters, x):
    cls = step.instance_class
    if hasattr(cls, "push"):
        return define("step, state, parameters, x", ["return push(state, parameters, x)"], push=cls.push)
    body = ["add(state, x)", "return answer(state, parameters)"]
    return define("step, state, parameters, x", body, add=cls.add, answer=cls.answer)


@kernel
def run(step, state, parameters, values, out):
    """Push all of `values`, and write the answer after each into `out`."""
    for i in range(len(values)):
        out[i] = _push(step, state, parameters, values[i])


# Objects of Python.

# How objects are read: their classes, the object None, and whether infinite floats are missing.
FLOAT, DOUBLE, INTEGER, NOTHING, FINITE = range(5)
# Nanoseconds in each unit of datetimes by NumPy's number of the unit, and the most units whose nanoseconds
# fit int64; 0 for units that are converted in Python.
_NANOSECONDS = (0, 0, 7 * 86400 * 10**9, 0, 86400 * 10**9, 3600 * 10**9, 60 * 10**9, 10**9, 10**6, 1000, 1)
_MOST = tuple((2**63 - 1) // each if each else 0 for each in _NANOSECONDS)
_EXACT = 2**53


def classes(finite):
    """Return how objects are read; infinite numbers are missing if `finite`."""
    return np.array([id(float), id(np.float64), id(int), id(None), finite])


@kernel(forceinline=True)
def _class_of(item):
    return word_at(item + 8 * (HEAD - 1))


@kernel
def _read_number(classes, item):
    """Return whether an object is a float, a small integer or None, and its number, NaN if it is missing."""
    cls = _class_of(item)
    if cls == classes[FLOAT] or cls == classes[DOUBLE]:
        return True, float_at(item + 8 * HEAD)
    if cls == classes[INTEGER]:
        whole = whole_number(item)
        return -_EXACT <= whole <= _EXACT, np.float64(whole)
    return item == classes[NOTHING], np.nan


@kernel
def _read_element(classes, item):
    """As :func:`_read_number`, but infinite numbers may be missing."""
    found, number = _read_number(classes, item)
    return found, np.nan if classes[FINITE] and np.isinf(number) else number


@kernel
def _read_time(times, classes, item):
    """Return whether an object is a time of the window, not before the newest one, and its integer."""
    if times[KIND] == TICKS:
        unit = word_at(item + 8 * (HEAD + 1)) if _class_of(item) == times[CLASS] else 0
        # The unit, and above it how many of these are one.
        if unit >> 32 != 1 or unit & 0xFFFFFFFF >= len(_MOST):
            return False, 0
        count, unit = word_at(item + 8 * HEAD), unit & 0xFFFFFFFF
        key = count * _NANOSECONDS[unit]
        return -_MOST[unit] <= count <= _MOST[unit] and key >= times[NEWEST] and _MOST[unit] > 0, key
    found, number = _read_number(classes, item)
    if not found or number != number:
        return False, 0
    key = _key_of(number)
    return key >= times[NEWEST], key


# Windows of rows.


@entry
def push_row(bound, objects, number):
    """Push a number into a window of a fixed number of rows."""
    step, classes, state, parameters = arguments_of(bound)
    if number != 1:
        return LATER
    found, x = _read_element(classes, word_at(objects))
    return answered(_push_number, 0, (step, state, parameters, x)) if found else LATER


@kernel
def _push_number(step, state, parameters, x):
    return _push(step, state, parameters, x)


@entry
def push_growing(bound, objects, number):
    """Push a number, and its time if it has one, into a window of any number of rows."""
    step, classes, state, parameters, times, ring, capacity = arguments_of(bound)
    timed = times[KIND] != 0
    if number != 1 + timed:
        return LATER
    found, x = _read_element(classes, word_at(objects))
    if not found:
        return LATER
    dropped, key = 0, 0
    if timed:
        found, key = _read_time(times, classes, word_at(objects + 8))
        dropped = _leaving(times, ring, key) if found else 0
    if not (found and fits(times[row_times.END] - times[row_times.FIRST], dropped, capacity)):
        return LATER
    return answered(_push_into_growing, 0, (step, state, parameters, times, ring, x, key, dropped))


@kernel
def _push_into_growing(step, state, parameters, times, ring, x, key, dropped):
    if dropped > 0:
        _drop(step, state, dropped)
        times[row_times.FIRST] += dropped
    if len(ring) > 0:
        _append(times, ring, key)
        _note(times, key)
    else:
        times[row_times.END] += 1
    return _push(step, state, parameters, x)


@entry
def pop_rows(bound, objects, number):
    """Remove the oldest rows."""
    step, classes, state, parameters, times, _, _ = arguments_of(bound)
    rows = times[row_times.END] - times[row_times.FIRST]
    found, removed = _read_rows(classes, objects, number, rows)
    return answered(_pop, 0, (step, state, parameters, times, removed)) if found else LATER


@kernel
def _read_rows(classes, objects, number, rows):
    """Return whether a number of rows can be removed, and that number."""
    removed = 1
    if number == 1 and _class_of(word_at(objects)) == classes[INTEGER]:
        removed = whole_number(word_at(objects))
    elif number != 0:
        return False, 0
    return 0 <= removed <= rows, removed


@kernel
def _pop(step, state, parameters, times, number):
    _drop(step, state, number)
    times[row_times.FIRST] += number
    return _answer(step, state, parameters)


# Windows of states of an operator. The state is the queue's state; `times` has the times of missing rows.


def read_row(operator, example, classes, objects, number, timed):
    """Return whether the objects are a row, whether no number is missing, and its numbers, as in `example`.

    If the row is `timed`, its time follows; it is not read here.
    """
    raise NotImplementedError  # objects have addresses only in compiled code


def _arguments(operator, example):
    """Return how many columns an operator takes, and names of the time and the row if it takes these."""
    own = [name for name in ("time", "row") if getattr(operator.instance_class, f"with_{name}", False)]
    return (len(example) if isinstance(example, types.BaseTuple) else 1) - len(own), own


@overloaded(read_row)
def _read_row(operator, example, classes, objects, number, timed):
    count, _ = _arguments(operator, example)
    numbers = "".join(f"x{k}, " for k in range(count))
    body = [f"if number != {count} + timed:", f"    return False, False, ({'0.0, ' * count})"]
    body += [f"found{k}, x{k} = read(classes, word_at(objects + {8 * k}))" for k in range(count)]
    every = [" & ".join(f"{text.format(k)}" for k in range(count)) for text in ("found{0}", "(x{0} == x{0})")]
    body.append(f"return {every[0]}, {every[1]}, ({numbers})")
    parameters = "operator, example, classes, objects, number, timed"
    return define(parameters, body, read=_read_element, word_at=word_at)


def element_of(operator, example, numbers, time, row):
    """Return what an operator takes for the numbers of a row, with its time and number if it takes these."""
    raise NotImplementedError  # called in compiled code only


@overloaded(element_of)
def _element_of(operator, example, numbers, time, row):
    count, own = _arguments(operator, example)
    items = ", ".join([*(f"numbers[{k}]" for k in range(count)), *own])
    result = f"({items},)" if isinstance(example, types.BaseTuple) else items
    return define("operator, example, numbers, time, row", [f"return {result}"])


def _ages(operator, time):
    """Return whether an operator that takes the times of rows takes this one."""
    return not getattr(operator, "with_time", False) or np.isfinite(time)


@overloaded(_ages)
def _ages_of(operator, time):
    aging = "time" in _arguments(operator, None)[1]
    return (lambda operator, time: np.isfinite(time)) if aging else (lambda operator, time: True)


def _stamp(stamps, key):
    """Return a time in the form of stamps."""
    return key if stamps.dtype == np.int64 else _number_of(key)


@overloaded(_stamp)
def _stamp_of(stamps, key):
    return (lambda stamps, key: key) if stamps.dtype == types.int64 else (lambda stamps, key: _number_of(key))


def _finished(operator, result, least):
    """Return a result, or None if its last item counts fewer observations than an answer needs."""
    if not getattr(operator, "last_is_count", False):
        return result
    return None if result[-1] < least else result[:-1] if len(result) > 2 else result[0]


@overloaded(_finished)
def _finished_of(operator, result, least):
    if not getattr(operator.instance_class, "last_is_count", False):
        return lambda operator, result, least: result
    last = len(result) - 1
    items = ", ".join(f"result[{k}]" for k in range(last))
    body = [
        f"if result[{last}] < least:",
        "    return None",
        f"return {items if last == 1 else f'({items})'}",
    ]
    return define("operator, result, least", body)


@kernel
def _outcome(algorithm, operator, header, cells):
    """Return the result of a window of states, or None with too few observations."""
    if header[END] - header[FRONT] + header[FOLDED] < header[LEAST]:
        return None
    return _finished(operator, _result(algorithm, operator, header, cells), header[LEAST])


@entry
def push_state(bound, objects, number):
    """Push the numbers of a row, and its time if it has one, into a window of states."""
    classes, missing, example, counts, state, queue, times, absent = arguments_of(bound)
    header, _, stamps = state
    row, timed, by_width = header[NEXT], times[KIND] != 0, times[WIDTH] != 0
    found, observed, numbers = read_row(queue[1], example, classes, objects, number, timed)
    if not found:
        return LATER
    key = row
    if timed:
        found, key = _read_time(times, classes, word_at(objects + 8 * len(numbers)))
        if not (found and _ages(queue[1], _stamp(stamps, key))):
            return LATER
    place, limit = (key, _limit_of(times, key)) if by_width else (row, row - header[SPAN])
    if counts:  # missing rows are states too, with their number inverted
        row = row if observed else ~row
        observed = True
    stamp, limit = _stamp(stamps, place), _stamp(stamps, limit)
    if times[GROWS]:
        dropped = _number_to_drop(header, stamps, limit)
        if not fits(header[END] - header[FRONT], dropped, header[MASK] + 1):
            return LATER
        used = times[row_times.END] - times[row_times.FIRST]
        if by_width and not observed and not fits(used, _leaving(times, absent, key), len(absent)):
            return LATER
    element = element_of(queue[1], example, numbers, _stamp(stamps, key), row)
    given = queue, state, times, absent, key, limit, stamp, element, observed
    return answered(_push_into_states, missing, given)


def _fold_full(algorithm, operator, header, cells):
    """Combine the states of a full expanding window into one; other windows are never full."""
    if hasattr(algorithm.functions, "set_single"):
        header[FOLDED] += header[END] - header[FRONT] - 1
        _fold(algorithm, operator, header, cells)


@overloaded(_fold_full)
def _fold_full_of(algorithm, operator, header, cells):
    if not hasattr(algorithm.instance_class.functions, "set_single"):
        return lambda algorithm, operator, header, cells: None

    def fold_full(algorithm, operator, header, cells):
        header[FOLDED] += header[END] - header[FRONT] - 1
        _fold(algorithm, operator, header, cells)

    return fold_full


@kernel
def _push_into_states(queue, state, times, absent, key, limit, stamp, element, observed):
    (algorithm, operator), (header, cells, stamps) = queue, state
    if times[KIND] != 0:
        _note(times, key)
        if not observed:
            times[row_times.FIRST] += _leaving(times, absent, key)
            _append(times, absent, key)
    if _advance(algorithm, operator, header, cells, stamps, limit, stamp, element, observed):
        _fold_full(algorithm, operator, header, cells)
        _advance(algorithm, operator, header, cells, stamps, limit, stamp, element, observed)
    header[NEXT] += 1
    return _outcome(algorithm, operator, header, cells)


@entry
def pop_states(bound, objects, number):
    """Remove the oldest rows."""
    classes, missing, example, _, state, queue, _, _ = arguments_of(bound)
    found, removed = _read_rows(classes, objects, number, state[0][NEXT] - state[0][FIRST])
    return answered(_pop_states, missing, (queue, state, example, removed)) if found else LATER


@kernel
def _pop_states(queue, state, example, number):
    (algorithm, operator), (header, cells, stamps) = queue, state
    header[FIRST] += number
    limit = _stamp(stamps, header[FIRST] - 1)
    _advance(algorithm, operator, header, cells, stamps, limit, _stamp(stamps, 0), example, False)
    return _outcome(algorithm, operator, header, cells)
