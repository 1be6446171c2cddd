"""Brute-force definitions of all statistics, written for clarity: one function for each registered one.

An oracle takes one window and returns the value, a tuple of values for statistics with several outputs,
or None where the result is missing. Statistics of :mod:`tests.fuzz.exact_results` without an oracle here have
their exact results as oracle.
"""

import itertools
import math
import operator
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
from scipy import stats

from rollstat.registry import REGISTRY
from tests.fuzz.exact_results import RESULTS

ORACLES: dict[str, Callable[..., Any]] = {}


@dataclass(frozen=True)
class View:
    """The observations of one window, oldest first.

    Attributes
    ----------
    values : list
        Observations as Python numbers (datetimes as integers in their unit).
    rows : list of int
        The row of each.
    others : list of list
        Values of further series in the same rows.
    row : int
        The row that the window belongs to.
    start, end : int
        Bounds of the window.
    own : number or None
        The value of that row; None if it is missing.
    newest : number or None
        The value of the last row of the window; None if it is missing or the window is empty.
    dtype : numpy.dtype
        Dtype of the input.
    own_others : list
        Values of further series in that row, None where missing.
    """

    values: list[Any]
    rows: list[int]
    others: list[list[Any]]
    row: int
    start: int
    end: int
    own: Any
    newest: Any
    dtype: np.dtype
    own_others: list[Any] = field(default_factory=list)


def oracle(name: str):
    """Register the oracle of the statistic `name`."""

    def decorate(function):
        ORACLES[name] = function
        return function

    return decorate


@oracle("kth")
def kth(view: View, k: int) -> Any:
    if len(view.values) < abs(k):
        return None
    return sorted(view.values)[k - 1 if k > 0 else k]


@oracle("argkth")
def argkth(view: View, k: int) -> Any:
    if len(view.values) < abs(k):
        return None
    return sorted(zip(view.values, view.rows))[k - 1 if k > 0 else k][1]


def is_time(view: View) -> bool:
    """Return whether values are datetimes or timedeltas, of which quantiles are rounded down."""
    return view.dtype.kind in "mM"


def middle(view: View, below: Any, above: Any) -> Any:
    """Return the mean of two values, without overflow."""
    if below == above:
        return below
    if is_time(view):
        return (below + above) // 2
    with np.errstate(all="ignore"):
        total = np.float64(below) + np.float64(above)
        return total / 2 if not np.isinf(total) else np.float64(below) / 2 + np.float64(above) / 2


