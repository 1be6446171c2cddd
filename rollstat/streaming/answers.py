"""How the statistics of rows use their windows: representation, compiled step and answer.

Each function takes the :class:`~rollstat.streaming.statistic_window.StatisticWindow`. A `..._window` makes
the representation, a `..._step` returns a step of :mod:`rollstat.kernels.steps` with its parameters,
and a `..._answer` returns the stored form of the answer of a window with enough observations: a tuple for
several outputs, None if there is no answer.
"""

from typing import Any

import numpy as np

from rollstat.dtypes import is_large
from rollstat.kernels import steps
from rollstat.kernels.rank_space import gini, sorted_window
from rollstat.kernels.rank_space.distances import deviation, middle
from rollstat.kernels.rank_space.rank import DENSE, METHODS, place_of
from rollstat.kernels.rank_space.sorted_windows import mode_of_sorted, nearest_distances
from rollstat.kernels.rank_space.trimmed_mean import mean_of_kept, sum_in_four
from rollstat.kernels.selection.quantiles import (
    interpolate_large,
    interpolate_whole,
    quantile_point,
    whole_spread,
)
from rollstat.registry import REGISTRY
from rollstat.statistics.ranks.mad import scaled_deviation
from rollstat.statistics.selection.computation import OrderStatistic
from rollstat.statistics.selection.ranking import measurable
from rollstat.streaming.representations import (
    HeapWindow,
    MonotonicWindow,
    SortedWindow,
    TreeWindow,
    WedgeWindow,
    WindowPair,
)
from rollstat.windows import Expanding

Step = tuple[Any, tuple[Any, ...]]

# Order statistics: two heaps or three trees.


def _heaps_or_trees(window: Any, request: OrderStatistic) -> Any:
    """Make heaps, or trees if the algorithm is that, which order equal values by row in any case."""
    trees = window.algorithm == "three_trees"
    if trees and not window.spec.fixed:
        raise ValueError("algorithm 'three_trees' supports only windows of a fixed number of rows")
    rule: dict[str, Any] = {"k": request.k} if request.k else {"q": request.q}
    rule |= {"min_periods": window.min_periods, "ties": window.computation.positions}
    return (TreeWindow if trees else HeapWindow)(window.spec.fixed, window.codec.stored, **rule)


def order_window(window: Any) -> Any:
    """Make heaps or trees for each order statistic of the computation; a sorted array for several answers."""
    if len(window.outputs) > 1:
        if window.algorithm != "auto" or window.computation.positions:
            raise ValueError(
                f"{window.row.name} takes one k with algorithm={window.algorithm!r}; got {window.parameters}"
            )
        return sorted_window_of(window)
    first, *second = (_heaps_or_trees(window, request) for request in window.computation.requests)
    return WindowPair(first, *second) if second else first


def order_step(window: Any) -> Step | None:
    """Return the step that pushes into heaps or trees, with the parameters of quantiles."""
    if len(window.outputs) > 1:
        return None
    held, (request, *second) = window.representation, window.computation.requests
    if second:
        return steps.QuantileDistance(), (request.q, second[0].q, request.code)
    trees = isinstance(held, TreeWindow)
    if request.k and window.computation.positions:
        return (steps.ArgkthByTrees() if trees else steps.ArgkthByHeaps()), ()
    if request.k:
        return (steps.KthByTrees() if trees else steps.KthByHeaps()), ()
    parameters = request.q, request.code
    return (steps.QuantileByTrees() if trees else steps.Quantile()), parameters


def order_answer(window: Any) -> Any:
    """Return the order statistic, its row, or the distance between two."""
    held, (request, *second) = window.representation, window.computation.requests
    if len(window.outputs) > 1:
        return tuple(_answer_of_sorted(window, one) for one in (request, *second))
    if second:
        return _spread(window, request, *second)
    if not request.k:
        return _quantile(window, held.pair(), held.count, request)
    return held.position if window.computation.positions else held.pair()[0]


