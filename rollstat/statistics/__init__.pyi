"""The public functions over arrays, and the module of each, which is loaded on first use.

Written by tests/surface.py.
"""

from .aggregate.functions import rolling_aggregate as rolling_aggregate
from .aggregate.functions import rolling_apply as rolling_apply
from .extrema.functions import lower_upper_envelope as lower_upper_envelope
from .extrema.functions import rolling_argmax as rolling_argmax
from .extrema.functions import rolling_argmin as rolling_argmin
from .extrema.functions import rolling_argminmax as rolling_argminmax
from .extrema.functions import rolling_max as rolling_max
from .extrema.functions import rolling_min as rolling_min
from .extrema.functions import rolling_minmax as rolling_minmax
from .extrema.functions import rolling_ptp as rolling_ptp
from .ranks.functions import hampel_filter as hampel_filter
from .ranks.functions import rolling_entropy as rolling_entropy
from .ranks.functions import rolling_gini as rolling_gini
from .ranks.functions import rolling_iqr as rolling_iqr
from .ranks.functions import rolling_mad as rolling_mad
from .ranks.functions import rolling_mode as rolling_mode
from .ranks.functions import rolling_nunique as rolling_nunique
from .ranks.functions import rolling_rank as rolling_rank
from .ranks.functions import rolling_trimmed_mean as rolling_trimmed_mean
from .ranks.functions import rolling_winsorized_mean as rolling_winsorized_mean
from .selection.functions import rolling_argkth as rolling_argkth
from .selection.functions import rolling_kth as rolling_kth
from .selection.functions import rolling_median as rolling_median
from .selection.functions import rolling_quantile as rolling_quantile
from .sums.functions import rolling_all as rolling_all
from .sums.functions import rolling_any as rolling_any
from .sums.functions import rolling_autocorr as rolling_autocorr
from .sums.functions import rolling_beta as rolling_beta
from .sums.functions import rolling_corr as rolling_corr
from .sums.functions import rolling_count as rolling_count
from .sums.functions import rolling_cov as rolling_cov
from .sums.functions import rolling_decayed_mean as rolling_decayed_mean
from .sums.functions import rolling_decayed_sum as rolling_decayed_sum
from .sums.functions import rolling_downside_deviation as rolling_downside_deviation
from .sums.functions import rolling_drawdown as rolling_drawdown
from .sums.functions import rolling_first as rolling_first
from .sums.functions import rolling_kurt as rolling_kurt
from .sums.functions import rolling_last as rolling_last
from .sums.functions import rolling_linear_fit as rolling_linear_fit
from .sums.functions import rolling_logsumexp as rolling_logsumexp
from .sums.functions import rolling_mean as rolling_mean
from .sums.functions import rolling_mean_abs_dev as rolling_mean_abs_dev
from .sums.functions import rolling_negative_sum as rolling_negative_sum
from .sums.functions import rolling_positive_sum as rolling_positive_sum
from .sums.functions import rolling_prod as rolling_prod
from .sums.functions import rolling_sem as rolling_sem
from .sums.functions import rolling_skew as rolling_skew
from .sums.functions import rolling_std as rolling_std
from .sums.functions import rolling_sum as rolling_sum
from .sums.functions import rolling_var as rolling_var
from .sums.functions import rolling_weighted_mean as rolling_weighted_mean
from .sums.functions import rolling_zscore as rolling_zscore
from .weighted.functions import rolling_convolve as rolling_convolve
