"""The public names of the package: users import them, so none may be renamed or removed."""

import rollstat
from rollstat import functions, streaming

NAMES = """
    Expanding FixedAggregate Forward GreedyAggregate Hampel PrecisionWarning RollingAll RollingAny
    RollingArgkth RollingArgmax RollingArgmin RollingBeta RollingCorr RollingCount RollingCov
    RollingDecayedMean RollingDecayedSum RollingFirst RollingIqr RollingKth RollingKurt RollingLast
    RollingLinearFit RollingLogSumExp RollingMad RollingMax RollingMean RollingMedian RollingMin
    RollingMinMax RollingMode RollingNunique RollingProd RollingPtp RollingQuantile RollingRank RollingSem
    RollingSkew RollingStd RollingSum RollingTrimmedMean RollingVar RollingWeightedMean
    RollingWinsorizedMean SlidingAggregate SnapshotError TimeAggregate __version__ check_operator
    get_threads hampel_filter lower_upper_envelope restore rolling_aggregate rolling_all rolling_any
    rolling_argkth rolling_argmax rolling_argmin rolling_beta rolling_corr rolling_count rolling_cov
    rolling_decayed_mean rolling_decayed_sum rolling_first rolling_iqr rolling_kth rolling_kurt
    rolling_last rolling_linear_fit rolling_logsumexp rolling_mad rolling_max rolling_mean rolling_median
    rolling_min rolling_minmax rolling_mode rolling_nunique rolling_prod rolling_ptp rolling_quantile
    rolling_rank rolling_sem rolling_skew rolling_std rolling_sum rolling_trimmed_mean rolling_var
    rolling_weighted_mean rolling_winsorized_mean set_threads
""".split()


def test_public_names_are_these():
    assert rollstat.__all__ == NAMES
    assert all(hasattr(rollstat, name) for name in NAMES)


def test_every_function_and_stream_class_is_public():
    public = set(rollstat.__all__)
    assert public > set(functions.__all__)
    assert set(streaming.__all__) - public == {"REASONS", "STREAMS"}
