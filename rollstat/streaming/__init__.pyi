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
from .named import (
    Hampel as Hampel,
)
from .named import (
    RollingAll as RollingAll,
)
from .named import (
    RollingAny as RollingAny,
)
from .named import (
    RollingArgkth as RollingArgkth,
)
from .named import (
    RollingArgmax as RollingArgmax,
)
from .named import (
    RollingArgmin as RollingArgmin,
)
from .named import (
    RollingBeta as RollingBeta,
)
from .named import (
    RollingCorr as RollingCorr,
)
from .named import (
    RollingCount as RollingCount,
)
from .named import (
    RollingCov as RollingCov,
)
from .named import (
    RollingDecayedMean as RollingDecayedMean,
)
from .named import (
    RollingDecayedSum as RollingDecayedSum,
)
from .named import (
    RollingFirst as RollingFirst,
)
from .named import (
    RollingGini as RollingGini,
)
from .named import (
    RollingIqr as RollingIqr,
)
from .named import (
    RollingKth as RollingKth,
)
from .named import (
    RollingKurt as RollingKurt,
)
from .named import (
    RollingLast as RollingLast,
)
from .named import (
    RollingLinearFit as RollingLinearFit,
)
from .named import (
    RollingLogSumExp as RollingLogSumExp,
)
from .named import (
    RollingMad as RollingMad,
)
from .named import (
    RollingMax as RollingMax,
)
from .named import (
    RollingMean as RollingMean,
)
from .named import (
    RollingMedian as RollingMedian,
)
from .named import (
    RollingMin as RollingMin,
)
from .named import (
    RollingMinMax as RollingMinMax,
)
from .named import (
    RollingMode as RollingMode,
)
from .named import (
    RollingNunique as RollingNunique,
)
from .named import (
    RollingProd as RollingProd,
)
from .named import (
    RollingPtp as RollingPtp,
)
from .named import (
    RollingQuantile as RollingQuantile,
)
from .named import (
    RollingRank as RollingRank,
)
from .named import (
    RollingSem as RollingSem,
)
from .named import (
    RollingSkew as RollingSkew,
)
from .named import (
    RollingStd as RollingStd,
)
from .named import (
    RollingSum as RollingSum,
)
from .named import (
    RollingTrimmedMean as RollingTrimmedMean,
)
from .named import (
    RollingVar as RollingVar,
)
from .named import (
    RollingWeightedMean as RollingWeightedMean,
)
from .named import (
    RollingWinsorizedMean as RollingWinsorizedMean,
)
