"""Exact results of statistics that round, and the error bounds of the registry in numbers.

Each function takes series of fractions and returns the exact result of every output, or None if the result is
undefined.
"""

import math
from collections import Counter
from collections.abc import Callable
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import partial
from itertools import accumulate, pairwise
from typing import Any

from rollstat.registry import REGISTRY

Answer = Fraction | None
Numbers = list[Fraction]


def root(value: Fraction) -> Fraction:
    """Return a square root with 200 correct bits."""
    if value == 0:
        return value
    shift = max(400 + value.denominator.bit_length() - value.numerator.bit_length(), 0)
    shift += shift % 2
    return Fraction(math.isqrt((value.numerator << shift) // value.denominator), 1 << (shift // 2))


def mean_of(x: Numbers) -> Fraction:
    return sum(x, Fraction(0)) / len(x)


def products(x: Numbers, y: Numbers) -> Fraction:
    """Return the central sum of products."""
    mean_x, mean_y = mean_of(x), mean_of(y)
    return sum(((a - mean_x) * (b - mean_y) for a, b in zip(x, y)), Fraction(0))


def condition(x: Numbers) -> Fraction:
    """Return the greatest ``1 + (c - mean)**2 / variance`` of all values c; 1 for equal ones."""
    mean, squares = mean_of(x), products(x, x)
    return 1 + max((value - mean) ** 2 for value in x) * len(x) / squares if squares else Fraction(1)


def total(x: Numbers) -> list[Answer]:
    return [sum(x, Fraction(0))]


def mean(x: Numbers) -> list[Answer]:
    return [mean_of(x)]


def variance(x: Numbers, ddof: int) -> list[Answer]:
    if len(x) <= ddof:
        return [None]
    return [products(x, x) / (len(x) - ddof)]


def deviation(x: Numbers, ddof: int, error: bool = False) -> list[Answer]:
    if len(x) <= ddof:
        return [None]
    return [root(products(x, x) / (len(x) - ddof) / (len(x) if error else 1))]


def skewness(x: Numbers) -> list[Answer]:
    n, squares = len(x), products(x, x)
    if n < 3 or not squares:
        return [None]
    center = mean_of(x)
    cubes = sum(((value - center) ** 3 for value in x), Fraction(0))
    factor = root(Fraction(n * n * (n - 1))) / (n - 2)
    return [factor * cubes / (squares * root(squares))]


def kurtosis(x: Numbers) -> list[Answer]:
    n, squares = len(x), products(x, x)
    if n < 4 or not squares:
        return [None]
    center = mean_of(x)
    fourths = sum(((value - center) ** 4 for value in x), Fraction(0))
    factor = Fraction(n - 1, (n - 2) * (n - 3))
    part = n * (n + 1) * fourths / squares**2
    return [factor * (part - 3 * (n - 1))]


def covariance(x: Numbers, y: Numbers, ddof: int) -> list[Answer]:
    if len(x) <= ddof:
        return [None]
    return [products(x, y) / (len(x) - ddof)]


def line(x: Numbers, y: Numbers) -> tuple[Answer, Answer]:
    """Return slope and correlation of x over y."""
    xx, yy, xy = products(x, x), products(y, y), products(x, y)
    if len(x) < 2 or not yy:
        return None, None
    return xy / yy, (xy / root(xx * yy) if xx else None)


def correlation(x: Numbers, y: Numbers) -> list[Answer]:
    return [line(x, y)[1]]


def beta(x: Numbers, y: Numbers) -> list[Answer]:
    return [line(x, y)[0]]


def slope_by_row(y: Numbers, x: Numbers) -> list[Answer]:
    return [line(y, x)[0]]


def linear_fit(y: Numbers, x: Numbers) -> list[Answer]:
    slope, share = line(y, x)
    if slope is None:
        return [None, None, None]
    return [slope, mean_of(y) - slope * mean_of(x), None if share is None else share**2]


def product(x: Numbers) -> list[Answer]:
    return [math.prod(x, start=Fraction(1))]


def log_sum_exp(x: Numbers) -> list[Answer]:
    top = max(x)
    with localcontext(prec=60):
        near = [value - top for value in x if value - top > -200]
        whole = sum(((Decimal(value.numerator) / value.denominator).exp() for value in near), Decimal(0))
        return [top + Fraction(whole.ln())]


def weights_of(n: int, decay: float) -> Numbers:
    return [Fraction(decay) ** age for age in range(n - 1, -1, -1)]


def decayed(x: Numbers, decay: float, averaged: bool = False) -> list[Answer]:
    weights = weights_of(len(x), decay)
    whole = sum(weights) if averaged else Fraction(1)
    return [sum((a * w for a, w in zip(x, weights)), Fraction(0)) / whole]


def ewm_weights(
    rows: list[int],
    end: int,
    of: Any = Fraction,
    adjust: bool = True,
    ignore_na: bool = False,
    **speed: float,
) -> list[Any]:
    """Return the weights of the observations in these rows of a window that ends before row `end`.

    With `adjust` row ``end - 1`` has weight 1; otherwise weights add up to 1. Numbers are of the type `of`.
    """
    ((name, value),) = speed.items()
    share = of(str(value)) if name == "alpha" else 2 / (of(value) + 1)
    n = len(rows)
    ages = [n - 1 - i if ignore_na else end - 1 - row for i, row in enumerate(rows)]
    if adjust:
        return [(1 - share) ** age for age in ages]
    weights = [of(1)]
    for before, age in pairwise(ages):
        kept = (1 - share) ** (before - age)
        weights = [weight * kept / (kept + share) for weight in weights] + [share / (kept + share)]
    return weights


def ewm(
    kind: str, *series: list[Any], rows: Any = None, end: int = 0, of: Any = Fraction, **sample: Any
) -> list[Any]:
    """Return an exponentially weighted statistic of observations in these rows, by default in all."""
    n = len(series[0])
    weights = ewm_weights(*((rows, end) if rows else ([*range(n)], n)), of, **sample)
    if kind in ("sum", "mean"):
        return [sum(w * a for w, a in zip(weights, series[0])) / (sum(weights) if kind == "mean" else 1)]
    x, y = series[0], series[-1]
    co, squared = weighted_products(x, y, weights), root if of is Fraction else math.sqrt
    if kind == "corr":
        squares = weighted_products(x, x, weights) * weighted_products(y, y, weights)
        return [co / squared(squares) if squares else None]
    # Without the difference of sums of weights, which loses all digits after a long gap.
    pairs = 2 * sum(w * earlier for w, earlier in zip(weights[1:], accumulate(weights))) / sum(weights) ** 2
    if not pairs:
        return [None]
    return [squared(co / pairs) if kind == "std" else co / pairs]


def weighted_products(x: list[Any], y: list[Any], weights: list[Any]) -> Any:
    """Return the weighted mean of products of deviations; 0 for equal numbers, of any type."""
    whole = sum(weights)
    x, y = ([a - z[0] for a in z] for z in (x, y))
    mean_x, mean_y = (sum(w * a for w, a in zip(weights, z)) / whole for z in (x, y))
    return sum(w * (a - mean_x) * (b - mean_y) for w, a, b in zip(weights, x, y)) / whole


def weighted_mean(x: Numbers, weights: Numbers) -> list[Answer]:
    whole = sum(weights, Fraction(0))
    return [sum((a * w for a, w in zip(x, weights)), Fraction(0)) / whole if whole else None]


def mean_difference(x: Numbers) -> list[Answer]:
    n = len(x)
    if n < 2:
        return [None]
    ordered = sorted(x)
    return [sum(((2 * i - n + 1) * a for i, a in enumerate(ordered)), Fraction(0)) / math.comb(n, 2)]


def kept_of(x: Numbers, proportion: float = 0.1, winsorize: bool = False) -> Numbers:
    """Return what a trimmed or winsorized mean adds up."""
    ordered, cut = sorted(x), int(proportion * len(x))
    kept = ordered[cut : len(x) - cut]
    if winsorize:
        kept = kept[:1] * cut + kept + kept[-1:] * cut
    return kept


def kept_mean(x: Numbers, proportion: float = 0.1, winsorize: bool = False) -> list[Answer]:
    return [mean_of(kept_of(x, proportion, winsorize))]


def one_sign(x: Numbers, sign: int) -> list[Answer]:
    return [sum((value for value in x if value * sign > 0), Fraction(0))]


def downside_deviation(x: Numbers, target: float = 0.0) -> list[Answer]:
    below = [max(Fraction(target) - value, Fraction(0)) for value in x]
    return [root(mean_of([distance**2 for distance in below]))]


def drawdown(x: Numbers, relative: bool = True) -> list[Answer]:
    if relative and min(x) < 0:
        return [None]
    peaks = accumulate(x, max)
    return [max((peak - value) / ((peak or 1) if relative else 1) for peak, value in zip(peaks, x))]


def mean_distance(x: Numbers) -> list[Answer]:
    center = mean_of(x)
    return [mean_of([abs(value - center) for value in x])]


def entropy(x: Numbers, base: float = math.e) -> list[Answer]:
    with localcontext(prec=60):
        shares = [Decimal(count) / len(x) for count in Counter(x).values()]
        return [Fraction(-sum(share * share.ln() for share in shares) / Decimal(base).ln())]


def _with(function: Any, **fixed: Any) -> Any:
    return lambda *series, **sample: function(*series, **fixed, **sample)


RESULTS: dict[str, tuple[str, Callable[..., list[Answer]]]] = {
    "sum": ("sum", total),
    "mean": ("sum", mean),
    "var": ("moment", variance),
    "std": ("moment", deviation),
    "sem": ("moment", _with(deviation, error=True)),
    "skew": ("moment", skewness),
    "kurt": ("moment", kurtosis),
    "cov": ("moment", covariance),
    "corr": ("moment", correlation),
    "beta": ("moment", beta),
    "slope": ("moment", slope_by_row),
    "linear_fit": ("moment", linear_fit),
    "prod": ("other", product),
    "logsumexp": ("other", log_sum_exp),
    "decayed_sum": ("other", decayed),
    "decayed_mean": ("other", _with(decayed, averaged=True)),
    "weighted_mean": ("other", weighted_mean),
    **{f"ewm_{k}": ("other", partial(ewm, k)) for k in ("mean", "sum", "var", "std", "cov", "corr")},
    "gini": ("other", mean_difference),
    "trimmed_mean": ("other", kept_mean),
    "winsorized_mean": ("other", _with(kept_mean, winsorize=True)),
    "positive_sum": ("other", _with(one_sign, sign=1)),
    "negative_sum": ("other", _with(one_sign, sign=-1)),
    "downside_deviation": ("other", downside_deviation),
    "drawdown": ("other", drawdown),
    "mean_abs_dev": ("other", mean_distance),
    "entropy": ("other", entropy),
}
"""How each statistic treats infinite values, and its exact results."""

OF_MORE = {"aggregate", "autocorr", "convolve", "regression", "zscore"}
"""Statistics that round, whose results do not follow from the observations of the window alone."""


class Values(list[Fraction]):
    """A series with arithmetic by element, for the expressions of bounds."""

    def __abs__(self) -> "Values":
        return Values(map(abs, self))

    def __mul__(self, other: Any) -> "Values":
        return Values(a * b for a, b in zip(self, other, strict=True))


def error_bounds(
    name: str,
    series: list[Numbers],
    sample: dict[str, Any],
    answers: list[Answer],
    places: dict[str, Any],
) -> list[Fraction | None]:
    """Return the bound of the error of each output, or None if the result is undefined or has no bound.

    `places` are `rows` and `end` of :func:`ewm`, and empty for other statistics.
    """
    m, ddof = len(series[0]), sample.get("ddof", 1)
    share = sample.get("proportion", 0.1)
    if places:
        weights = ewm_weights(**places, **sample)
    else:
        weights = weights_of(m, sample["decay"]) if "decay" in sample else []
    names = {
        "u": Fraction(1, 1 << 53),
        "inf": math.inf,
        "m": m,
        "arr": Values(series[0]),
        "other": Values(series[-1]),
        "x": Values(series[-1]),
        "w": Values(weights),
        "s": lambda x: root(weighted_products(x, x, weights)),
        "kept": Values(kept_of(series[0], share, name == "winsorized_mean")),
        "slope": answers[0],
        "mean": mean_of,
        "sum": sum,
        "abs": abs,
        "max": max,
        "min": min,
        "log": lambda n: Fraction(math.log(n)),
        "base": sample.get("base", math.e),
        "sqrt": root,
        "log2": lambda n: Fraction(math.log2(n)),
        "k": condition,
        "var": lambda x: products(x, x) / (m - ddof),
    }
    found: list[Fraction | None] = []
    for expression, answer in zip(REGISTRY[name].error_bound, answers, strict=True):
        bound = math.inf if answer is None else eval(expression, names | {"result": answer})
        found.append(None if bound == math.inf else Fraction(bound))
    return found
