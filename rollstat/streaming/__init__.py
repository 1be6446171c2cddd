"""Streams: the same statistics one element at a time, in windows that survive a restart."""

from rollstat.streaming.aggregates import FixedAggregate, SlidingAggregate, TimeAggregate
from rollstat.streaming.base import RollingStream
from rollstat.streaming.extrema import (
    RollingArgmax,
    RollingArgmin,
    RollingMax,
    RollingMin,
    RollingMinMax,
    RollingPtp,
)
from rollstat.streaming.ordered import (
    Hampel,
    RollingMad,
    RollingMode,
    RollingNunique,
    RollingRank,
    RollingTrimmedMean,
    RollingWinsorizedMean,
)
from rollstat.streaming.selection import (
    RollingArgkth,
    RollingIqr,
    RollingKth,
    RollingMedian,
    RollingQuantile,
)
from rollstat.streaming.stream import CLASSES, restore

__all__ = [
    "REASONS",
    "STREAMS",
    "FixedAggregate",
    "Hampel",
    "RollingArgkth",
    "RollingArgmax",
    "RollingArgmin",
    "RollingIqr",
    "RollingKth",
    "RollingMad",
    "RollingMax",
    "RollingMedian",
    "RollingMin",
    "RollingMinMax",
    "RollingMode",
    "RollingNunique",
    "RollingPtp",
    "RollingQuantile",
    "RollingRank",
    "RollingTrimmedMean",
    "RollingWinsorizedMean",
    "SlidingAggregate",
    "TimeAggregate",
    "restore",
]

STREAMS: dict[str, type[RollingStream]] = {
    cls.statistic: cls for cls in CLASSES.values() if issubclass(cls, RollingStream) and cls.statistic
}
"""The class of each registered statistic."""

REASONS: dict[str, str | dict[str, str]] = {
    **dict.fromkeys(
        (
            "aggregate",
            "all",
            "any",
            "beta",
            "corr",
            "count",
            "cov",
            "decayed_mean",
            "decayed_sum",
            "first",
            "kurt",
            "last",
            "linear_fit",
            "logsumexp",
            "mean",
            "prod",
            "sem",
            "skew",
            "std",
            "sum",
            "var",
            "weighted_mean",
        ),
        "to come",
    ),
    "argmin": {"relative_to": "a stream counts from its first row"},
    "argmax": {"relative_to": "a stream counts from its first row"},
}
"""Why a statistic has no class, or lacks a parameter."""
