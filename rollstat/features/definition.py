"""Definitions of features: statistics of columns over windows, their names, and their form as JSON."""

import json
import numbers
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from functools import cache, cached_property
from importlib import import_module
from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple, get_args

import numpy as np

from rollstat import operators
from rollstat.calendar_units import at_most, is_calendar
from rollstat.dtypes import flattened
from rollstat.names import reject_unknown
from rollstat.options import Infinite, choice, parse_width, width_text
from rollstat.registry import REGISTRY
from rollstat.windows import Around, Expanding, Forward

if TYPE_CHECKING:
    from rollstat.features.stream import FeatureStream

_OPTIONS = ("min_periods", "center", "closed", "nan_policy", "inf", "algorithm")
_WINDOWS = {"Expanding": Expanding, "Forward": Forward, "Around": Around}
_NAMED = Expanding, Forward, Around
_VERSION = 1


@dataclass(frozen=True)
class Feature:
    """A statistic of columns over windows, made by the functions of this module.

    Attributes
    ----------
    statistic : str
        The name of the statistic in the registry.
    columns : tuple of str
        The columns that the statistic takes.
    parameters : mapping
        The statistic's own parameters.
    windows : tuple
        The windows; each adds a column, or several if the statistic has several results.
    options : mapping
        Options of the array functions.
    names : tuple of str
        Names of the new columns; empty for default names.
    keys : tuple of str or None
        Columns whose values identify the series; None for the key columns of the set.
    condition : str or None
        The condition that rows must meet to be observations.

    Examples
    --------
    >>> from rollstat import features as f
    >>> f.quantile("amount", [0.5, 0.95]).over("30D", min_periods=5).alias("middle", "high").names
    ('middle', 'high')
    """

    statistic: str
    columns: tuple[str, ...]
    parameters: Mapping[str, Any] = field(default_factory=dict)
    windows: tuple[Any, ...] = ()
    options: Mapping[str, Any] = field(default_factory=dict)
    names: tuple[str, ...] = ()
    keys: tuple[str, ...] | None = None
    condition: str | None = None

    def over(self, *windows: Any, **options: Any) -> "Feature":
        """Return the statistic over these windows.

        Parameters
        ----------
        *windows : int, str, timedelta, float, Expanding, Forward or Around
            Numbers of rows, durations, or months, quarters and years such as ``"1 month"``; a float is a
            duration if the times are numbers.
        **options
            `min_periods`, `center`, `closed`, `nan_policy`, `inf` and `algorithm` of the array functions;
            `closed` and `inf` override the options of the set. Its `closed` does not apply to Forward and
            Around.

        Returns
        -------
        Feature
        """
        reject_unknown("over()", options, _OPTIONS)
        return replace(self, windows=tuple(map(_window, windows)), options=options)

    def alias(self, *names: str) -> "Feature":
        """Return the same feature with other names.

        Parameters
        ----------
        *names : str
            Either a name for each new column (for each window, one for each result), or, with several
            windows, a name for each result, to which an underscore and the window are added.

        Returns
        -------
        Feature
        """
        return replace(self, names=_names("names", names))

    def by(self, *keys: str) -> "Feature":
        """Return the same feature with its own key columns; without any, all rows are one series."""
        return replace(self, keys=_names("by", keys))

    def where(self, condition: str) -> "Feature":
        """Return the same feature where only some rows are observations.

        Parameters
        ----------
        condition : str
            The name of a boolean column, or a condition on columns in Python's notation, such as
            ``"category == 'food' and amount > 10"``. Other rows count as missing values: they are not
            observations, but keep their place in row windows.

        Returns
        -------
        Feature
        """
        if not isinstance(condition, str):
            raise TypeError(f'condition must be a column or a condition such as "x > 0"; got {condition!r}')
        return replace(self, condition=condition)

    @property
    def inputs(self) -> tuple[str, ...]:
        """The columns that the statistic takes, including columns passed as parameters."""
        x = self.parameters.get("x")
        return self.columns if x is None else (*self.columns, x)

    def call(self, arrays: Sequence[Any], window: Any, **options: Any) -> Any:
        """Return the call of the array function without running it."""
        statistic, parameters = REGISTRY[self.statistic], dict(self.parameters)
        series, others = arrays[: len(self.columns)], arrays[len(self.columns) :]
        parameters.update(zip(("x",), others))
        return statistic.resolve(**statistic.given(series), window=window, **parameters, **options)

    def __str__(self) -> str:
        given = [*map(repr, self.columns), *(f"{name}={value!r}" for name, value in self.parameters.items())]
        return f"{self.statistic}({', '.join(given)})"


