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
from rollstat.kernels import steps
from rollstat.kernels.rank_space.rank import METHODS
from rollstat.kernels.selection.quantiles import INTERPOLATIONS
from rollstat.operators.moments import LinearFitByRow
from rollstat.options import check_flag, choice
from rollstat.registry import REGISTRY
from rollstat.statistics.common import check_decay, check_k, check_number, check_scale, check_share

# What checks the statistics' own parameters, by name; operators check those that are not here.
_CHECKS: dict[str, Callable[[Any], Any]] = {
    "k": check_k,
    **{name: partial(check_number, name, least=0.0, most=1.0) for name in ("q", "q_low", "q_high")},
    "interpolation": partial(choice, "interpolation", choices=tuple(INTERPOLATIONS)),
    "ties": partial(choice, "ties", choices=("first", "last")),
    "method": partial(choice, "method", choices=tuple(METHODS)),
    "ascending": partial(check_flag, "ascending"),
    "pct": partial(check_flag, "pct"),
    "threshold": partial(check_number, "threshold", least=0.0, most=np.inf),
    "scale": check_scale,
    "proportion": check_share,
    "decay": check_decay,
}


@dataclass(frozen=True)
class StreamRow:
    """What both kinds of rows have.

    Attributes
    ----------
    name : str
        The class.
    statistic : str
        The name in the registry.
    arguments, pushed, answered : str
        The example: arguments of the class, what is pushed (or an expression of `stream`), the answers.
    notes : str
        A paragraph of the docstring.
    checks : mapping
        What checks parameters by name, where it differs from other statistics.
    rejected : mapping
        Parameters of the function that the class does not have, and why.
    described : mapping
        Type and description of parameters that differ from those of the function.
    algorithms : mapping
        What `algorithm` may be beside ``"auto"``, and the cost of a push; the first is what ``"auto"`` means.
    cost : str
        The cost of a push if there is one algorithm.
    """

    name: str
    statistic: str
    arguments: str
    pushed: str
    answered: str
    notes: str = field(default="", kw_only=True)
    checks: Mapping[str, Callable[[Any], Any]] = field(default_factory=dict, kw_only=True)
    rejected: Mapping[str, str] = field(default_factory=dict, kw_only=True)
    described: Mapping[str, tuple[str, str]] = field(default_factory=dict, kw_only=True)
    algorithms: Mapping[str, str] = field(default_factory=dict, kw_only=True)
    cost: str = field(default="", kw_only=True)

    @property
    def kinds(self) -> str:
        """Kinds of dtype that the class accepts."""
        return REGISTRY[self.statistic].kinds

    @property
    def positional(self) -> list[inspect.Parameter]:
        """The positional parameters of the class: those of the function that are not series or rejected."""
        registered = REGISTRY[self.statistic]
        accepted = {*registered.parameters, "window", "m"} - set(self.rejected)
        return [p for p in registered.arguments if p.name in accepted]

    def check(self, **given: Any) -> dict[str, Any]:
        """Return the statistic's own parameters, checked; raise if one does not fit."""
        if set(given) != {p.name for p in self.positional} - {self.window_name}:
            raise TypeError(f"the parameters of {self.name} must all be given; got {', '.join(given)}")
        checks = _CHECKS | dict(self.checks)
        return {name: checks.get(name, lambda x: x)(value) for name, value in given.items()}

    @property
    def window_name(self) -> str:
        """The name of the parameter for the window."""
        return REGISTRY[self.statistic].window_name


@dataclass(frozen=True)
class StatisticRow(StreamRow):
    """A statistic that is computed from the rows of the window.

    Attributes
    ----------
    represent, answer, step : callable
        See :mod:`rollstat.streaming.answers`; `step` is None if no push is compiled as a whole.
    """

    represent: Callable[[Any], Any]
    answer: Callable[[Any], Any]
    step: Callable[[Any], Any] | None = None


_OPERATOR_ALGORITHMS = {
    "daba": "O(1) combinations in every single push",
    "two_stacks": "O(1) combinations amortised",
}


