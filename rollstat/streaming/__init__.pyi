"""The classes of streams, and the module of each, which is loaded on first use."""

from .base import (
    restore as restore,
)
from .general import (
    FixedAggregate as FixedAggregate,
)
from .general import (
    GreedyAggregate as GreedyAggregate,
)
from .general import (
    SlidingAggregate as SlidingAggregate,
)
from .general import (
    TimeAggregate as TimeAggregate,
)
from .named import (
    REASONS as REASONS,
)
from .named import (
    STREAMS as STREAMS,
)
from .named_classes import (
    Hampel as Hampel,
)
from .named_classes import (
    RollingAll as RollingAll,
)
from .named_classes import (
    RollingAny as RollingAny,
)
from .named_classes import (
    RollingArgkth as RollingArgkth,
)
from .named_classes import (
    RollingArgmax as RollingArgmax,
)
from .named_classes import (
    RollingArgmin as RollingArgmin,
)
from .named_classes import (
    RollingArgMinMax as RollingArgMinMax,
)
from .named_classes import (
    RollingBeta as RollingBeta,
)
from .named_classes import (
    RollingCorr as RollingCorr,
)
from .named_classes import (
    RollingCount as RollingCount,
)
from .named_classes import (
    RollingCov as RollingCov,
)
from .named_classes import (
    RollingDecayedMean as RollingDecayedMean,
)
from .named_classes import (
    RollingDecayedSum as RollingDecayedSum,
)
from .named_classes import (
    RollingFirst as RollingFirst,
)
from .named_classes import (
    RollingGini as RollingGini,
)
from .named_classes import (
    RollingIqr as RollingIqr,
)
from .named_classes import (
    RollingKth as RollingKth,
)
from .named_classes import (
    RollingKurt as RollingKurt,
)
from .named_classes import (
    RollingLast as RollingLast,
)
from .named_classes import (
    RollingLinearFit as RollingLinearFit,
)
from .named_classes import (
    RollingLogSumExp as RollingLogSumExp,
)
from .named_classes import (
    RollingMad as RollingMad,
)
from .named_classes import (
    RollingMax as RollingMax,
)
from .named_classes import (
    RollingMean as RollingMean,
)
from .named_classes import (
    RollingMedian as RollingMedian,
)
from .named_classes import (
    RollingMin as RollingMin,
)
from .named_classes import (
    RollingMinMax as RollingMinMax,
)
from .named_classes import (
    RollingMode as RollingMode,
)
from .named_classes import (
    RollingNunique as RollingNunique,
)
from .named_classes import (
    RollingProd as RollingProd,
)
from .named_classes import (
    RollingPtp as RollingPtp,
)
from .named_classes import (
    RollingQuantile as RollingQuantile,
)
from .named_classes import (
    RollingRank as RollingRank,
)
from .named_classes import (
    RollingSem as RollingSem,
)
from .named_classes import (
    RollingSkew as RollingSkew,
)
from .named_classes import (
    RollingStd as RollingStd,
)
from .named_classes import (
    RollingSum as RollingSum,
)
from .named_classes import (
    RollingTrimmedMean as RollingTrimmedMean,
)
from .named_classes import (
    RollingVar as RollingVar,
)
from .named_classes import (
    RollingWeightedMean as RollingWeightedMean,
)
from .named_classes import (
    RollingWinsorizedMean as RollingWinsorizedMean,
)
