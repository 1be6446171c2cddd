"""The table of named streams: one row per class, beside the registry of statistics.

A statistic of the registry becomes a stream by a row here. Its name, kinds of dtype, own parameters and their
documentation come from the registry and from the function over arrays; :mod:`rollstat.streaming.named` makes
the class. There are two kinds of rows: statistics that are computed from the rows of the window
(:class:`StatisticRow`), and operators, whose windows keep states (:class:`OperatorRow`).
"""

import inspect
import numbers
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

import rollstat.operators as operators
import rollstat.streaming.answers as answers
from rollstat.kernels.exponential import moments
from rollstat.operators.exponential import EwmOneByRow, EwmOneByTime, EwmTwoByRow, EwmTwoByTime
from rollstat.operators.moments import LinearFitByRow, SlopeByRow
from rollstat.options import check_flag, parse_width
from rollstat.registry import REGISTRY
from rollstat.statistics.common import check_halflife, check_weights
from rollstat.streaming.base import OPERATOR_COSTS
from rollstat.streaming.operator_adapter import operator_of_fields
from rollstat.streaming.window_spec import WindowSpec
from rollstat.windows import Expanding

_ALL = WindowSpec.parse(Expanding())


def _plain(value: Any) -> Any:
    """Return a parameter as a value of JSON."""
    if isinstance(value, (tuple, list, np.ndarray)):
        return list(map(_plain, value))
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, numbers.Real):
        return bool(value) if isinstance(value, np.bool_) else value
    return int(value) if isinstance(value, numbers.Integral) else float(value)


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
    rejected : mapping
        Parameters of the function that the class does not have, and why.
    described : mapping
        Type and description of parameters that differ from the function's.
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
        """The positional parameters of the class: the function's, except series and rejected ones."""
        registered = REGISTRY[self.statistic]
        accepted = {*registered.parameters, "window"} - set(self.rejected)
        return [p for p in registered.arguments if p.name in accepted]

    def check(self, **given: Any) -> dict[str, Any]:
        """Return the statistic's own parameters as values of JSON; raise if one does not fit."""
        kinds = {p.name: p.annotation for p in self.positional if p.name != "window"}
        if set(given) != set(kinds):
            raise TypeError(f"the parameters of {self.name} must all be given; got {', '.join(given)}")
        registered, own = REGISTRY[self.statistic], {name: _plain(value) for name, value in given.items()}
        if registered.family != "exponential":  # whose weights are checked with the window
            registered.resolve(*[np.empty(0)] * registered.series, **own, window=Expanding())
        return {name: float(own[name]) if kinds[name] is float else own[name] for name in own}


@dataclass(frozen=True)
class StatisticRow(StreamRow):
    """A statistic that is computed from the rows of the window.

    Attributes
    ----------
    represent, answer, step : callable
        See :mod:`rollstat.streaming.answers`; without a step no push is compiled as a whole.
    """

    represent: Callable[[Any], Any]
    answer: Callable[[Any], Any]
    step: Callable[[Any], Any] | None = None


@dataclass(frozen=True)
class OperatorRow(StreamRow):
    """A statistic that is the result of an associative operator.

    Attributes
    ----------
    operator : type
        Made with the checked parameters.
    fields : callable
        Takes the parameters, and returns the fields of the operator by name.
    by_time : type, optional
        The operator for weights that fall with time; `fields` then takes the window too, and says whether.
    """

    operator: Any
    fields: Callable[..., dict[str, Any]] = field(default=dict, kw_only=True)
    by_time: Any = field(default=None, kw_only=True)
    algorithms: Mapping[str, str] = field(default_factory=lambda: OPERATOR_COSTS, kw_only=True)

    @property
    def kinds(self) -> str:
        """Kinds of dtype that the class accepts: its operator takes numbers."""
        return super().kinds.replace("m", "")

    def make(self, parameters: Mapping[str, Any], window: WindowSpec = _ALL) -> Any:
        """Return the operator for parameters of the statistic and a window."""
        fields = self.fields(**parameters, **({"window": window} if self.by_time else {}))
        operator = self.by_time if fields.get("by_time") else self.operator
        return operator(**{name: fields[name] for name in operator._fields if name in fields})

    def restored(self, name: str, fields: list[Any]) -> Any:
        """Return the operator of a snapshot; raise ValueError if it is none of this statistic."""
        for operator in filter(None, (self.operator, self.by_time)):
            if operator.__name__ == name:
                return operator_of_fields(operator, fields)
        raise ValueError(f"its operator must be {self.operator.__name__}")


