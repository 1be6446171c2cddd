"""The table of named streams: one row per class, beside the registry of statistics.

A statistic of the registry becomes a stream by a row here. Its name, kinds of dtype, own parameters and their
documentation come from the registry and from the function over arrays; :mod:`rollstat.streaming.named` makes
the class. There are two kinds of rows: statistics that are computed from the rows of the window
(:class:`StatisticRow`), and operators, whose windows keep states (:class:`OperatorRow`).
"""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

import rollstat.operators as operators
import rollstat.streaming.answers as answers
import rollstat.thresholds as thresholds
from rollstat.computations.ranks import METHODS
from rollstat.functions.ranks import check_flag
from rollstat.functions.robust import check_number, check_scale, check_share
from rollstat.kernels.selection.quantiles import INTERPOLATIONS
from rollstat.kernels.simd.comparator import Greatest, Least
from rollstat.kernels.stream import steps
from rollstat.options import choice
from rollstat.registry import REGISTRY
from rollstat.streaming.linear_fit import LinearFitByRow

__all__ = ["NO_STREAM", "TABLE", "OperatorRow", "StatisticRow", "StreamRow"]


@dataclass(frozen=True, kw_only=True)
class StreamRow:
    """What both kinds of rows have.

    Attributes
    ----------
    name : str
        The class.
    statistic : str
        The name in the registry.
    summary : str
        First line of the docstring.
    cost : str
        The cost of a push.
    example : tuple of str
        Arguments of the class, an expression of `stream`, and its value.
    notes : str
        Further paragraphs of the docstring.
    check : callable
        Takes the statistic's own parameters by name and returns them checked.
    refused : mapping
        Parameters of the function that the class does not have, and why.
    described : mapping
        Type and description of parameters that differ from those of the function.
    algorithms : mapping
        What `algorithm` may be beside ``"auto"``, and what each costs.
    """

    name: str
    statistic: str
    summary: str
    cost: str
    example: tuple[str, str, str]
    notes: str = ""
    check: Callable[..., dict[str, Any]] = dict
    refused: Mapping[str, str] = field(default_factory=dict)
    described: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    algorithms: Mapping[str, str] = field(default_factory=dict)

    @property
    def kinds(self) -> str:
        """Kinds of dtype that the class accepts."""
        return REGISTRY[self.statistic].kinds

    @property
    def positional(self) -> list[inspect.Parameter]:
        """The positional parameters of the class: those of the function that are not series or refused."""
        registered = REGISTRY[self.statistic]
        accepted = {*registered.parameters, "window", "m"} - set(self.refused)
        parameters = inspect.signature(registered.function).parameters.values()
        return [p for p in parameters if p.name in accepted and p.kind is not p.KEYWORD_ONLY]

    @property
    def window_name(self) -> str:
        """The name of the parameter for the window."""
        return "m" if any(p.name == "m" for p in self.positional) else "window"


@dataclass(frozen=True, kw_only=True)
class StatisticRow(StreamRow):
    """A statistic that is computed from the rows of the window.

    Attributes
    ----------
    represent, step, answer : callable
        See :mod:`rollstat.streaming.answers`; `step` is None if no push is compiled as a whole.
    outputs : tuple of str or callable
        Kinds of the outputs, see :class:`rollstat.engine.Output`.
    min_observations : int
        Observations that an answer needs even if `min_periods` is 0.
    orders : tuple
        For extrema, the comparator of each output.
    step_windows : float
        How many windows of rows a step with vector instructions takes in one call.
    """

    represent: Callable[[Any], Any]
    answer: Callable[[Any], Any]
    step: Callable[[Any], Any] | None = None
    outputs: tuple[str, ...] | Callable[[Any], tuple[str, ...]] = ("value",)
    min_observations: int = 1
    orders: tuple[Any, ...] = ()
    step_windows: float = thresholds.STREAM_STEP_WINDOWS


