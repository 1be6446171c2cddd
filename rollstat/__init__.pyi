"""The public names, and the module of each, which is loaded on first use."""

from . import (
    functions as functions,
)
from . import (
    operators as operators,
)
from . import (
    streaming as streaming,
)
from ._versions import (
    show_versions as show_versions,
)
from ._warmup import (
    warmup as warmup,
)
from .dtypes import (
    PrecisionWarning as PrecisionWarning,
)
from .explain import (
    explain as explain,
)
from .functions import (
    hampel_filter as hampel_filter,
)
from .functions import (
    lower_upper_envelope as lower_upper_envelope,
)
from .functions import (
    rolling_aggregate as rolling_aggregate,
)
from .functions import (
    rolling_all as rolling_all,
)
from .functions import (
    rolling_any as rolling_any,
)
from .functions import (
    rolling_argkth as rolling_argkth,
)
from .functions import (
    rolling_argmax as rolling_argmax,
)
from .functions import (
    rolling_argmin as rolling_argmin,
)
from .functions import (
    rolling_argminmax as rolling_argminmax,
)
from .functions import (
    rolling_beta as rolling_beta,
)
from .functions import (
    rolling_corr as rolling_corr,
)
from .functions import (
    rolling_count as rolling_count,
)
from .functions import (
    rolling_cov as rolling_cov,
)
from .functions import (
    rolling_decayed_mean as rolling_decayed_mean,
)
from .functions import (
    rolling_decayed_sum as rolling_decayed_sum,
)
from .functions import (
    rolling_first as rolling_first,
)
from .functions import (
    rolling_gini as rolling_gini,
)
from .functions import (
    rolling_iqr as rolling_iqr,
)
from .functions import (
    rolling_kth as rolling_kth,
)
from .functions import (
    rolling_kurt as rolling_kurt,
)
from .functions import (
    rolling_last as rolling_last,
)
from .functions import (
    rolling_linear_fit as rolling_linear_fit,
)
from .functions import (
    rolling_logsumexp as rolling_logsumexp,
)
from .functions import (
    rolling_mad as rolling_mad,
)
from .functions import (
    rolling_max as rolling_max,
)
from .functions import (
    rolling_mean as rolling_mean,
)
from .functions import (
    rolling_median as rolling_median,
)
from .functions import (
    rolling_min as rolling_min,
)
from .functions import (
    rolling_minmax as rolling_minmax,
)
from .functions import (
    rolling_mode as rolling_mode,
)
from .functions import (
    rolling_nunique as rolling_nunique,
)
from .functions import (
    rolling_prod as rolling_prod,
)
from .functions import (
    rolling_ptp as rolling_ptp,
)
from .functions import (
    rolling_quantile as rolling_quantile,
)
from .functions import (
    rolling_rank as rolling_rank,
)
from .functions import (
    rolling_sem as rolling_sem,
)
from .functions import (
    rolling_skew as rolling_skew,
)
from .functions import (
    rolling_std as rolling_std,
)
from .functions import (
    rolling_sum as rolling_sum,
)
from .functions import (
    rolling_trimmed_mean as rolling_trimmed_mean,
)
from .functions import (
    rolling_var as rolling_var,
)
from .functions import (
    rolling_weighted_mean as rolling_weighted_mean,
)
from .functions import (
    rolling_winsorized_mean as rolling_winsorized_mean,
)
from .operators.checks import (
    check_operator as check_operator,
)
from .options import (
    get_threads as get_threads,
)
from .options import (
    set_threads as set_threads,
)
from .snapshots import (
    SnapshotError as SnapshotError,
)
from .streaming import (
    FixedAggregate as FixedAggregate,
)
from .streaming import (
    GreedyAggregate as GreedyAggregate,
)
from .streaming import (
    Hampel as Hampel,
)
from .streaming import (
    RollingAll as RollingAll,
)
from .streaming import (
    RollingAny as RollingAny,
)
from .streaming import (
    RollingArgkth as RollingArgkth,
)
from .streaming import (
    RollingArgmax as RollingArgmax,
)
from .streaming import (
    RollingArgmin as RollingArgmin,
)
from .streaming import (
    RollingArgMinMax as RollingArgMinMax,
)
from .streaming import (
    RollingBeta as RollingBeta,
)
from .streaming import (
    RollingCorr as RollingCorr,
)
from .streaming import (
    RollingCount as RollingCount,
)
from .streaming import (
    RollingCov as RollingCov,
)
from .streaming import (
    RollingDecayedMean as RollingDecayedMean,
)
from .streaming import (
    RollingDecayedSum as RollingDecayedSum,
)
from .streaming import (
    RollingFirst as RollingFirst,
)
from .streaming import (
    RollingGini as RollingGini,
)
from .streaming import (
    RollingIqr as RollingIqr,
)
from .streaming import (
    RollingKth as RollingKth,
)
from .streaming import (
    RollingKurt as RollingKurt,
)
from .streaming import (
    RollingLast as RollingLast,
)
from .streaming import (
    RollingLinearFit as RollingLinearFit,
)
from .streaming import (
    RollingLogSumExp as RollingLogSumExp,
)
from .streaming import (
    RollingMad as RollingMad,
)
from .streaming import (
    RollingMax as RollingMax,
)
from .streaming import (
    RollingMean as RollingMean,
)
from .streaming import (
    RollingMedian as RollingMedian,
)
from .streaming import (
    RollingMin as RollingMin,
)
from .streaming import (
    RollingMinMax as RollingMinMax,
)
from .streaming import (
    RollingMode as RollingMode,
)
from .streaming import (
    RollingNunique as RollingNunique,
)
from .streaming import (
    RollingProd as RollingProd,
)
from .streaming import (
    RollingPtp as RollingPtp,
)
from .streaming import (
    RollingQuantile as RollingQuantile,
)
from .streaming import (
    RollingRank as RollingRank,
)
from .streaming import (
    RollingSem as RollingSem,
)
from .streaming import (
    RollingSkew as RollingSkew,
)
from .streaming import (
    RollingStd as RollingStd,
)
from .streaming import (
    RollingSum as RollingSum,
)
from .streaming import (
    RollingTrimmedMean as RollingTrimmedMean,
)
from .streaming import (
    RollingVar as RollingVar,
)
from .streaming import (
    RollingWeightedMean as RollingWeightedMean,
)
from .streaming import (
    RollingWinsorizedMean as RollingWinsorizedMean,
)
from .streaming import (
    SlidingAggregate as SlidingAggregate,
)
from .streaming import (
    TimeAggregate as TimeAggregate,
)
from .streaming import (
    restore as restore,
)
from .windows import (
    Expanding as Expanding,
)
from .windows import (
    Forward as Forward,
)

__version__: str