def _answer_of_sorted(window: Any, request: OrderStatistic) -> Any:
    ordered = window.representation.ordered
    if len(ordered) < request.required:
        return None
    if request.k:
        return ordered[request.k - (request.k > 0)]
    last = len(ordered) - 1
    rank = int(np.floor(request.q * last))
    return _quantile(window, (ordered[rank], ordered[min(rank + 1, last)]), len(ordered), request)


def _quantile(window: Any, pair: tuple[Any, Any], count: int, request: OrderStatistic) -> Any:
    """Return a quantile of `count` observations from the order statistics around it."""
    below, above = pair
    q, code = request.q, request.code
    if window.codec.kind == "f":
        return quantile_point(below, above, count, q, code)
    lower, upper, observations = np.array([below]), np.array([above]), np.array([count])
    if window.codec.kind in "iub" and request.kind() == "interpolated":
        result, signed = np.zeros(1), lower.dtype.kind == "i"
        words = lower.view(np.uint64), upper.view(np.uint64)
        interpolate_large(*words, signed, observations, q, code, result)
    else:
        result = np.zeros(1, window.codec.stored)
        interpolate_whole(lower, upper, observations, q, code, result)
    return result[0]


def _spread(window: Any, low: OrderStatistic, high: OrderStatistic) -> Any:
    """Return the distance between two quantiles."""
    pair, codec = window.representation.pair, window.codec
    between = low.kind() == "interpolated"
    if between and codec.kind in "iu" and codec.dtype.itemsize == 8:
        # The difference of two points that need not fit in float64.
        result, count = np.zeros(1), np.array([pair[0].count])
        columns = [np.array(values).reshape(2, 1) for values in zip(pair[0].pair(), pair[1].pair())]
        whole_spread(*columns, count, low.q, high.q, low.interpolation == "midpoint", result)
        return result[0]
    first, last = (_quantile(window, held.pair(), held.count, end) for held, end in zip(pair, (low, high)))
    return _distance(window, first, last, whole=not between)


def _distance(window: Any, low: Any, high: Any, whole: bool = True) -> Any:
    """Return ``high - low``: exact if `whole` or of times, else in the dtype of the elements."""
    kind, dtype = window.codec.kind, window.codec.dtype
    if kind == "f":
        return steps.distance(dtype.type(low), dtype.type(high))
    if not whole and kind not in "mM":
        return steps.distance(low, high)
    distance = int(high) - int(low)
    if kind in "mM" and distance >= 2**63:
        raise OverflowError("the difference of two datetimes of a window does not fit in 64 bits")
    return distance


# Extrema: a wedge, or a monotonic deque.


def extrema_window(window: Any) -> Any:
    """Make what keeps the extrema of the computation: a deque for one, or a wedge."""
    name, *second = window.computation.names
    fixed, stored = window.spec.fixed, window.codec.stored
    if name in ("min", "max") and not second and fixed and stored == np.float64:
        return MonotonicWindow(fixed, 1 if name == "min" else -1, window.min_periods)
    if not name.startswith("arg"):
        return WedgeWindow(fixed, stored, "any")
    # A wedge that prefers the last of equal minima prefers the first of equal maxima.
    last, one = window.computation.last != (name == "argmax"), not second or window.computation.opposite
    rules = ("minimum_first", "minimum_last")[:: -1 if last else 1]
    wedges = [WedgeWindow(fixed, stored, rule) for rule in rules[: 1 if one else 2]]
    return wedges[0] if one else WindowPair(*wedges)


def extrema_step(window: Any) -> Step | None:
    """Return the step that pushes and finds one extremum, or the distance of both."""
    held, (name, *second) = window.representation, window.computation.names
    if second:
        return None
    greatest = name.endswith("max")
    if isinstance(held, MonotonicWindow):
        return steps.DequeExtremum(), (-1.0 if greatest else 1.0,)
    step = steps.Range() if name == "ptp" else steps.WedgeExtremum()
    return (steps.ArgExtremum() if name.startswith("arg") else step), (window.needs, greatest)


