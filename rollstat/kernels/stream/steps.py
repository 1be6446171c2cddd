"""Single steps of a stream of floating numbers: push, and the finished answer, in one call from Python.

::

    x ---> [ missing? | push into the window | from order statistics to the answer ] ---> number, NaN for none

State: that of the window, see :mod:`rollstat.kernels.selection.two_heaps` and
:mod:`rollstat.kernels.selection.three_trees`, both
as :mod:`rollstat.kernels.stream.packed_state` packs them, :mod:`rollstat.kernels.extrema.monotonic_deque` and
:mod:`rollstat.kernels.extrema.wedge`; with the wedge a further ring, ``rows``, keeps the value of every row
of the window. Invariant: theirs. Cost: that of the push. Source: theirs.
"""

import numpy as np

import rollstat.kernels.extrema.monotonic_deque as ascending_minima
import rollstat.kernels.extrema.wedge as wedge
import rollstat.kernels.selection.three_trees as three_trees
import rollstat.kernels.selection.two_heaps as two_heaps
from rollstat._jit import kernel
from rollstat.kernels.rank_space.mad_tree import middle
from rollstat.kernels.selection.quantiles import between, picks_upper
from rollstat.kernels.stream.fast_call import plain, single_step
from rollstat.kernels.stream.packed_state import unpack

__all__ = [
    "distance",
    "extend_argmax",
    "extend_argmin",
    "extend_both",
    "extend_maximum",
    "extend_minimum",
    "extend_range",
    "push_argkth",
    "push_argmax",
    "push_argmin",
    "push_heaps",
    "push_maximum",
    "push_median",
    "push_minimum",
    "push_quantile",
    "push_range",
    "push_spread",
    "push_trees",
    "quantile_point",
]

_ascending_push = ascending_minima.push
_ascending_extend = ascending_minima.extend
_heaps_push = two_heaps.push
_heaps_upper = two_heaps.upper
_trees_push = three_trees.push
_wedge_push = wedge.push
_wedge_extend = wedge.extend_with_rows
_smallest = wedge.minimum
_largest = wedge.maximum
_smallest_row = wedge.minimum_position
_largest_row = wedge.maximum_position

_COUNT = two_heaps.COUNT
_POSITION = two_heaps.POSITION
_MINIMUM = two_heaps.MINIMUM
_NEXT = wedge.NEXT


@kernel
def quantile_point(below, above, count, q, interpolation):
    """The quantile between two neighbouring order statistics, as `interpolate` finds it."""
    position = q * (count - 1)
    rank = np.int64(position)
    fraction = position - rank
    if fraction == 0.0 or count < 2:
        return below
    if interpolation == 0:
        return between(below, above, fraction)
    if interpolation == 4:
        return middle(below, above)
    return above if picks_upper(rank, fraction, interpolation) else below


@single_step
def push_heaps(state, x):
    """Push a number, and return the order statistic at or below the answer."""
    state, x = plain(state), plain(x)
    header, keys, links = unpack(state)
    return _heaps_push(header, keys, links, x, x != x)


@single_step
def push_argkth(state, x):
    """Push a number, and return the row of the order statistic, -1 for none."""
    state, x = plain(state), plain(x)
    header, keys, links = unpack(state)
    _heaps_push(header, keys, links, x, x != x)
    return header[_POSITION]


@single_step
def push_median(state, x):
    """Push a number, and return the median."""
    state, x = plain(state), plain(x)
    header, keys, links = unpack(state)
    below = _heaps_push(header, keys, links, x, x != x)
    if header[_COUNT] & 1 or header[_COUNT] < header[_MINIMUM]:
        return below
    return middle(below, _heaps_upper(header, keys))


@kernel
def _quantile(q, interpolation, state, x):
    """Push a number, and return the quantile."""
    header, keys, links = unpack(state)
    below = _heaps_push(header, keys, links, x, x != x)
    if header[_COUNT] < header[_MINIMUM]:
        return below
    return quantile_point(below, _heaps_upper(header, keys), header[_COUNT], q, interpolation)


