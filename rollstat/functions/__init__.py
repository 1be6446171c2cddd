"""``rolling_*`` on arrays, one module a family. Importing the package fills the registry."""

from rollstat.functions import (
    aggregate,
    extrema,
    moments,
    order_statistics,
    pairs,
    ranks,
    reductions,
    robust,
    sums,
)

__all__ = [
    "aggregate",
    "extrema",
    "moments",
    "order_statistics",
    "pairs",
    "ranks",
    "reductions",
    "robust",
    "sums",
]