@cache
def builder(name: str) -> Callable[..., Feature]:
    """Return the function that names a statistic of columns, with its own parameters."""

    def make(statistic: str, columns: tuple[Any, ...], given: dict[str, Any]) -> Feature:
        for key, value in given.items():
            if isinstance(value, (np.ndarray, np.generic)):
                given[key] = value.tolist()
            elif type(value) is tuple:  # operators are tuples of other classes
                given[key] = list(value)
        return Feature(statistic, _names("columns", columns), given)

    return REGISTRY[name].builder(name, "rollstat.features", make, Feature)


class FeatureColumn(NamedTuple):
    """A column of features.

    Attributes
    ----------
    name : str
        The name of the column.
    dtype : numpy.dtype
        The dtype of the result for float64 columns.
    window
        The window of the column.
    feature : Feature
        The feature that the column belongs to.
    by : tuple of str
        The columns whose values identify the series.
    """

    name: str
    dtype: np.dtype[Any]
    window: Any
    feature: Feature
    by: tuple[str, ...]


class Features:
    """A feature set: statistics of columns over windows, for each row of a frame or at other times.

    Parameters
    ----------
    columns : Feature or sequence of Feature
        The features, such as ``f.sum("amount").over("1D", 10)``.
    by : str or sequence of str, optional
        Key columns: each combination of their values is a series. A missing value is a key like any other.
        Default: one series.
    on : str, optional
        Column with the times or positions that order the rows of a series; durations refer to it. Without
        it, rows keep their order, and windows are numbers of rows.
    order_by : str or sequence of str, optional
        Columns that order rows with equal times. Rows that also tie in these columns keep their order.
    closed : {"right", "left", "both", "neither"}, optional
        As in the array functions. ``"left"`` excludes the row itself.
    inf : {"value", "missing"}, default "value"
        Whether infinities are ordinary values or missing values.

    Attributes
    ----------
    columns : tuple of FeatureColumn
        The columns that `compute` adds, in this order.

    Notes
    -----
    A name such as ``amount_sum_1D`` lists the columns, the statistic, parameters and the window. If a feature
    has its own keys, they come first.

    Examples
    --------
    >>> import pandas as pd
    >>> from rollstat import features as f
    >>> features = [f.sum("amount").over("2D"), f.max("amount").over(2, min_periods=1)]
    >>> spending = f.Features(features, by="customer", on="time")
    >>> [column.name for column in spending.columns]
    ['amount_sum_2D', 'amount_max_2']
    >>> time = pd.to_datetime(["2026-01-03", "2026-01-01", "2026-01-02"])
    >>> rows = pd.DataFrame({"customer": [1, 2, 1], "time": time, "amount": [5.0, 3.0, 8.0]})
    >>> spending.compute(rows).iloc[:, 3:]
       amount_sum_2D  amount_max_2
    0           13.0           8.0
    1            3.0           3.0
    2            8.0           8.0
    """

    def __init__(
        self,
        columns: Feature | Sequence[Feature],
        *,
        by: str | Sequence[str] = (),
        on: str | None = None,
        order_by: str | Sequence[str] = (),
        closed: str | None = None,
        inf: str = "value",
    ) -> None:
        if not isinstance(on, (str, type(None))):
            raise TypeError(f"on must be the name of a column; got {on!r}")
        self.features = (columns,) if isinstance(columns, Feature) else tuple(columns)
        for each in self.features:
            if not isinstance(each, Feature) or not each.windows:
                raise TypeError(f"columns must hold features such as f.sum('x').over('1D'); got {each}")
        self.by, self.on, self.order_by = _names("by", by), on, _names("order_by", order_by)
        self.closed, self.inf = closed, choice("inf", inf, get_args(Infinite))
        names = [column.name for column in self.columns]
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise ValueError(
                f"columns must have different names, but two are {twice!r}: rename one with alias()"
            )

    @cached_property
    def columns(self) -> tuple[FeatureColumn, ...]:
        """The columns that `compute` adds, in this order."""
        return tuple(column for feature in self.features for column in self._columns(feature))

    def _columns(self, feature: Feature) -> list[FeatureColumn]:
        keys = self.by if feature.keys is None else feature.keys
        dtypes = [(window, self._dtypes(feature, window)) for window in feature.windows]
        results, count = len(dtypes[0][1]), sum(len(found) for _, found in dtypes)
        names = iter(feature.names)
        if not feature.names:
            names = iter(name for window, _ in dtypes for name in self._default(feature, window, results))
        elif len(feature.names) == results < count:
            pairs = product(feature.windows, feature.names)
            names = iter(re.sub(r"\W", "_", f"{name}_{_label(window)}") for window, name in pairs)
        elif len(feature.names) != count:
            allowed = " or ".join(map(str, sorted({results, count})))
            raise ValueError(f"alias of {feature} must give {allowed} name(s); got {len(feature.names)}")
        return [
            FeatureColumn(next(names), dtype, window, feature, keys)
            for window, found in dtypes
            for dtype in found
        ]

    def _default(self, feature: Feature, window: Any, results: int) -> list[str]:
        """Return the default names of the results over a window."""
        statistic, before = REGISTRY[feature.statistic], feature.keys or ()
        return statistic.result_names(
            [*before, *feature.columns], feature.parameters, results, _label(window)
        )

    def _dtypes(self, feature: Feature, window: Any) -> list[np.dtype[Any]]:
        """Return the dtypes of the results, from a call without rows; it also checks all arguments."""
        options, arrays = self.call_options(feature, window), [np.empty(0)] * len(feature.inputs)
        with naming(feature, window):
            if by_width(window):
                if self.on is None:
                    raise ValueError("a duration needs on=, the column of the times")
                options["times"] = np.empty(0, float if float in map(type, sizes(window)) else "M8[us]")
            return [result.dtype for result in flattened(feature.call(arrays, window, **options).run())]

    def call_options(self, feature: Feature, window: Any) -> dict[str, Any]:
        """Return the options of the call of a feature."""
        closed = None if isinstance(window, (Forward, Around)) else self.closed
        return {"closed": closed, "inf": self.inf, **feature.options}

    def is_finite(self, feature: Feature) -> bool:
        """Return whether infinite values of a feature are missing."""
        return bool(feature.options.get("inf", self.inf) == "missing")

    def compute(
        self, frame: Any, at: Any = None, *, threads: int | str | None = None, split: int | str | None = None
    ) -> Any:
        """Return a frame with the features of its rows, or of other keys and times.

        Parameters
        ----------
        frame : pandas, polars or Spark DataFrame, or pyarrow.Table
            The rows, in any order. A Spark frame needs `on` or `order_by`; all other columns break ties. Its
            result has no particular order, and `threads` does not apply to it.
        at : frame of the same kind, optional
            Keys and times, in columns with the same names. Each row of `at` gets the features that a row of
            `frame` with its key and time would have. Keys without rows have missing features.
        threads : int or "auto", optional
            Number of threads, which does not change results. Default: the setting of
            :func:`rollstat.set_threads`.
        split : int or "auto", optional
            For Spark frames: how to split keys with very many rows; see :func:`rollstat.spark.rolling`.

        Returns
        -------
        DataFrame or Table
            The columns of `frame`, or of `at`, in the order of its rows, then the features in `columns`.

        Raises
        ------
        ValueError, TypeError
            If a column is missing, or a statistic does not support its dtype; the message names the feature
            and the column.
        """
        spark = type(frame).__module__.startswith("pyspark.")
        # Both load what they need on first use, and only one of them is needed.
        module = import_module("rollstat.spark.features" if spark else "rollstat.features.computation")
        if spark:
            return module.compute(self, frame, at, threads, split)
        if split is not None:
            raise ValueError(f"split applies only to Spark frames; got {split!r}")
        return module.compute(self, frame, at, threads)

    def write_stream(self, frame: Any, **options: Any) -> Any:
        """Return the writer of a Spark stream with the features of each row, in append mode.

        Parameters
        ----------
        frame : DataFrame
            A streaming Spark frame with the columns of the rows.
        **options
            `watermark`, `ttl`, `initial` and `metrics`, as in :func:`rollstat.spark.rolling_stream`. If
            features have several sets of keys, `metrics` counts the rows of the first set, and ``metrics_2``
            and so on count the rows of the others.

        Returns
        -------
        DataStreamWriter
            It writes every row once, with its columns and its features: the features that `compute` returns
            over the rows written so far, or, with a watermark, over all rows. A restarted query continues
            where it stopped, as with :func:`rollstat.spark.rolling_stream`.

        Examples
        --------
        `arriving` is a streaming Spark frame:

        >>> writer = spending.write_stream(arriving, watermark="1 hour")  # doctest: +SKIP
        >>> query = writer.option("checkpointLocation", "state").toTable("features")  # doctest: +SKIP
        """
        module = import_module("rollstat.spark.features")  # loads Spark
        return module.write_stream(self, frame, **options)

    def stream(self, **options: Any) -> "FeatureStream":
        """Return a stream that takes rows one by one and answers queries.

        Parameters
        ----------
        **options
            `dtypes`, `ttl`, `lateness` and `late`, as in :class:`FeatureStream`.
        """
        from rollstat.features.stream import FeatureStream  # imports kernels

        return FeatureStream(self, **options)

    def to_json(self) -> str:
        """Return the definition as JSON, for :meth:`from_json`.

        Operators of :mod:`rollstat.operators` can be stored; your own cannot.
        """
        features = []
        for feature in self.features:
            with naming(feature):
                stored = asdict(replace(feature, parameters={}, windows=()))
                stored["parameters"] = {name: _stored(value) for name, value in feature.parameters.items()}
                features.append({**stored, "windows": list(map(_stored, feature.windows))})
        own = {"by": self.by, "on": self.on, "order_by": self.order_by, "closed": self.closed}
        own["inf"] = self.inf
        return json.dumps({"version": _VERSION, **own, "columns": features})

    @classmethod
    def from_json(cls, text: str) -> "Features":
        """Return the feature set that :meth:`to_json` stored."""
        given = json.loads(text)
        version = given.pop("version", None)
        if version != _VERSION:
            raise ValueError(f"text must be of version {_VERSION} of features; got {version!r}")
        return cls(**{**given, "columns": [_feature(stored) for stored in given["columns"]]})

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Features):
            return NotImplemented
        return all(getattr(self, name) == getattr(other, name) for name in vars(self) if name != "columns")

    __hash__ = None  # type: ignore[assignment]  # parameters of features may be lists

    def __repr__(self) -> str:
        names = ", ".join(column.name for column in self.columns)
        return f"<Features by {self.by} on {self.on!r}: {names}>"


