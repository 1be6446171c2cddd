"""Streams: the same statistics one element at a time, in windows that survive a restart."""

from typing import Any

from rollstat.streaming.aggregates import FixedAggregate, SlidingAggregate, TimeAggregate
from rollstat.streaming.base import CLASSES, restore
from rollstat.streaming.extrema import (
    RollingArgmax,
    RollingArgmin,
    RollingMax,
    RollingMin,
    RollingMinMax,
    RollingPtp,
)
from rollstat.streaming.greedy import GreedyAggregate
from rollstat.streaming.line import RollingLinearFit
from rollstat.streaming.moments import (
    RollingAll,
    RollingAny,
    RollingCount,
    RollingDecayedMean,
    RollingDecayedSum,
    RollingFirst,
    RollingKurt,
    RollingLast,
    RollingLogSumExp,
    RollingMean,
    RollingProd,
    RollingSem,
    RollingSkew,
    RollingStd,
    RollingSum,
    RollingVar,
)
from rollstat.streaming.pairs import RollingBeta, RollingCorr, RollingCov, RollingWeightedMean
from rollstat.streaming.rank_based import (
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

__all__ = [
    "REASONS",
    "STREAMS",
    "FixedAggregate",
    "GreedyAggregate",
    "Hampel",
    "RollingAll",
    "RollingAny",
    "RollingArgkth",
    "RollingArgmax",
    "RollingArgmin",
    "RollingBeta",
    "RollingCorr",
    "RollingCount",
    "RollingCov",
    "RollingDecayedMean",
    "RollingDecayedSum",
    "RollingFirst",
    "RollingIqr",
    "RollingKth",
    "RollingKurt",
    "RollingLast",
    "RollingLinearFit",
    "RollingLogSumExp",
    "RollingMad",
    "RollingMax",
    "RollingMean",
    "RollingMedian",
    "RollingMin",
    "RollingMinMax",
    "RollingMode",
    "RollingNunique",
    "RollingProd",
    "RollingPtp",
    "RollingQuantile",
    "RollingRank",
    "RollingSem",
    "RollingSkew",
    "RollingStd",
    "RollingSum",
    "RollingTrimmedMean",
    "RollingVar",
    "RollingWeightedMean",
    "RollingWinsorizedMean",
    "SlidingAggregate",
    "TimeAggregate",
    "restore",
]

STREAMS: dict[str, Any] = {
    cls.statistic: cls  # type: ignore[attr-defined]  # every class in the table names its statistic
    for cls in CLASSES.values()
    if getattr(cls, "statistic", "")
}
"""The class of each registered statistic."""

REASONS: dict[str, str | dict[str, str]] = {
    "aggregate": "SlidingAggregate, FixedAggregate, TimeAggregate and GreedyAggregate take any operator",
    "argmin": {"relative_to": "a stream counts from its first row"},
    "argmax": {"relative_to": "a stream counts from its first row"},
}
"""Why a statistic has no class, or lacks a parameter."""