def extrema_answer(window: Any) -> Any:
    """Return extrema, their rows, or the distance from minimum to maximum."""
    held, (name, *second) = window.representation, window.computation.names
    if isinstance(held, MonotonicWindow):
        return held.extreme()
    low, high = held.positions() if name.startswith("arg") else held.extrema()
    if isinstance(held, WindowPair):
        high = held.pair[1].positions()[1]
    if second:
        return low, high
    if name == "ptp":
        return _distance(window, low, high)
    return high if name.endswith("max") else low


# Statistics of all observations in order: a sorted array.


def sorted_window_of(window: Any) -> Any:
    """Make a sorted array of the observations."""
    return SortedWindow(window.spec.fixed, window.codec.stored)


def rank_answer(window: Any) -> Any:
    """Return the rank of the newest element."""
    held, p = window.representation, window.parameters
    newest, method = held.newest, METHODS[p["method"]]
    if newest is None:
        return None
    counts = sorted_window.rank(held.arrays[3], held.count, newest, method == DENSE)
    return place_of(*counts, method, p["ascending"], p["pct"])


def nunique_answer(window: Any) -> Any:
    """Return the number of distinct values."""
    return window.representation.distinct


def mode_answer(window: Any) -> Any:
    """Return the most frequent value."""
    return mode_of_sorted(window.representation.arrays[3], window.observations)


def _deviation(window: Any) -> tuple[Any, Any, Any]:
    """Return the two middle observations and the deviation, doubled for integers so that it is whole."""
    ordered = window.representation.ordered
    count = len(ordered)
    lower, upper = ordered[(count - 1) // 2].item(), ordered[count // 2].item()
    _, _, near, far, _ = nearest_distances(measurable(ordered), count, count // 4)
    if window.codec.kind == "f":
        return lower, upper, deviation(middle(lower, upper), near, far)
    return lower, upper, near + far + upper - lower


def mad_answer(window: Any) -> Any:
    """Return the median absolute deviation, times the scale."""
    kind, scale = window.codec.kind, window.computation.scale
    *_, found = _deviation(window)
    if kind in "mM":
        return scaled_deviation(found, scale)
    return (found if kind == "f" else found / 2) * scale


def hampel_answer(window: Any) -> Any:
    """Return the newest element or the median in place of an outlier, and whether it is an outlier."""
    own = window.newest
    if own is None:
        return None, None
    own, (lower, upper, found) = own.item(), _deviation(window)
    if window.codec.kind == "f":
        center = middle(lower, upper)
        distance = abs(own - center)
    else:
        center, found = (lower + upper) / 2, found / 2
        distance = abs(2 * own - lower - upper) / 2
    outlier = distance > window.computation.factor * found
    return (center if outlier else float(own)), outlier


def gini_answer(window: Any) -> Any:
    """Return the mean distance of all pairs of observations."""
    ordered = measurable(window.representation.ordered)
    return gini.mean_of_sorted(ordered, len(ordered))


def trimmed_mean_answer(window: Any) -> Any:
    """Return the mean of the observations without those at the ends, or with the ends replaced."""
    count, winsorize = window.observations, window.computation.winsorize
    cut = int(window.computation.proportion * count)
    kept = window.representation.ordered[cut : count - cut]
    if is_large(kept):
        exact = kept.tolist()
        total = sum(exact) + (cut * (exact[0] + exact[-1]) if winsorize else 0)
        return total / (count if winsorize else count - 2 * cut)
    kept = kept.astype(np.float64)
    return mean_of_kept(sum_in_four(kept), kept[0], kept[-1], count, cut, winsorize)


def function_answer(window: Any) -> Any:
    """Return the result of the function over arrays for the rows of the window."""
    values, missing = window.representation.contents()
    given: dict[str, Any] = {"window": Expanding()}
    if window.outside:
        given = {"window": max(len(values), 1), "closed": "left"}
        newest = window.outside[0]
        values, missing = (
            np.append(values, 0 if newest is None else newest),
            np.append(missing, newest is None),
        )
        if window.codec.kind == "f":
            values[missing] = np.nan
    rows = window.codec.decode_array(values, missing)
    given |= window.parameters | {"min_periods": window.min_periods}
    found = REGISTRY[window.statistic].function(rows, **given)
    return np.ma.getdata(found)[-1] if not np.ma.is_masked(found[-1:]) else None