@dataclass(frozen=True, kw_only=True)
class OperatorRow(StreamRow):
    """A statistic that is the result of an associative operator.

    Attributes
    ----------
    operator : type
        Made with the checked parameters.
    """

    operator: Any
    cost: str = "O(1) combinations in the worst case; O(1) amortised by ``two_stacks``"
    algorithms: Mapping[str, str] = field(
        default_factory=lambda: {
            "daba": "O(1) combinations in every single push, which ``auto`` means",
            "two_stacks": "O(1) combinations amortised",
        }
    )


_LOG = "O(log m) comparisons in the worst case"
_SORTED = "O(log m) comparisons and O(m) moves of adjacent numbers"
_DEQUE = "O(1) comparisons amortised, O(m) in the worst case"
_Q = {"q": ("float", "Between 0 and 1.")}
_K = {"k": ("int", "1 is the smallest, 2 the second smallest, -1 the largest.")}


def _check_k(k: Any) -> dict[str, Any]:
    if isinstance(k, (bool, np.bool_)) or not isinstance(k, (int, np.integer)):
        raise TypeError(f"k must be a whole number (1 is the smallest, -1 the largest); it was {k!r}")
    if k == 0:
        raise ValueError("k must lie in 1..m or -m..-1; it was 0")
    return {"k": int(k)}


def _check_quantile(q: Any, interpolation: Any) -> dict[str, Any]:
    choice("interpolation", interpolation, tuple(INTERPOLATIONS))
    return {"q": check_number("q", q, 0.0, 1.0), "interpolation": interpolation}


def _check_iqr(q_low: Any, q_high: Any, interpolation: Any) -> dict[str, Any]:
    choice("interpolation", interpolation, tuple(INTERPOLATIONS))
    low = check_number("q_low", q_low, 0.0, 1.0)
    high = check_number("q_high", q_high, low, 1.0)
    return {"q_low": low, "q_high": high, "interpolation": interpolation}


def _check_ties(ties: Any) -> dict[str, Any]:
    choice("ties", ties, ("first", "last"))
    return {"ties": ties}


def _check_rank(method: Any, ascending: Any, pct: Any) -> dict[str, Any]:
    choice("method", method, tuple(METHODS))
    return {
        "method": method,
        "ascending": check_flag("ascending", ascending),
        "pct": check_flag("pct", pct),
    }


def _check_hampel(threshold: Any, scale: Any) -> dict[str, Any]:
    threshold = check_number("threshold", threshold, 0.0, np.inf)
    return {"threshold": threshold, "scale": check_number("scale", scale, 0.0, np.inf)}


def _pushes(values: str) -> str:
    return f"[stream.push(x) for x in ({values})]"


def _pairs(values: str) -> str:
    return f"[stream.push(x, y) for x, y in ({values})]"


_EXTREMUM_ALGORITHMS = {
    "wedge": "O(1) amortised, O(m) in the worst single push, which ``auto`` means",
    "daba": "O(1) in every single push",
}
_POSITION: dict[str, Any] = {
    "refused": {"relative_to": "a stream counts from its first row"},
    "check": _check_ties,
    "outputs": ("position",),
    "step_windows": thresholds.STREAM_WEDGE_WINDOWS,
    "cost": _DEQUE,
}

