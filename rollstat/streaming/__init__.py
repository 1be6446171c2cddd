"""Streams: the same statistics one element at a time, in windows that survive a restart."""

from rollstat.streaming.base import RollingStream
from rollstat.streaming.extrema import (
    RollingArgmax,
    RollingArgmin,
    RollingMax,
    RollingMin,
    RollingMinMax,
    RollingPtp,
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
    "RollingArgkth",
    "RollingArgmax",
    "RollingArgmin",
    "RollingIqr",
    "RollingKth",
    "RollingMax",
    "RollingMedian",
    "RollingMin",
    "RollingMinMax",
    "RollingPtp",
    "RollingQuantile",
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
            "hampel",
            "kurt",
            "last",
            "linear_fit",
            "logsumexp",
            "mad",
            "mean",
            "mode",
            "nunique",
            "prod",
            "rank",
            "sem",
            "skew",
            "std",
            "sum",
            "trimmed_mean",
            "var",
            "weighted_mean",
            "winsorized_mean",
        ),
        "to come",
    ),
    "argmin": {"relative_to": "a stream counts from its first row"},
    "argmax": {"relative_to": "a stream counts from its first row"},
}
"""Why a statistic has no class, or lacks a parameter."""
