"""Exact statistics over sliding windows.

The best known algorithms, each written once as a JIT kernel, behind one window language and one
missing-value rule: the same in NumPy, in pandas, on a stream and on Spark.
"""

__version__ = "0.1.0"

from rollstat.dtypes import PrecisionWarning
from rollstat.functions.aggregate import rolling_aggregate
from rollstat.functions.choices import (
    rolling_all,
    rolling_any,
    rolling_first,
    rolling_last,
    rolling_logsumexp,
    rolling_prod,
)
from rollstat.functions.extrema import (
    lower_upper_envelope,
    rolling_argmax,
    rolling_argmin,
    rolling_max,
    rolling_min,
    rolling_minmax,
    rolling_ptp,
)
from rollstat.functions.moments import rolling_kurt, rolling_sem, rolling_skew, rolling_std, rolling_var
from rollstat.functions.order_statistics import (
    rolling_argkth,
    rolling_kth,
    rolling_median,
    rolling_quantile,
)
from rollstat.functions.pairs import rolling_beta, rolling_corr, rolling_cov, rolling_linear_fit
from rollstat.functions.ranks import rolling_mode, rolling_nunique, rolling_rank
from rollstat.functions.robust import (
    hampel_filter,
    rolling_iqr,
    rolling_mad,
    rolling_trimmed_mean,
    rolling_winsorized_mean,
)
from rollstat.functions.sums import (
    rolling_count,
    rolling_decayed_mean,
    rolling_decayed_sum,
    rolling_mean,
    rolling_sum,
    rolling_weighted_mean,
)
from rollstat.operators import check_operator
from rollstat.options import get_threads, set_threads
from rollstat.snapshots import SnapshotError
from rollstat.streaming import (
    FixedAggregate,
    Hampel,
    RollingArgkth,
    RollingArgmax,
    RollingArgmin,
    RollingIqr,
    RollingKth,
    RollingMad,
    RollingMax,
    RollingMedian,
    RollingMin,
    RollingMinMax,
    RollingMode,
    RollingNunique,
    RollingPtp,
    RollingQuantile,
    RollingRank,
    RollingTrimmedMean,
    RollingWinsorizedMean,
    SlidingAggregate,
    TimeAggregate,
    restore,
)
from rollstat.windows import Expanding, Forward

__all__ = [
    "Expanding",
    "FixedAggregate",
    "Forward",
    "Hampel",
    "PrecisionWarning",
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
    "SnapshotError",
    "TimeAggregate",
    "__version__",
    "check_operator",
    "get_threads",
    "hampel_filter",
    "lower_upper_envelope",
    "restore",
    "rolling_aggregate",
    "rolling_all",
    "rolling_any",
    "rolling_argkth",
    "rolling_argmax",
    "rolling_argmin",
    "rolling_beta",
    "rolling_corr",
    "rolling_count",
    "rolling_cov",
    "rolling_decayed_mean",
    "rolling_decayed_sum",
    "rolling_first",
    "rolling_iqr",
    "rolling_kth",
    "rolling_kurt",
    "rolling_last",
    "rolling_linear_fit",
    "rolling_logsumexp",
    "rolling_mad",
    "rolling_max",
    "rolling_mean",
    "rolling_median",
    "rolling_min",
    "rolling_minmax",
    "rolling_mode",
    "rolling_nunique",
    "rolling_prod",
    "rolling_ptp",
    "rolling_quantile",
    "rolling_rank",
    "rolling_sem",
    "rolling_skew",
    "rolling_std",
    "rolling_sum",
    "rolling_trimmed_mean",
    "rolling_var",
    "rolling_weighted_mean",
    "rolling_winsorized_mean",
    "set_threads",
]