_THREE = "3, min_periods=1"
_TRIMMED = "4, 0.25", "4.0, 1.0, 3.0, 90.0", "[nan, nan, nan, 3.5]"
_ROUNDED = "[round(stream.push(x), 6) for x in (4.0, 1.0, 3.0)]"

# Class, statistic, example: arguments, what is pushed, answers. In heaps or trees:
_ORDERS: list[tuple[str, str, str, str, str]] = [
    ("Kth", "kth", "2, 3", "4.0, 1.0, 3.0, 2.0, 5.0", "[nan, nan, 3.0, 2.0, 3.0]"),
    ("Argkth", "argkth", "1, 3", "4.0, 1.0, 3.0, 2.0, 5.0", "[-1, -1, 1, 1, 3]"),
    ("Median", "median", _THREE, "4.0, 1.0, 3.0, 2.0", "[4.0, 2.5, 3.0, 2.0]"),
    ("Quantile", "quantile", "3, 0.25", "4.0, 1.0, 3.0, 2.0", "[nan, nan, 2.0, 1.5]"),
    ("Iqr", "iqr", "4", "4.0, 1.0, 3.0, 2.0, 5.0", "[nan, nan, nan, 1.5, 1.75]"),
]
# In a monotonic deque or a wedge:
_EXTREMA: list[tuple[str, str, str, str, str]] = [
    ("Min", "min", "3", "4.0, 1.0, 3.0, 2.0, 5.0", "[nan, nan, 1.0, 1.0, 2.0]"),
    ("Max", "max", _THREE, "4.0, 1.0, 3.0, 2.0, 5.0", "[4.0, 4.0, 4.0, 3.0, 5.0]"),
    ("MinMax", "minmax", _THREE, "4.0, 1.0", "[(4.0, 4.0), (1.0, 4.0)]"),
    ("Ptp", "ptp", _THREE, "4.0, 1.0, 3.0", "[0.0, 3.0, 3.0]"),
    ("Argmin", "argmin", "3", "4.0, 1.0, 3.0, 1.0, 5.0", "[-1, -1, 1, 1, 3]"),
    ("Argmax", "argmax", "3", "4.0, 1.0, 3.0, 1.0, 5.0", "[-1, -1, 0, 2, 4]"),
    ("ArgMinMax", "argminmax", _THREE, "4.0, 1.0, 3.0", "[(0, 0), (1, 0), (1, 0)]"),
]
# In a sorted array, with what computes an answer from that:
_SORTED: list[tuple[str, str, str, str, str, Any]] = [
    ("Rank", "rank", "3", "4.0, 1.0, 3.0, 3.0, 5.0", "[nan, nan, 2.0, 2.5, 3.0]", answers.rank_answer),
    ("Nunique", "nunique", _THREE, "4.0, 1.0, 1.0, 1.0", "[1.0, 2.0, 2.0, 1.0]", answers.nunique_answer),
    ("Mode", "mode", "4, min_periods=1", "4.0, 1.0, 1.0, 4.0", "[4.0, 1.0, 1.0, 1.0]", answers.mode_answer),
    ("Mad", "mad", "3", "4.0, 1.0, 3.0, 2.0, 5.0", "[nan, nan, 1.0, 1.0, 1.0]", answers.mad_answer),
    (
        *("Hampel", "hampel", "5, min_periods=1", "1.0, 0.9, 25.0"),
        *("[(1.0, False), (0.9, False), (1.0, True)]", answers.hampel_answer),
    ),
    ("Gini", "gini", "3", "4.0, 1.0, 3.0, 3.0", "[nan, nan, 2.0, 1.3333333333333333]", answers.gini_answer),
    (
        "Entropy",
        "entropy",
        "4, 2",
        "4.0, 1.0, 1.0, 1.0, 4.0",
        "[nan, nan, nan, 0.8112781244591328, 0.8112781244591328]",
        answers.function_answer,
    ),
    ("Zscore", "zscore", "3", "1.0, 2.0, 3.0", "[nan, nan, 1.0]", answers.function_answer),
    ("MeanAbsDev", "mean_abs_dev", "3", "1.0, 2.0, 6.0", "[nan, nan, 2.0]", answers.function_answer),
    ("Autocorr", "autocorr", "3", "1.0, 2.0, 4.0", "[nan, nan, 1.0]", answers.function_answer),
    ("TrimmedMean", "trimmed_mean", *_TRIMMED, answers.trimmed_mean_answer),
    ("WinsorizedMean", "winsorized_mean", *_TRIMMED, answers.trimmed_mean_answer),
]