@dataclass(frozen=True)
class OperatorRow(StreamRow):
    """A statistic that is the result of an associative operator.

    Attributes
    ----------
    operator : type
        Made with the checked parameters.
    """

    operator: Any
    algorithms: Mapping[str, str] = field(default_factory=lambda: _OPERATOR_ALGORITHMS, kw_only=True)


_LOG = "O(log m) comparisons in the worst case"
_SORTING = "O(log m) comparisons and O(m) moves of adjacent numbers"
_WEDGE = "O(1) comparisons amortised, O(m) in the worst case"
_SMALLEST = "1 is the smallest, 2 the second smallest, -1 the largest."
_OLDER = "Of equal values the older row counts as the smaller."

_THREE = "3, min_periods=1"
_TRIMMED = "4, 0.25", "4.0, 1.0, 3.0, 90.0", "[nan, nan, nan, 3.5]"
_ROUNDED = "[round(stream.push(x), 6) for x in (4.0, 1.0, 3.0)]"

_ORDER_ALGORITHMS = {
    "two_heaps": "O(log m) in the worst single push",
    "three_trees": "O(log k) in the worst single push, k from the nearer end of the order, for windows of a\n"
    "fixed number of rows",
}
_EXTREMUM: dict[str, Any] = {"algorithms": {"wedge": "O(1) amortised, O(m) in the worst single push"}}
_FROM_FIRST_ROW = {"relative_to": "a stream counts from its first row"}
_POSITION: dict[str, Any] = {"rejected": _FROM_FIRST_ROW, "cost": _WEDGE}


def _step(heaps: Any, trees: Any) -> Any:
    """Return what makes a step of heaps or of trees."""
    return partial(answers.order_step, heaps=heaps, trees=trees)


_STATISTICS = [
    # Order statistics, in heaps.
    StatisticRow(
        *("RollingKth", "kth", "2, 3", "4.0, 1.0, 3.0, 2.0, 5.0", "[nan, nan, 3.0, 2.0, 3.0]"),
        *(answers.order_window, answers.kth_answer, _step(steps.KthByHeaps, steps.KthByTrees)),
        described={"k": ("int", _SMALLEST)},
        algorithms=_ORDER_ALGORITHMS,
    ),
    StatisticRow(
        *("RollingArgkth", "argkth", "1, 3", "4.0, 1.0, 3.0, 2.0, 5.0", "[-1, -1, 1, 1, 3]"),
        *(answers.order_window, answers.argkth_answer, _step(steps.ArgkthByHeaps, steps.ArgkthByTrees)),
        described={"k": ("int", f"{_SMALLEST}\n    {_OLDER}")},
        algorithms=_ORDER_ALGORITHMS,
    ),
    StatisticRow(
        *("RollingMedian", "median", "3, min_periods=1", "4.0, 1.0, 3.0, 2.0", "[4.0, 2.5, 3.0, 2.0]"),
        *(answers.order_window, answers.quantile_answer, _step(steps.Median, steps.QuantileByTrees)),
        algorithms=_ORDER_ALGORITHMS,
    ),
    StatisticRow(
        *("RollingQuantile", "quantile", "3, 0.25", "4.0, 1.0, 3.0, 2.0", "[nan, nan, 2.0, 1.5]"),
        *(answers.order_window, answers.quantile_answer, _step(steps.Quantile, steps.QuantileByTrees)),
        described={"q": ("float", "Between 0 and 1.")},
        algorithms=_ORDER_ALGORITHMS,
    ),
    StatisticRow(
        *("RollingIqr", "iqr", "4", "4.0, 1.0, 3.0, 2.0, 5.0", "[nan, nan, nan, 1.5, 1.75]"),
        *(answers.order_window, answers.iqr_answer, answers.iqr_step),
        cost=_LOG,
    ),
    # Extrema, in a monotonic deque or a wedge.
    StatisticRow(
        *("RollingMin", "min", "3", "4.0, 1.0, 3.0, 2.0, 5.0", "[nan, nan, 1.0, 1.0, 2.0]"),
        *(partial(answers.extremum_window, sign=1), partial(answers.extremum_answer, sign=1)),
        partial(answers.extremum_step, step=steps.Minimum),
        **_EXTREMUM,
    ),
    StatisticRow(
        *("RollingMax", "max", "3, min_periods=1", "4.0, 1.0, 3.0, 2.0, 5.0", "[4.0, 4.0, 4.0, 3.0, 5.0]"),
        *(partial(answers.extremum_window, sign=-1), partial(answers.extremum_answer, sign=-1)),
        partial(answers.extremum_step, step=steps.Maximum),
        **_EXTREMUM,
    ),
    StatisticRow(
        *("RollingMinMax", "minmax", "3, min_periods=1", "4.0, 1.0", "[(4.0, 4.0), (1.0, 4.0)]"),
        *(answers.wedge_window, answers.minmax_answer),
        cost=_WEDGE,
    ),
    StatisticRow(
        *("RollingPtp", "ptp", "3, min_periods=1", "4.0, 1.0, 3.0", "[0.0, 3.0, 3.0]"),
        *(answers.wedge_window, answers.ptp_answer, partial(answers.wedge_step, step=steps.Range)),
        cost=_WEDGE,
    ),
    StatisticRow(
        *("RollingArgmin", "argmin", "3", "4.0, 1.0, 3.0, 1.0, 5.0", "[-1, -1, 1, 1, 3]"),
        *(partial(answers.position_window, side=0), partial(answers.position_answer, side=0)),
        partial(answers.wedge_step, step=steps.Argmin),
        **_POSITION,
    ),
    StatisticRow(
        *("RollingArgmax", "argmax", "3", "4.0, 1.0, 3.0, 1.0, 5.0", "[-1, -1, 0, 2, 4]"),
        *(partial(answers.position_window, side=1), partial(answers.position_answer, side=1)),
        partial(answers.wedge_step, step=steps.Argmax),
        **_POSITION,
    ),
    StatisticRow(
        *("RollingArgMinMax", "argminmax", "3, min_periods=1", "4.0, 1.0, 3.0", "[(0, 0), (1, 0), (1, 0)]"),
        partial(answers.wedge_window, ties="minimum_first"),
        answers.positions_answer,
        notes="A result is a pair: the rows of the first of equal minima and of the last of equal maxima.",
        **_POSITION,
    ),
    StatisticRow(
        *("Hampel", "hampel", "5, min_periods=1", "1.0, 0.9, 25.0"),
        "[(1.0, False), (0.9, False), (1.0, True)]",
        *(answers.sorted_window_of, answers.hampel_answer),
        notes="A result is a pair: the cleaned value, and whether the newest element is an outlier.",
        checks={"scale": partial(check_number, "scale", least=0.0, most=np.inf)},
        cost=_SORTING,
    ),
]