@contextmanager
def naming(feature: Feature, window: Any = None) -> Iterator[None]:
    """Add the name of a feature, and of its window if it is known, to the message of an error."""
    try:
        yield
    except (TypeError, ValueError, OverflowError) as error:
        over = "" if window is None else f" over {_label(window)}"
        # Some subclasses take other arguments.
        kind = next(kind for kind in (TypeError, ValueError, OverflowError) if isinstance(error, kind))
        raise kind(f"feature {feature}{over}: {error}") from error


def _names(name: str, value: Any) -> tuple[str, ...]:
    names = (value,) if isinstance(value, str) else tuple(value)
    if not all(isinstance(each, str) for each in names):
        raise TypeError(f"{name} must be names of columns; got {value!r}")
    return names


def _window(window: Any) -> Any:
    """Return a window as int, str, float or a named window of these, or raise."""
    if isinstance(window, _NAMED):
        return type(window)(*map(_window, sizes(window)))
    truth = isinstance(window, (bool, np.bool_))
    if isinstance(window, numbers.Real) and not truth:
        return int(window) if isinstance(window, numbers.Integral) else float(window)
    if isinstance(window, str) and is_calendar(window):
        return window
    width = None if truth else parse_width(window)
    if width is None:
        raise TypeError(
            "window must be a number of rows, a duration such as '1D' or '1 month', a timedelta or a float, "
            f"Expanding, Forward or Around; got {window!r}"
        )
    return window if isinstance(window, str) else width_text(width)