@oracle("median")
def median(view: View) -> Any:
    values = sorted(view.values)
    if not values:
        return None
    return middle(view, values[(len(values) - 1) // 2], values[len(values) // 2])


@oracle("quantile")
def quantile(view: View, q: float, interpolation: str = "linear") -> Any:
    values = sorted(view.values)
    if not values:
        return None
    position = q * (len(values) - 1)
    rank = int(position)
    fraction = position - rank
    if fraction == 0:
        return values[rank]
    below, above = values[rank], values[rank + 1]
    if interpolation == "lower":
        return below
    if interpolation == "higher":
        return above
    if interpolation == "nearest":
        return above if fraction > 0.5 or (fraction == 0.5 and rank % 2) else below
    if interpolation == "midpoint":
        return middle(view, below, above)
    if below == above:
        return below
    if is_time(view):
        return below + int(Fraction(float(above - below) * fraction))
    with np.errstate(all="ignore"):
        if np.isinf(below) or np.isinf(above):
            return np.float64(below) + np.float64(above)
        gap = np.float64(above) - np.float64(below)
        if np.isinf(gap):
            return np.float64(below) * (1 - fraction) + np.float64(above) * fraction
        return np.float64(below) + gap * fraction


@oracle("min")
def minimum(view: View) -> Any:
    return min(view.values, default=None)


@oracle("max")
def maximum(view: View) -> Any:
    return max(view.values, default=None)


@oracle("minmax")
def minmax(view: View) -> Any:
    return minimum(view), maximum(view)


@oracle("ptp")
def ptp(view: View) -> Any:
    if not view.values:
        return None
    low, high = min(view.values), max(view.values)
    if low == high:
        return 0
    if view.dtype.kind != "f":
        return int(high) - int(low)
    with np.errstate(over="ignore"):
        return view.dtype.type(high) - view.dtype.type(low)


def position(view: View, best: Any, ties: str, relative_to: str) -> Any:
    """Return the position of the first or last value that equals `best`."""
    if not view.values:
        return None
    rows = [row for row, value in zip(view.rows, view.values) if value == best]
    row = rows[0 if ties == "first" else -1]
    return {"data": row, "oldest": row - view.start, "newest": view.end - 1 - row}[relative_to]


@oracle("argmin")
def argmin(view: View, ties: str = "first", relative_to: str = "data") -> Any:
    return position(view, minimum(view), ties, relative_to)


@oracle("argmax")
def argmax(view: View, ties: str = "first", relative_to: str = "data") -> Any:
    return position(view, maximum(view), ties, relative_to)


@oracle("argminmax")
def argminmax(view: View, ties: str = "first", relative_to: str = "data") -> Any:
    rules = ("first", "last") if ties == "opposite" else (ties, ties)
    return argmin(view, rules[0], relative_to), argmax(view, rules[1], relative_to)


@oracle("rank")
def rank(view: View, method: str = "average", ascending: bool = True, pct: bool = False) -> Any:
    if view.newest is None:
        return None
    values = sorted(set(view.values)) if method == "dense" else sorted(view.values)
    before = sum(v < view.newest if ascending else v > view.newest for v in values)
    equal = values.count(view.newest)
    places = range(before + 1, before + equal + 1)
    place = {"min": places[0], "dense": places[0], "max": places[-1], "first": places[-1]}
    result = place.get(method, Fraction(sum(places), len(places)))
    return float(result) / len(values) if pct else float(result)


@oracle("nunique")
def nunique(view: View) -> Any:
    return len(set(view.values))


@oracle("mode")
def mode(view: View) -> Any:
    if not view.values:
        return None
    return max(sorted(set(view.values)), key=view.values.count)


@oracle("iqr")
def iqr(view: View, q_low: float = 0.25, q_high: float = 0.75, interpolation: str = "linear") -> Any:
    if not view.values:
        return None
    low, high = (quantile(view, q, interpolation) for q in (q_low, q_high))
    if view.dtype.kind == "f":
        low, high = view.dtype.type(low), view.dtype.type(high)
        with np.errstate(all="ignore"):
            return high - low if high != low else 0.0
    if view.dtype.itemsize == 8 and view.dtype.kind in "iu" and interpolation in ("linear", "midpoint"):
        below = [quantile(view, q, "lower") for q in (q_low, q_high)]
        above = [quantile(view, q, "higher") for q in (q_low, q_high)]
        shares = [q * (len(view.values) - 1) % 1 for q in (q_low, q_high)]
        if interpolation == "midpoint":
            shares = [0.5, 0.5]
        inner = [share * float(b - a) for share, a, b in zip(shares, below, above)]
        return float(below[1] - below[0]) + (inner[1] - inner[0])
    return high - low


@oracle("mad")
def mad(view: View, scale: Any = 1.0) -> Any:
    if not view.values:
        return None
    scale = 1 / 0.6744897501960817 if scale == "normal" else scale
    if view.dtype.kind == "f":
        with np.errstate(all="ignore"):
            values = np.sort(np.array(view.values, np.float64))
            center = middle(view, values[(len(values) - 1) // 2], values[len(values) // 2])
            if not np.isfinite(center):
                return np.nan
            distances = np.sort(np.abs(values - center))
            return middle(view, distances[(len(values) - 1) // 2], distances[len(values) // 2]) * scale
    values = sorted(map(int, view.values))
    center = Fraction(values[(len(values) - 1) // 2] + values[len(values) // 2], 2)
    distances = sorted(abs(value - center) for value in values)
    deviation = (distances[(len(values) - 1) // 2] + distances[len(values) // 2]) / 2
    if is_time(view):
        return int(deviation * Fraction(scale) // 1)
    return float(deviation) * scale


@oracle("hampel")
def hampel(
    view: View,
    threshold: float = 3.0,
    scale: Any = "normal",
    exclude_self: bool = False,
) -> Any:
    if exclude_self:
        others = [x for row, x in zip(view.rows, view.values) if row != view.row]
        view = replace(view, values=others)
    if view.own is None or not view.values:
        return None, False
    scale = 1 / 0.6744897501960817 if scale == "normal" else scale
    with np.errstate(all="ignore"):
        if view.dtype.kind == "f":
            distance = abs(view.own - median(view))
        else:
            values = sorted(map(int, view.values))
            center = Fraction(values[(len(values) - 1) // 2] + values[len(values) // 2], 2)
            distance = float(abs(int(view.own) - center))
        outlier = bool(distance > threshold * scale * mad(view))
    return float(median(view)) if outlier else float(view.own), outlier


def kept(view: View, proportion: float) -> tuple[list[Any], int]:
    """Return the values without those cut off at both ends, in order, and the number cut off at each."""
    values = sorted(float(value) for value in view.values)
    cut = int(proportion * len(values))
    return values[cut : len(values) - cut], cut


@oracle("trimmed_mean")
def trimmed_mean(view: View, proportion: float = 0.1) -> Any:
    values, _ = kept(view, proportion)
    return float(np.mean(values)) if values else None


@oracle("winsorized_mean")
def winsorized_mean(view: View, proportion: float = 0.1) -> Any:
    values, cut = kept(view, proportion)
    return float(np.mean([values[0]] * cut + values + [values[-1]] * cut)) if values else None


@oracle("gini")
def mean_difference(view: View) -> Any:
    if len(view.values) < 2:
        return None
    if not all(map(math.isfinite, view.values)):
        with np.errstate(all="ignore"):
            return float(np.mean([abs(np.float64(a) - b) for a, b in itertools.combinations(view.values, 2)]))
    values = [Fraction(value) for value in view.values]
    return float(sum(abs(a - b) for a, b in itertools.combinations(values, 2)) / math.comb(len(values), 2))


def floats(values: list[Any]) -> list[float]:
    return [float(value) for value in values]


@oracle("sum")
def total(view: View) -> Any:
    return math.fsum(view.values) if view.dtype.kind == "f" else sum(map(int, view.values))


@oracle("mean")
def mean(view: View) -> Any:
    if view.values and is_time(view):
        return sum(view.values) // len(view.values)
    return math.fsum(view.values) / len(view.values) if view.values else None


@oracle("count")
def count(view: View) -> Any:
    return len(view.values)


@oracle("prod")
def prod(view: View) -> Any:
    return math.prod(view.values if view.dtype.kind == "f" else map(int, view.values))


@oracle("any")
def any_true(view: View) -> Any:
    return any(view.values)


@oracle("all")
def all_true(view: View) -> Any:
    return all(view.values)


@oracle("first")
def first(view: View) -> Any:
    return view.values[0] if view.values else None


@oracle("last")
def last(view: View) -> Any:
    return view.values[-1] if view.values else None


@oracle("logsumexp")
def logsumexp(view: View) -> Any:
    largest = max(view.values, default=-math.inf)
    if math.isinf(largest):
        return largest
    return largest + math.log(math.fsum(math.exp(value - largest) for value in view.values))


@oracle("decayed_sum")
def decayed_sum(view: View, decay: float) -> Any:
    weighted = [x * decay**age for age, x in enumerate(reversed(floats(view.values)))]
    return math.fsum(weighted)


@oracle("decayed_mean")
def decayed_mean(view: View, decay: float) -> Any:
    if not view.values:
        return None
    return decayed_sum(view, decay) / math.fsum(decay**age for age in range(len(view.values)))


@oracle("weighted_mean")
def weighted_mean(view: View) -> Any:
    weights = view.others[0]
    whole = math.fsum(weights)
    if whole == 0:
        return None
    return math.fsum(map(operator.mul, view.values, weights)) / whole


def central(values: list[Any], power: int) -> float:
    """Return the sum of powers of the deviations from the mean, computed in rational numbers."""
    exact = [Fraction(float(value)) for value in values]
    middle = sum(exact) / len(exact)
    return float(sum((value - middle) ** power for value in exact))


@oracle("var")
def variance(view: View, ddof: int = 1) -> Any:
    n = len(view.values)
    return central(view.values, 2) / (n - ddof) if n > ddof else None


@oracle("std")
def standard_deviation(view: View, ddof: int = 1) -> Any:
    squared = variance(view, ddof)
    return None if squared is None else math.sqrt(squared)


@oracle("sem")
def standard_error(view: View, ddof: int = 1) -> Any:
    deviation = standard_deviation(view, ddof)
    return None if deviation is None else deviation / math.sqrt(len(view.values))


@oracle("skew")
def skewness(view: View) -> Any:
    n = len(view.values)
    if n < 3 or central(view.values, 2) == 0:
        return None
    ratio = (central(view.values, 3) / n) / (central(view.values, 2) / n) ** 1.5
    return ratio * math.sqrt(n * (n - 1)) / (n - 2)


@oracle("kurt")
def kurtosis(view: View) -> Any:
    n = len(view.values)
    if n < 4 or central(view.values, 2) == 0:
        return None
    ratio = (central(view.values, 4) / n) / (central(view.values, 2) / n) ** 2
    return (n - 1) / ((n - 2) * (n - 3)) * ((n + 1) * ratio - 3 * (n - 1))


def products(first: list[Any], second: list[Any]) -> float:
    """Return the sum of products of the deviations from both means, computed in rational numbers."""
    a, b = ([Fraction(float(value)) for value in values] for values in (first, second))
    mean_a, mean_b = sum(a) / len(a), sum(b) / len(b)
    return float(sum((x - mean_a) * (y - mean_b) for x, y in zip(a, b)))


@oracle("cov")
def covariance(view: View, ddof: int = 1) -> Any:
    n = len(view.values)
    return products(view.values, view.others[0]) / (n - ddof) if n > ddof else None


@oracle("corr")
def correlation(view: View) -> Any:
    if not view.values:
        return None
    squares = products(view.values, view.values) * products(view.others[0], view.others[0])
    return products(view.values, view.others[0]) / math.sqrt(squares) if squares > 0 else None


@oracle("beta")
def beta(view: View) -> Any:
    if len(view.values) < 2:
        return None
    squares = products(view.others[0], view.others[0])
    return products(view.values, view.others[0]) / squares if squares > 0 else None


@oracle("linear_fit")
def linear_fit(view: View) -> Any:
    if len(view.values) < 2:
        return None
    rows = [row - view.start for row in view.rows]
    slope = products(view.values, rows) / products(rows, rows)
    intercept = (math.fsum(view.values) - slope * sum(rows)) / len(rows)
    squares = products(view.values, view.values)
    explained = slope * products(view.values, rows) / squares if squares > 0 else None
    return slope, intercept, explained


@oracle("slope")
def slope(view: View) -> Any:
    line = linear_fit(view)
    return line and line[0]


@oracle("positive_sum")
def positive_sum(view: View) -> Any:
    return math.fsum(value for value in floats(view.values) if value > 0)


@oracle("negative_sum")
def negative_sum(view: View) -> Any:
    return math.fsum(value for value in floats(view.values) if value < 0)


@oracle("zscore")
def zscore(view: View, ddof: int = 1) -> Any:
    deviation = standard_deviation(view, ddof)
    if view.own is None or deviation is None:
        return None
    distance = float(Fraction(view.own) - sum(map(Fraction, view.values)) / len(view.values))
    if deviation == 0:
        return math.copysign(math.inf, distance) if distance else None
    return distance / deviation


@oracle("autocorr")
def autocorr(view: View, lag: int = 1) -> Any:
    known = dict(zip(view.rows, view.values))
    pairs = [(known[row], known[row - lag]) for row in known if row - lag in known]
    now, before = ([pair[i] for pair in pairs] for i in range(2))
    return correlation(replace(view, values=now, others=[before])) if len(pairs) > 1 else None


@oracle("entropy")
def entropy(view: View, base: float = math.e) -> Any:
    counts = Counter(view.values).values()
    return float(stats.entropy(list(counts), base=base)) if counts else None


@oracle("convolve")
def convolve(view: View, weights: Any, result: str = "sum") -> Any:
    first = view.end - len(weights)
    pairs = [(weights[row - first], x) for row, x in zip(view.rows, floats(view.values)) if row >= first]
    total, share = math.fsum(w * x for w, x in pairs), math.fsum(w for w, _ in pairs)
    return total if result == "sum" else total / share if share else None


@oracle("weighted_quantile")
def weighted_quantile(view: View, q: float) -> Any:
    weights = floats(view.others[0])
    whole = sum(map(Fraction, weights)) if all(map(math.isfinite, weights)) else 0
    if min(weights, default=0) < 0 or not 0 < whole < 2**1024 - 2**970:
        return None
    reached, need = Fraction(0), (Fraction(q) - Fraction(2) ** -40) * whole
    for value, weight in sorted(zip(view.values, map(Fraction, weights))):
        reached += weight
        if weight and reached >= need:
            return value
    return None


@oracle("weighted_median")
def weighted_median(view: View) -> Any:
    return weighted_quantile(view, 0.5)


@oracle("aggregate")
def aggregate(view: View, operator: Any) -> Any:
    if type(operator).__name__ == "Maximum":
        return maximum(view)
    return total(view)


@oracle("regression")
def regression(view: View) -> Any:
    y, rows = list(map(Fraction, view.values)), len(view.values)
    x = list(map(Fraction, view.others[0]))
    if rows < 2 or len(set(x)) == 1:
        return (None,) * 7
    level, centre = sum(y) / rows, sum(x) / rows
    squares = sum((v - centre) ** 2 for v in x)
    slope = sum((v - centre) * w for v, w in zip(x, y)) / squares
    intercept = level - slope * centre
    left = sum((w - intercept - slope * v) ** 2 for v, w in zip(x, y))
    total = sum((w - level) ** 2 for w in y)
    variance = left / (rows - 2) if rows > 2 else None
    errors = [None] * 2
    if variance is not None:
        errors = [float(variance * (Fraction(1, rows) + centre**2 / squares)), float(variance / squares)]
        errors = [math.sqrt(error) for error in errors]
    (own,) = view.own_others or [None]
    return (
        float(intercept),
        float(slope),
        *errors,
        1.0 - float(left / total) if total else None,
        None if variance is None else math.sqrt(variance),
        None if own is None or own != own else float(intercept + slope * Fraction(own)),
    )


@oracle("apply")
def apply(view: View, function: Any) -> Any:
    return function(np.array(view.values))


def oracle_of_exact_results(name: str) -> Callable[..., Any]:
    """Return the oracle of a statistic that rounds, from its results in fractions."""
    kind, results_of = RESULTS[name]

    def exact(view: View, **sample: Any) -> Any:
        series = [view.values, *view.others]
        if not view.values or (kind == "moment" and not all(map(math.isfinite, itertools.chain(*series)))):
            return None  # moments of infinite values are undefined; fractions of them raise OverflowError
        if REGISTRY[name].family == "exponential":
            sample = {**sample, "rows": view.rows, "end": view.end}
        results = results_of(*([Fraction(value) for value in column] for column in series), **sample)
        values = tuple(None if result is None else float(result) for result in results)
        return values if len(values) > 1 else values[0]

    return exact


def in_floats(view: View, name: str, **sample: Any) -> Any:
    """Return an exponentially weighted statistic; fractions take too long."""
    if not view.values:
        return None
    series, places = [view.values, *view.others], {"rows": view.rows, "end": view.end}
    series = [[float(value) for value in column] for column in series]
    return RESULTS[name][1](*series, **sample, **places, of=float)[0]


for name in RESULTS:
    if REGISTRY[name].family == "exponential":
        ORACLES[name] = partial(in_floats, name=name)
    ORACLES.setdefault(name, oracle_of_exact_results(name))