# Class, example: arguments, what is pushed, answers; and what computes an answer from a sorted array.
_SORTED: list[tuple[str, str, str, str, str, Any]] = [
    ("Rank", "rank", "3", "4.0, 1.0, 3.0, 3.0, 5.0", "[nan, nan, 2.0, 2.5, 3.0]", answers.rank_answer),
    ("Nunique", "nunique", _THREE, "4.0, 1.0, 1.0, 1.0", "[1.0, 2.0, 2.0, 1.0]", answers.nunique_answer),
    ("Mode", "mode", "4, min_periods=1", "4.0, 1.0, 1.0, 4.0", "[4.0, 1.0, 1.0, 1.0]", answers.mode_answer),
    ("Mad", "mad", "3", "4.0, 1.0, 3.0, 2.0, 5.0", "[nan, nan, 1.0, 1.0, 1.0]", answers.mad_answer),
    ("Gini", "gini", "3", "4.0, 1.0, 3.0, 3.0", "[nan, nan, 2.0, 1.3333333333333333]", answers.gini_answer),
    ("TrimmedMean", "trimmed_mean", *_TRIMMED, partial(answers.trimmed_mean_answer, winsorize=False)),
    ("WinsorizedMean", "winsorized_mean", *_TRIMMED, partial(answers.trimmed_mean_answer, winsorize=True)),
]