def sizes(window: Any) -> list[Any]:
    """Return the numbers of rows, or widths, of a window."""
    return list(vars(window).values()) if isinstance(window, _NAMED) else [window]


def widened(window: Any) -> Any:
    """Return a window of fixed length that reaches as far as one of calendar units."""
    return type(window)(*map(at_most, sizes(window))) if isinstance(window, _NAMED) else at_most(window)


def by_width(window: Any) -> bool:
    """Return whether a window is a width of the times, not a number of rows."""
    return not all(isinstance(size, int) for size in sizes(window))


def _label(window: Any) -> str:
    """Return the name of a window as a part of column names."""
    if isinstance(window, _NAMED):
        return "_".join([type(window).__name__.lower(), *map(str, vars(window).values())])
    return str(window)


def _stored(value: Any) -> Any:
    """Return a parameter or a window as JSON can hold it; operators and named windows by class and fields."""
    name = type(value).__name__
    if isinstance(value, _NAMED):
        return {"class": name, "fields": vars(value)}
    if isinstance(value, tuple) and type(value) is getattr(operators, name, None):
        return {"class": name, "fields": {key: _stored(each) for key, each in value._asdict().items()}}  # type: ignore[attr-defined]  # a NamedTuple
    if isinstance(value, (list, tuple)):
        return [_stored(each) for each in value]
    if not isinstance(value, (str, int, float, type(None))):
        raise TypeError(f"JSON cannot hold {value!r}")
    return value


def _restored(value: Any) -> Any:
    """Return what :func:`_stored` has stored."""
    if not isinstance(value, dict):
        return value
    name, fields = value["class"], {key: _restored(each) for key, each in value["fields"].items()}
    cls = _WINDOWS.get(name) or (getattr(operators, name, None) if name in operators.__all__ else None)
    if not isinstance(cls, type):
        raise ValueError(f"class must be a window or an operator of rollstat; got {name!r}")
    return cls(**fields)


def _feature(stored: dict[str, Any]) -> Feature:
    """Return a feature from its form in JSON."""
    given: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in stored.items()}
    if given["statistic"] not in REGISTRY:
        raise ValueError(
            f"statistic must be one of {', '.join(sorted(REGISTRY))}; got {given['statistic']!r}"
        )
    given["parameters"] = {key: _restored(value) for key, value in given["parameters"].items()}
    return Feature(**{**given, "windows": tuple(map(_restored, given["windows"]))})