# States of operators:
_OPERATORS: list[tuple[str, str, str, str, str, Any]] = [
    ("Sum", "sum", "2", "4.0, 1e300, 3.0, 2.0", "[nan, 1e+300, 1e+300, 5.0]", operators.Sum),
    ("Mean", "mean", "2, min_periods=1", "4.0, 1.0, 3.0", "[4.0, 2.5, 2.0]", operators.Mean),
    ("Prod", "prod", "2, min_periods=1", "4.0, 0.0, 3.0, 2.0", "[4.0, 0.0, 0.0, 6.0]", operators.Product),
    ("Var", "var", "2", "4.0, 1.0, 3.0", "[nan, 4.5, 2.0]", operators.Variance),
    ("Std", "std", "2, 0", "4.0, 1.0, 3.0", "[nan, 1.5, 1.0]", operators.StandardDeviation),
    ("Sem", "sem", "2", _ROUNDED, "[nan, 1.5, 1.0]", operators.StandardError),
    ("Skew", "skew", _THREE, "1.0, 2.0, 3.0", "[nan, nan, 0.0]", operators.Skewness),
    ("Kurt", "kurt", _THREE, "1.0, 1.0, 1.0", "[nan, nan, nan]", operators.Kurtosis),
    ("PositiveSum", "positive_sum", "2", "4.0, -1.0, 3.0", "[nan, 4.0, 3.0]", operators.PositiveSum),
    ("NegativeSum", "negative_sum", "2", "4.0, -1.0, 3.0", "[nan, -1.0, -1.0]", operators.NegativeSum),
    (
        *("DownsideDeviation", "downside_deviation", "2, 1.0", "4.0, 1.0, -1.0"),
        *("[nan, 0.0, 1.4142135623730951]", operators.DownsideDeviation),
    ),
    (
        "Drawdown",
        "drawdown",
        _THREE,
        "4.0, 3.0, 1.0, 2.0",
        "[0.0, 0.25, 0.75, 0.6666666666666666]",
        operators.Drawdown,
    ),
    ("Count", "count", _THREE, "1.0, None, 3.0", "[1, 1, 2]", operators.Count),
    ("Any", "any", _THREE, "0.0, 1.0, 0.0", "[False, True, True]", operators.AnyTrue),
    ("All", "all", _THREE, "2.0, 1.0, 0.0", "[True, True, False]", operators.AllTrue),
    ("First", "first", _THREE, "4.0, 1.0, 3.0, 2.0", "[4.0, 4.0, 4.0, 1.0]", operators.First),
    ("Last", "last", _THREE, "4.0, None, 3.0", "[4.0, 4.0, 3.0]", operators.Last),
    ("LogSumExp", "logsumexp", _THREE, "1000.0, -1000.0", "[1000.0, 1000.0]", operators.LogSumExp),
    ("DecayedSum", "decayed_sum", "2, 0.5", "4.0, 1.0, 3.0", "[nan, 3.0, 3.5]", operators.DecayedSum),
    ("DecayedMean", "decayed_mean", "2, 0.5", "4.0, 1.0, 4.0", "[nan, 2.0, 3.0]", operators.DecayedMean),
    ("Cov", "cov", "2", "(4.0, 1.0), (1.0, 2.0), (3.0, 4.0)", "[nan, -1.5, 2.0]", operators.Covariance),
    ("Corr", "corr", "2", "(4.0, 1.0), (1.0, 2.0)", "[nan, -1.0]", operators.Correlation),
    ("Beta", "beta", "2", "(4.0, 1.0), (1.0, 2.0)", "[nan, -3.0]", operators.Slope),
    ("WeightedMean", "weighted_mean", "2", "(4.0, 1.0), (1.0, 2.0)", "[nan, 2.0]", operators.WeightedMean),
    ("Slope", "slope", "2", "1.0, 3.0", "[nan, 2.0]", SlopeByRow),
    ("LinearFit", "linear_fit", "2", "1.0, 3.0", "[(nan, nan, nan), (2.0, 1.0, 1.0)]", LinearFitByRow),
]
_HALFLIFE = (
    "float, str or timedelta, optional",
    'The number of rows in which weights halve; or a duration, such as ``"5min"``, and :meth:`push` then\n'
    "    needs the time of each element. Time windows need a duration.",
)
_HALF, _PUSHED = "alpha=0.5", "(4.0, 1.0), (1.0, 2.0)"
# Exponentially weighted, with the statistic of the operator:
_EWM: list[tuple[str, str, str, str, str, Any, int]] = [
    ("EwmMean", "ewm_mean", _HALF, "4.0, None, 1.0", "[4.0, 4.0, 1.6]", EwmOneByRow, moments.MEAN),
    ("EwmSum", "ewm_sum", _HALF, "4.0, 1.0, 3.0", "[4.0, 3.0, 4.5]", EwmOneByRow, moments.SUM),
    ("EwmVar", "ewm_var", _HALF, "4.0, 1.0", "[nan, 4.5]", EwmOneByRow, moments.VARIANCE),
    ("EwmStd", "ewm_std", _HALF, "4.0, 4.0", "[nan, 0.0]", EwmOneByRow, moments.DEVIATION),
    ("EwmCov", "ewm_cov", _HALF, _PUSHED, "[nan, -1.5]", EwmTwoByRow, moments.COVARIANCE),
    ("EwmCorr", "ewm_corr", _HALF, _PUSHED, "[nan, -1.0]", EwmTwoByRow, moments.CORRELATION),
]