_ORDER_STATISTICS = [
    StatisticRow(
        name="RollingKth",
        statistic="kth",
        summary="k-th smallest observation of a rolling window.",
        represent=answers.kth_window,
        step=answers.kth_step,
        answer=answers.kth_answer,
        check=_check_k,
        described=_K,
        algorithms={
            "two_heaps": "O(log m) in the worst single push, which ``auto`` means",
            "three_trees": "O(log k) in the worst single push, for windows of a fixed number of rows",
        },
        cost="O(log m) comparisons in the worst case; O(log k) by ``three_trees``",
        example=("2, 3", _pushes("4.0, 1.0, 3.0, 2.0, 5.0"), "[nan, nan, 3.0, 2.0, 3.0]"),
    ),
    StatisticRow(
        name="RollingArgkth",
        statistic="argkth",
        summary="Row of the k-th smallest observation of a rolling window, counted from the first row pushed.",
        represent=partial(answers.kth_window, ties=True),
        step=answers.argkth_step,
        answer=answers.argkth_answer,
        outputs=("position",),
        check=_check_k,
        described={
            "k": (
                "int",
                "1 is the smallest, -1 the largest. Of equal values the older row counts as the smaller.",
            )
        },
        cost=_LOG,
        example=("1, 3", _pushes("4.0, 1.0, 3.0, 2.0, 5.0"), "[-1, -1, 1, 1, 3]"),
    ),
    StatisticRow(
        name="RollingMedian",
        statistic="median",
        summary="Median of a rolling window.",
        represent=answers.quantile_window,
        step=answers.median_step,
        answer=answers.quantile_answer,
        outputs=("interpolated",),
        cost=_LOG,
        example=("3, min_periods=1", _pushes("4.0, 1.0, 3.0, 2.0, 5.0"), "[4.0, 2.5, 3.0, 2.0, 3.0]"),
    ),
    StatisticRow(
        name="RollingQuantile",
        statistic="quantile",
        summary="Quantile of a rolling window.",
        represent=answers.quantile_window,
        step=answers.quantile_step,
        answer=answers.quantile_answer,
        outputs=answers.quantile_outputs,
        check=_check_quantile,
        described=_Q,
        cost=_LOG,
        example=("3, 0.25", _pushes("4.0, 1.0, 3.0, 2.0, 5.0"), "[nan, nan, 2.0, 1.5, 2.5]"),
    ),
    StatisticRow(
        name="RollingIqr",
        statistic="iqr",
        summary="Distance between two quantiles of a rolling window, by default the interquartile range.",
        represent=answers.iqr_window,
        step=answers.iqr_step,
        answer=answers.iqr_answer,
        outputs=answers.iqr_outputs,
        check=_check_iqr,
        cost=_LOG,
        example=("4", _pushes("4.0, 1.0, 3.0, 2.0, 5.0"), "[nan, nan, nan, 1.5, 1.75]"),
    ),
]

_EXTREMA = [
    StatisticRow(
        name="RollingMin",
        statistic="min",
        summary="Minimum of a rolling window.",
        represent=partial(answers.extremum_window, sign=1),
        step=partial(answers.extremum_step, step=steps.Minimum()),
        answer=partial(answers.extremum_answer, sign=1),
        orders=(Least(),),
        step_windows=thresholds.STREAM_DEQUE_WINDOWS,
        algorithms=_EXTREMUM_ALGORITHMS,
        cost=_DEQUE + "; O(1) in the worst case by ``daba``",
        example=("3", _pushes("4.0, 1.0, 3.0, 2.0, 5.0"), "[nan, nan, 1.0, 1.0, 2.0]"),
    ),
    StatisticRow(
        name="RollingMax",
        statistic="max",
        summary="Maximum of a rolling window.",
        represent=partial(answers.extremum_window, sign=-1),
        step=partial(answers.extremum_step, step=steps.Maximum()),
        answer=partial(answers.extremum_answer, sign=-1),
        orders=(Greatest(),),
        step_windows=thresholds.STREAM_DEQUE_WINDOWS,
        algorithms=_EXTREMUM_ALGORITHMS,
        cost=_DEQUE + "; O(1) in the worst case by ``daba``",
        example=("3, min_periods=1", _pushes("4.0, 1.0, 3.0, 2.0, 5.0"), "[4.0, 4.0, 4.0, 3.0, 5.0]"),
    ),
    StatisticRow(
        name="RollingMinMax",
        statistic="minmax",
        summary="Minimum and maximum of a rolling window.",
        represent=answers.wedge_window,
        step=partial(answers.wedge_step, step=steps.MinMax()),
        answer=answers.minmax_answer,
        outputs=("value", "value"),
        orders=(Least(), Greatest()),
        step_windows=thresholds.STREAM_WEDGE_WINDOWS,
        cost=_DEQUE,
        example=("3, min_periods=1", _pushes("4.0, 1.0, 3.0"), "[(4.0, 4.0), (1.0, 4.0), (1.0, 4.0)]"),
    ),
    StatisticRow(
        name="RollingPtp",
        statistic="ptp",
        summary="Distance from the minimum to the maximum of a rolling window.",
        represent=answers.wedge_window,
        step=partial(answers.wedge_step, step=steps.Range()),
        answer=answers.ptp_answer,
        outputs=("difference",),
        step_windows=thresholds.STREAM_WEDGE_WINDOWS,
        cost=_DEQUE,
        example=("3, min_periods=1", _pushes("4.0, 1.0, 3.0"), "[0.0, 3.0, 3.0]"),
    ),
    StatisticRow(
        name="RollingArgmin",
        statistic="argmin",
        summary="Row of the minimum of a rolling window, counted from the first row pushed.",
        represent=partial(answers.position_window, first="minimum_first", last="minimum_last"),
        step=partial(answers.wedge_step, step=steps.Argmin()),
        answer=partial(answers.position_answer, side=0),
        example=("3", _pushes("4.0, 1.0, 3.0, 1.0, 5.0"), "[-1, -1, 1, 1, 3]"),
        **_POSITION,
    ),
    StatisticRow(
        name="RollingArgmax",
        statistic="argmax",
        summary="Row of the maximum of a rolling window, counted from the first row pushed.",
        # A wedge that prefers the last of equal minima prefers the first of equal maxima.
        represent=partial(answers.position_window, first="minimum_last", last="minimum_first"),
        step=partial(answers.wedge_step, step=steps.Argmax()),
        answer=partial(answers.position_answer, side=1),
        example=("3", _pushes("4.0, 1.0, 3.0, 1.0, 5.0"), "[-1, -1, 0, 2, 4]"),
        **_POSITION,
    ),
]