# Class, statistic, operator, example: arguments, what is pushed, answers.
_OPERATORS: list[tuple[str, str, Any, str, str, str]] = [
    ("Sum", "sum", operators.Sum, "2", "4.0, 1e300, 3.0, 2.0", "[nan, 1e+300, 1e+300, 5.0]"),
    ("Mean", "mean", operators.Mean, "2, min_periods=1", "4.0, 1.0, 3.0", "[4.0, 2.5, 2.0]"),
    ("Prod", "prod", operators.Product, "2, min_periods=1", "4.0, 0.0, 3.0, 2.0", "[4.0, 0.0, 0.0, 6.0]"),
    ("Var", "var", operators.Variance, "2", "4.0, 1.0, 3.0", "[nan, 4.5, 2.0]"),
    ("Std", "std", operators.StandardDeviation, "2, 0", "4.0, 1.0, 3.0", "[nan, 1.5, 1.0]"),
    ("Sem", "sem", operators.StandardError, "2", _ROUNDED, "[nan, 1.5, 1.0]"),
    ("Skew", "skew", operators.Skewness, _THREE, "1.0, 2.0, 3.0", "[nan, nan, 0.0]"),
    ("Kurt", "kurt", operators.Kurtosis, _THREE, "1.0, 1.0, 1.0", "[nan, nan, nan]"),
    ("Count", "count", operators.Count, _THREE, "1.0, None, 3.0", "[1, 1, 2]"),
    ("Any", "any", operators.AnyTrue, _THREE, "0.0, 1.0, 0.0", "[False, True, True]"),
    ("All", "all", operators.AllTrue, _THREE, "2.0, 1.0, 0.0", "[True, True, False]"),
    ("First", "first", operators.First, _THREE, "4.0, 1.0, 3.0, 2.0", "[4.0, 4.0, 4.0, 1.0]"),
    ("Last", "last", operators.Last, _THREE, "4.0, None, 3.0", "[4.0, 4.0, 3.0]"),
    ("LogSumExp", "logsumexp", operators.LogSumExp, _THREE, "1000.0, -1000.0", "[1000.0, 1000.0]"),
    ("DecayedSum", "decayed_sum", operators.DecayedSum, "2, 0.5", "4.0, 1.0, 3.0", "[nan, 3.0, 3.5]"),
    ("DecayedMean", "decayed_mean", operators.DecayedMean, "2, 0.5", "4.0, 1.0, 4.0", "[nan, 2.0, 3.0]"),
    ("Cov", "cov", operators.Covariance, "2", "(4.0, 1.0), (1.0, 2.0), (3.0, 4.0)", "[nan, -1.5, 2.0]"),
    ("Corr", "corr", operators.Correlation, "2", "(4.0, 1.0), (1.0, 2.0)", "[nan, -1.0]"),
    ("Beta", "beta", operators.Slope, "2", "(4.0, 1.0), (1.0, 2.0)", "[nan, -3.0]"),
    ("WeightedMean", "weighted_mean", operators.WeightedMean, "2", "(4.0, 1.0), (1.0, 2.0)", "[nan, 2.0]"),
    ("LinearFit", "linear_fit", LinearFitByRow, "2", "1.0, 3.0", "[(nan, nan, nan), (2.0, 1.0, 1.0)]"),
]
_OPTIONS: dict[str, dict[str, Any]] = {
    "sum": {
        "notes": "Nothing is subtracted from a running total: a value that has left the window has no effect."
    },
    "linear_fit": {"notes": "The first row of the window is row 0, as in :func:`rolling_linear_fit`."},
    "mode": {"cost": "O(m) comparisons"},
    **{name: {"cost": "O(m) additions"} for name in ("gini", "trimmed_mean", "winsorized_mean")},
}

TABLE: list[StreamRow] = [
    *_STATISTICS,
    *(
        StatisticRow(
            *(f"Rolling{name}", statistic, made, pushed, answered, answers.sorted_window_of, answer),
            **{"cost": _SORTING} | _OPTIONS.get(statistic, {}),
        )
        for name, statistic, made, pushed, answered, answer in _SORTED
    ),
    *(
        OperatorRow(
            f"Rolling{name}", statistic, made, pushed, answered, operator, **_OPTIONS.get(statistic, {})
        )
        for name, statistic, operator, made, pushed, answered in _OPERATORS
    ),
]

NO_STREAM = {
    "aggregate": "SlidingAggregate, FixedAggregate, TimeAggregate and GreedyAggregate take any operator",
}
"""Statistics without a class of their own, and why."""