def _ewm_fields(
    statistic: int,
    window: WindowSpec,
    adjust: Any = True,
    ignore_na: Any = False,
    bias: Any = False,
    **decays: Any,
) -> dict[str, Any]:
    """Return the fields of an operator with exponential weights, and whether they fall with time."""
    flags = {"adjust": adjust, "ignore_na": ignore_na, "bias": bias}
    flags = {name: check_flag(name, value) for name, value in flags.items()}
    halflife = decays.get("halflife")
    by_time = halflife is not None and (window.by_width or parse_width(halflife, "halflife") is not None)
    unit = None if window.kind == "number" else 1
    decay = check_halflife(unit, **decays) if by_time else check_weights(**decays)
    return {"statistic": statistic, "decay": decay, "by_time": by_time, **flags}


def _ewm_row(*row: Any) -> Any:
    """Return the row of a class with exponential weights."""
    *others, operator, number = row
    make: Any = OperatorRow
    given: dict[str, Any] = {"fields": partial(_ewm_fields, number), "described": {"halflife": _HALFLIFE}}
    by_time = EwmOneByTime if operator is EwmOneByRow else EwmTwoByTime
    return make(*others, operator, by_time=by_time, **given)


_ORDER_ALGORITHMS = {
    "two_heaps": "O(log m) in the worst single push",
    "three_trees": "O(log k) in the worst single push, k counted from the nearer end, for windows of a\n"
    "fixed number of rows",
}
_TWO_HEAPS: dict[str, Any] = {"algorithms": _ORDER_ALGORITHMS}
_EXTREMUM: dict[str, Any] = {"algorithms": {"wedge": "O(1) amortised, O(m) in the worst single push"}}
_WEDGE: dict[str, Any] = {"cost": "O(1) comparisons amortised, O(m) in the worst case"}
_POSITION: dict[str, Any] = _WEDGE | {"rejected": {"relative_to": "a stream counts from its first row"}}
_TUPLE = "For a sequence,\n    results are tuples, and a push takes O(m) moves of adjacent numbers."
_SMALLEST = "1 is the smallest, 2 the second smallest, -1 the largest."
_OLDER = "The older of equal values counts as the smaller."
_ADDITIONS: dict[str, Any] = {"cost": "O(m) additions"}

