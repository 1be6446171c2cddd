"""``rolling_*`` on arrays, one module a family. Importing the package fills the registry."""

from rollstat.functions import (
    aggregate,
    choices,
    extrema,
    moments,
    order_statistics,
    pairs,
    ranks,
    robust,
    sums,
)

__all__ = [
    "aggregate",
    "choices",
    "extrema",
    "moments",
    "order_statistics",
    "pairs",
    "ranks",
    "robust",
    "sums",
]