@single_step
def push_quantile(q, interpolation, state, x):
    """Push a number, and return the quantile."""
    state, x = plain(state), plain(x)
    return _quantile(q, interpolation, state, x)


@kernel
def distance(low, high):
    """``high - low``, zero between equal infinities."""
    if low == high:
        return 0.0
    return high - low


@single_step
def push_spread(q_low, q_high, interpolation, state, other, x):
    """Push a number into two windows, and return the distance of their quantiles."""
    state, other, x = plain(state), plain(other), plain(x)
    low = _quantile(q_low, interpolation, state, x)
    return distance(low, _quantile(q_high, interpolation, other, x))


@single_step
def push_trees(state, x):
    """Push a number, and return the k-th smallest, by three trees."""
    state, x = plain(state), plain(x)
    header, values, links = unpack(state)
    return _trees_push(header, links.reshape(2, -1), values, x, x != x)


@kernel
def _push_row(header, position, value, observed, rows, x):
    """Push a number into the wedge and the ring of rows; the number of observations."""
    rows[header[_NEXT] & (len(rows) - 1)] = x
    return _wedge_push(header, position, value, observed, x, x != x)


@single_step
def push_minimum(state, x):
    """Push a number, and return the minimum, by ascending minima."""
    state, x = plain(state), plain(x)
    return _ascending_push(state, x)


@single_step
def push_maximum(state, x):
    """Push a number, and return the maximum: the minimum of the opposite numbers."""
    state, x = plain(state), plain(x)
    return -_ascending_push(state, -x)


@kernel
def extend_minimum(state, values, out):
    """Push several numbers, and write the minimum after each into `out`."""
    _ascending_extend(state, values, 1, out)


@kernel
def extend_maximum(state, values, out):
    """Push several numbers, and write the maximum after each into `out`."""
    _ascending_extend(state, values, -1, out)


@single_step
def push_range(least, header, position, value, observed, rows, x):
    """Push a number, and return the distance from the minimum to the maximum."""
    header, observed, rows, x = plain(header), plain(observed), plain(rows), plain(x)
    if _push_row(header, position, value, observed, rows, x) < least:
        return np.nan
    return distance(_smallest(header, position, value), _largest(header, position, value))


@single_step
def push_argmin(least, header, position, value, observed, rows, x):
    """Push a number, and return the row of the minimum, counted from the first row pushed."""
    header, observed, rows, x = plain(header), plain(observed), plain(rows), plain(x)
    if _push_row(header, position, value, observed, rows, x) < least:
        return -1
    return _smallest_row(header, position)


@single_step
def push_argmax(least, header, position, value, observed, rows, x):
    """Push a number, and return the row of the maximum, counted from the first row pushed."""
    header, observed, rows, x = plain(header), plain(observed), plain(rows), plain(x)
    if _push_row(header, position, value, observed, rows, x) < least:
        return -1
    return _largest_row(header, position)


@kernel
def extend_both(least, header, position, value, observed, rows, values, out):
    """Push several numbers, and write minimum and maximum after each into the two rows of `out`."""
    places = out.view(np.int64)
    _wedge_extend(header, position, value, observed, rows, least, values, places, out)


@kernel
def extend_range(least, header, position, value, observed, rows, values, out):
    """Push several numbers, and write the distance from minimum to maximum into the first row of `out`."""
    extend_both(least, header, position, value, observed, rows, values, out)
    for i in range(len(values)):
        out[0, i] = distance(out[0, i], out[1, i])


@kernel
def extend_argmin(least, header, position, value, observed, rows, values, out):
    """Push several numbers, and write the rows of minimum and maximum after each into `out`."""
    _wedge_extend(header, position, value, observed, rows, least, values, out, value[:, :0])


@kernel
def extend_argmax(least, header, position, value, observed, rows, values, out):
    """Push several numbers, and write the row of the maximum after each into both rows of `out`."""
    extend_argmin(least, header, position, value, observed, rows, values, out)
    for i in range(len(values)):
        out[0, i] = out[1, i]