_OPTIONS: dict[str, dict[str, Any]] = {
    "kth": _TWO_HEAPS | {"described": {"k": ("int or sequence of int", f"{_SMALLEST} {_TUPLE}")}},
    "argkth": _TWO_HEAPS | {"described": {"k": ("int", f"{_SMALLEST}\n    {_OLDER}")}},
    "median": _TWO_HEAPS,
    "quantile": _TWO_HEAPS
    | {"described": {"q": ("float or sequence of float", f"Between 0 and 1. {_TUPLE}")}},
    "iqr": {"cost": "O(log m) comparisons in the worst case"},
    "min": _EXTREMUM,
    "max": _EXTREMUM,
    "minmax": _WEDGE,
    "ptp": _WEDGE,
    "argmin": _POSITION,
    "argmax": _POSITION,
    "argminmax": _POSITION | {"notes": "A result is a pair of rows."},
    "mode": {"cost": "O(m) comparisons"},
    "hampel": {
        "notes": "A result is a pair: the cleaned value, and whether the newest element is an outlier.",
        "rejected": {"exclude_self": "the window of a stream ends with its newest element"},
    },
    "gini": _ADDITIONS,
    "entropy": _ADDITIONS,
    "zscore": _ADDITIONS,
    "mean_abs_dev": _ADDITIONS,
    "autocorr": _ADDITIONS,
    "trimmed_mean": _ADDITIONS,
    "winsorized_mean": _ADDITIONS,
    "sum": {
        "notes": "Nothing is subtracted from a total, so values that have left the window have no effect."
    },
    "linear_fit": {"notes": "The first row of the window is row 0, as in :func:`rolling_linear_fit`."},
}


def _row(kind: Any, name: str, statistic: str, *others: Any, **options: Any) -> Any:
    """Return the row of a class."""
    return kind(f"Rolling{name}", statistic, *others, **options | _OPTIONS.get(statistic, {}))


_ORDER = answers.order_window, answers.order_answer, answers.order_step
_EXTREME = answers.extrema_window, answers.extrema_answer, answers.extrema_step
_SORTING = {"cost": "O(log m) comparisons and O(m) moves of adjacent numbers"}

TABLE: list[StreamRow] = [
    *(_row(StatisticRow, *row, *_ORDER) for row in _ORDERS),
    *(_row(StatisticRow, *row, *_EXTREME) for row in _EXTREMA),
    *(_row(StatisticRow, *row, answers.sorted_window_of, answer, **_SORTING) for *row, answer in _SORTED),
    *(_row(OperatorRow, *row, operator) for *row, operator in _OPERATORS),
    *(_ewm_row(*row) for row in _EWM),
]

NO_STREAM = {
    **dict.fromkeys(
        ("weighted_median", "weighted_quantile"), "streams of order statistics keep rows without weights"
    ),
    "convolve": "a push would take as long as one product of its rows and the weights with NumPy",
    "aggregate": "SlidingAggregate, FixedAggregate, TimeAggregate and GreedyAggregate take any operator",
    "regression": "the products of several regressors are a matrix, and no state of an operator",
    "apply": "a function must read its whole window again for each row; an operator need not",
}
"""Statistics without a class of their own, and why."""