_OF_SORTED_WINDOWS = [
    StatisticRow(
        name="RollingRank",
        statistic="rank",
        summary="Rank of the newest element among the observations of a rolling window.",
        represent=answers.ordered_window,
        answer=answers.rank_answer,
        outputs=("float",),
        check=_check_rank,
        cost=_SORTED,
        example=("3", _pushes("4.0, 1.0, 3.0, 3.0, 5.0"), "[nan, nan, 2.0, 2.5, 3.0]"),
    ),
    StatisticRow(
        name="RollingNunique",
        statistic="nunique",
        summary="Number of distinct values of a rolling window.",
        represent=answers.ordered_window,
        answer=answers.nunique_answer,
        outputs=("integer",),
        min_observations=0,
        cost=_SORTED,
        example=("3, min_periods=1", _pushes("4.0, 1.0, 1.0, 1.0"), "[1.0, 2.0, 2.0, 1.0]"),
    ),
    StatisticRow(
        name="RollingMode",
        statistic="mode",
        summary="Most frequent value of a rolling window, the smallest of several.",
        represent=answers.ordered_window,
        answer=answers.mode_answer,
        cost="O(m)",
        example=("4, min_periods=1", _pushes("4.0, 1.0, 1.0, 4.0"), "[4.0, 1.0, 1.0, 1.0]"),
    ),
    StatisticRow(
        name="RollingMad",
        statistic="mad",
        summary="Median absolute deviation of a rolling window from its own median.",
        represent=answers.ordered_window,
        answer=answers.mad_answer,
        outputs=answers.mad_outputs,
        check=lambda scale: {"scale": check_scale(scale)},
        cost=_SORTED,
        example=("3", _pushes("4.0, 1.0, 3.0, 2.0, 5.0"), "[nan, nan, 1.0, 1.0, 1.0]"),
    ),
    StatisticRow(
        name="Hampel",
        statistic="hampel",
        summary="Outlier filter: each element, or the median of its window in place of an outlier.",
        notes=(
            "The answer is a pair: the cleaned value, and whether the newest element is an outlier. An outlier is\n"
            "farther from the median of its window than `threshold` times `scale` times the median absolute\n"
            "deviation."
        ),
        represent=answers.ordered_window,
        answer=answers.hampel_answer,
        outputs=("interpolated", "flag"),
        check=_check_hampel,
        cost=_SORTED,
        example=(
            "5, min_periods=1",
            _pushes("1.0, 1.2, 0.9, 25.0, 1.1") + "[3:]",
            "[(1.1, True), (1.1, False)]",
        ),
    ),
    StatisticRow(
        name="RollingTrimmedMean",
        statistic="trimmed_mean",
        summary="Mean of a rolling window without its smallest and largest observations.",
        represent=answers.ordered_window,
        answer=partial(answers.trimmed_mean_answer, winsorize=False),
        outputs=("float",),
        check=lambda proportion: {"proportion": check_share(proportion)},
        cost="O(m) additions",
        example=("4, 0.25", _pushes("4.0, 1.0, 3.0, 90.0") + "[-1]", "3.5"),
    ),
    StatisticRow(
        name="RollingWinsorizedMean",
        statistic="winsorized_mean",
        summary="Mean of a rolling window whose ends are replaced by the outermost observations that are kept.",
        represent=answers.ordered_window,
        answer=partial(answers.trimmed_mean_answer, winsorize=True),
        outputs=("float",),
        check=lambda proportion: {"proportion": check_share(proportion)},
        cost="O(m) additions",
        example=("4, 0.25", _pushes("4.0, 1.0, 3.0, 90.0") + "[-1]", "3.5"),
    ),
]


