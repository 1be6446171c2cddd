"""Exact results of statistics that round, and the bounds of their errors in units of 2**-53.

Each function takes series of fractions and returns, for every output, the exact result and the bound, or None
if the result is undefined.
"""

import math
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any

Answer = tuple[Fraction, Fraction] | None
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
    return [(sum(x, Fraction(0)), 25 * sum(map(abs, x), Fraction(0)))]


def mean(x: Numbers) -> list[Answer]:
    return [(mean_of(x), 26 * mean_of(list(map(abs, x))))]


def variance(x: Numbers, ddof: int) -> list[Answer]:
    if len(x) <= ddof:
        return [None]
    value = products(x, x) / (len(x) - ddof)
    return [(value, 80 * condition(x) * value)]


def deviation(x: Numbers, ddof: int, error: bool = False) -> list[Answer]:
    if len(x) <= ddof:
        return [None]
    value = root(products(x, x) / (len(x) - ddof) / (len(x) if error else 1))
    return [(value, 42 * condition(x) * value)]


def skewness(x: Numbers) -> list[Answer]:
    n, squares = len(x), products(x, x)
    if n < 3 or not squares:
        return [None]
    center, k = mean_of(x), condition(x)
    cubes = sum(((value - center) ** 3 for value in x), Fraction(0))
    factor = root(Fraction(n * n * (n - 1))) / (n - 2)
    value = factor * cubes / (squares * root(squares))
    return [(value, 200 * k * root(k) * (1 + abs(value)))]


def kurtosis(x: Numbers) -> list[Answer]:
    n, squares = len(x), products(x, x)
    if n < 4 or not squares:
        return [None]
    center, k = mean_of(x), condition(x)
    fourths = sum(((value - center) ** 4 for value in x), Fraction(0))
    factor = Fraction(n - 1, (n - 2) * (n - 3))
    part = n * (n + 1) * fourths / squares**2
    return [(factor * (part - 3 * (n - 1)), 200 * k * k * (1 + factor * part + 3 * factor * n))]


def covariance(x: Numbers, y: Numbers, ddof: int) -> list[Answer]:
    if len(x) <= ddof:
        return [None]
    scale = root(products(x, x) * products(y, y)) / (len(x) - ddof)
    k = root(condition(x) * condition(y))
    return [(products(x, y) / (len(x) - ddof), 80 * k * scale)]


def line(x: Numbers, y: Numbers) -> tuple[Answer, Answer]:
    """Return slope and correlation of x over y."""
    xx, yy, xy = products(x, x), products(y, y), products(x, y)
    if len(x) < 2 or not yy:
        return None, None
    k = condition(x) + condition(y)
    slope = xy / yy, 100 * k * root(xx / yy)
    return slope, ((xy / root(xx * yy), 100 * k) if xx else None)


def correlation(x: Numbers, y: Numbers) -> list[Answer]:
    return [line(x, y)[1]]


def beta(x: Numbers, y: Numbers) -> list[Answer]:
    return [line(x, y)[0]]


def linear_fit(y: Numbers, rows: list[int]) -> list[Answer]:
    x = [Fraction(row) for row in rows]
    slope, share = line(y, x)
    if slope is None:
        return [None, None, None]
    center, middle = mean_of(y), mean_of(x)
    bound = 30 * mean_of(list(map(abs, y))) + (slope[1] + 8 * abs(slope[0])) * (middle + 1)
    if abs(slope[0]) * (middle + 1) * 4 >= 2**1023:  # the product of slope and rows may overflow
        bound = Fraction(2**1100)
    explained = None if share is None else (share[0] ** 2, 2 * share[1])
    return [slope, (center - slope[0] * middle, bound), explained]


def product(x: Numbers) -> list[Answer]:
    value = math.prod(x, start=Fraction(1))
    return [(value, 4 * len(x) * abs(value))]


def log_sum_exp(x: Numbers) -> list[Answer]:
    top = max(x)
    with localcontext(prec=60):
        near = [value - top for value in x if value - top > -200]
        whole = sum(((Decimal(value.numerator) / value.denominator).exp() for value in near), Decimal(0))
        value = top + Fraction(whole.ln())
    return [(value, 64 * (1 + abs(value)))]


def decayed(x: Numbers, decay: float, averaged: bool = False) -> list[Answer]:
    weights = [Fraction(decay) ** age for age in range(len(x) - 1, -1, -1)]
    whole = sum(weights) if averaged else Fraction(1)
    value = sum((a * w for a, w in zip(x, weights)), Fraction(0)) / whole
    scale = sum((abs(a) * w for a, w in zip(x, weights)), Fraction(0)) / whole
    return [(value, (4 if averaged else 2) * (len(x) + 1) * scale)]


def weighted_mean(x: Numbers, weights: Numbers) -> list[Answer]:
    whole = sum(weights, Fraction(0))
    if whole == 0:
        return [None]
    value = sum((a * w for a, w in zip(x, weights)), Fraction(0)) / whole
    scale = sum((abs(a * w) for a, w in zip(x, weights)), Fraction(0)) / abs(whole)
    loss = sum(map(abs, weights), Fraction(0)) / abs(whole)
    return [(value, 16 * (scale + loss * abs(value)))]


def mean_difference(x: Numbers) -> list[Answer]:
    n = len(x)
    if n < 2:
        return [None]
    ordered = sorted(x)
    value = sum(((2 * i - n + 1) * a for i, a in enumerate(ordered)), Fraction(0)) / math.comb(n, 2)
    return [(value, 30 * n * value)]


def kept_mean(x: Numbers, proportion: float = 0.1, winsorize: bool = False) -> list[Answer]:
    ordered, cut = sorted(x), int(proportion * len(x))
    kept = ordered[cut : len(x) - cut]
    if winsorize:
        kept = kept[:1] * cut + kept + kept[-1:] * cut
    return [(mean_of(kept), 30 * mean_of(list(map(abs, kept))))]


def _with(function: Any, **fixed: Any) -> Any:
    return lambda *series, **sample: function(*series, **fixed, **sample)


BOUNDS: dict[str, tuple[str, Any]] = {
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
    "linear_fit": ("moment", linear_fit),
    "prod": ("other", product),
    "logsumexp": ("other", log_sum_exp),
    "decayed_sum": ("other", decayed),
    "decayed_mean": ("other", _with(decayed, averaged=True)),
    "weighted_mean": ("other", weighted_mean),
    "gini": ("other", mean_difference),
    "trimmed_mean": ("other", kept_mean),
    "winsorized_mean": ("other", _with(kept_mean, winsorize=True)),
}
"""How each statistic treats infinite values, and its exact results with their bounds."""