def _check_decay(decay: Any) -> dict[str, Any]:
    return {"decay": check_number("decay", decay, 0.0, 1.0)}


_OPERATORS = [
    OperatorRow(
        name="RollingSum",
        statistic="sum",
        summary="Sum of a rolling window; exact for integers.",
        operator=operators.Sum,
        notes="Nothing is subtracted from a running total: a value that has left the window has no effect.",
        example=("2", _pushes("4.0, 1e300, 3.0, 2.0"), "[nan, 1e+300, 1e+300, 5.0]"),
    ),
    OperatorRow(
        name="RollingMean",
        statistic="mean",
        summary="Mean of a rolling window.",
        operator=operators.Mean,
        example=("2, min_periods=1", _pushes("4.0, 1.0, 3.0"), "[4.0, 2.5, 2.0]"),
    ),
    OperatorRow(
        name="RollingProd",
        statistic="prod",
        summary="Product of a rolling window; exact for integers.",
        operator=operators.Product,
        example=("2, min_periods=1", _pushes("4.0, 0.0, 3.0, 2.0"), "[4.0, 0.0, 0.0, 6.0]"),
    ),
    OperatorRow(
        name="RollingVar",
        statistic="var",
        summary="Variance of a rolling window.",
        operator=operators.Variance,
        example=("2", _pushes("4.0, 1.0, 3.0"), "[nan, 4.5, 2.0]"),
    ),
    OperatorRow(
        name="RollingStd",
        statistic="std",
        summary="Standard deviation of a rolling window.",
        operator=operators.StandardDeviation,
        example=("2, 0", _pushes("4.0, 1.0, 3.0"), "[nan, 1.5, 1.0]"),
    ),
    OperatorRow(
        name="RollingSem",
        statistic="sem",
        summary="Standard error of the mean of a rolling window.",
        operator=operators.StandardError,
        example=("2", "[round(stream.push(x), 6) for x in (4.0, 1.0, 3.0)]", "[nan, 1.5, 1.0]"),
    ),
    OperatorRow(
        name="RollingSkew",
        statistic="skew",
        summary="Skewness of a rolling window.",
        operator=operators.Skewness,
        example=("3, min_periods=1", _pushes("1.0, 2.0, 3.0"), "[nan, nan, 0.0]"),
    ),
    OperatorRow(
        name="RollingKurt",
        statistic="kurt",
        summary="Excess kurtosis of a rolling window.",
        operator=operators.Kurtosis,
        example=("3, min_periods=1", _pushes("1.0, 1.0, 1.0"), "[nan, nan, nan]"),
    ),
    OperatorRow(
        name="RollingCount",
        statistic="count",
        summary="Number of observations of a rolling window.",
        operator=operators.Count,
        example=("3, min_periods=1", _pushes("1.0, None, 3.0"), "[1, 1, 2]"),
    ),
    OperatorRow(
        name="RollingAny",
        statistic="any",
        summary="Whether any observation of a rolling window is not zero.",
        operator=operators.AnyTrue,
        example=("3, min_periods=1", _pushes("0.0, 1.0, 0.0"), "[False, True, True]"),
    ),
    OperatorRow(
        name="RollingAll",
        statistic="all",
        summary="Whether no observation of a rolling window is zero.",
        operator=operators.AllTrue,
        example=("3, min_periods=1", _pushes("2.0, 1.0, 0.0"), "[True, True, False]"),
    ),
    OperatorRow(
        name="RollingFirst",
        statistic="first",
        summary="Oldest observation of a rolling window.",
        operator=operators.First,
        example=("3, min_periods=1", _pushes("4.0, 1.0, 3.0, 2.0"), "[4.0, 4.0, 4.0, 1.0]"),
    ),
    OperatorRow(
        name="RollingLast",
        statistic="last",
        summary="Newest observation of a rolling window.",
        operator=operators.Last,
        example=("3, min_periods=1", _pushes("4.0, None, 3.0"), "[4.0, 4.0, 3.0]"),
    ),
    OperatorRow(
        name="RollingLogSumExp",
        statistic="logsumexp",
        summary="Logarithm of the sum of exponentials of a rolling window.",
        operator=operators.LogSumExp,
        example=("3, min_periods=1", _pushes("1000.0, -1000.0"), "[1000.0, 1000.0]"),
    ),
    OperatorRow(
        name="RollingDecayedSum",
        statistic="decayed_sum",
        summary="Sum in which each observation weighs `decay` times the next newer one.",
        operator=operators.DecayedSum,
        check=_check_decay,
        example=("2, 0.5", _pushes("4.0, 1.0, 3.0"), "[nan, 3.0, 3.5]"),
    ),
    OperatorRow(
        name="RollingDecayedMean",
        statistic="decayed_mean",
        summary="Mean in which each observation weighs `decay` times the next newer one.",
        operator=operators.DecayedMean,
        check=_check_decay,
        example=("2, 0.5", _pushes("4.0, 1.0, 4.0"), "[nan, 2.0, 3.0]"),
    ),
    OperatorRow(
        name="RollingCov",
        statistic="cov",
        summary="Covariance of two series in a rolling window: ``push(x, y)``.",
        operator=operators.Covariance,
        example=("2", _pairs("(4.0, 1.0), (1.0, 2.0), (3.0, 4.0)"), "[nan, -1.5, 2.0]"),
    ),
    OperatorRow(
        name="RollingCorr",
        statistic="corr",
        summary="Correlation of two series in a rolling window: ``push(x, y)``.",
        operator=operators.Correlation,
        example=("2", _pairs("(4.0, 1.0), (1.0, 2.0)"), "[nan, -1.0]"),
    ),
    OperatorRow(
        name="RollingBeta",
        statistic="beta",
        summary="Slope of one series against another in a rolling window: ``push(x, y)``, x against y.",
        operator=operators.Slope,
        example=("2", _pairs("(4.0, 1.0), (1.0, 2.0)"), "[nan, -3.0]"),
    ),
    OperatorRow(
        name="RollingWeightedMean",
        statistic="weighted_mean",
        summary="Mean of a rolling window, weighted by a second series: ``push(x, weight)``.",
        operator=operators.WeightedMean,
        example=("2", _pairs("(4.0, 1.0), (1.0, 2.0)"), "[nan, 2.0]"),
    ),
    OperatorRow(
        name="RollingLinearFit",
        statistic="linear_fit",
        summary="Straight line of least squares through a rolling window: slope, intercept and R squared.",
        notes="The first row of the window is row 0, as in :func:`rolling_linear_fit`.",
        operator=LinearFitByRow,
        example=(
            "3, min_periods=2",
            _pushes("1.0, 3.0, 5.0, 7.0") + "[1:]",
            "[(2.0, 1.0, 1.0), (2.0, 1.0, 1.0), (2.0, 3.0, 1.0)]",
        ),
    ),
]

TABLE: list[StreamRow] = [*_ORDER_STATISTICS, *_EXTREMA, *_OF_SORTED_WINDOWS, *_OPERATORS]

NO_STREAM = {
    "aggregate": "SlidingAggregate, FixedAggregate, TimeAggregate and GreedyAggregate take any operator",
}
"""Statistics without a class of their own, and why."""
