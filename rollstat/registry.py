"""One row per statistic: its name, parameters, algorithms, dtypes, cost and source.

The public functions, the pandas accessor, the streaming classes, the Spark functions, the contract
tests, the reference pages and the benchmarks are all driven by this table: every statistic in it is
tested and documented, without further entries elsewhere.

The module of a statistic is loaded when the statistic is first looked up. The names alone load nothing.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from importlib import import_module
from inspect import Parameter, Signature, signature
from typing import Any, NoReturn

from rollstat.names import reject_unknown


@dataclass(frozen=True)
class Statistic:
    """A row of the registry.

    Attributes
    ----------
    name : str
        Without ``rolling_``: what the pandas accessor and Spark call it.
    function : callable
        The public function over arrays.
    resolve : callable
        Checks the arguments of the function and returns the call without running it.
    family : str
        The family whose blocks compute it.
    parameters : tuple of str
        Its own parameters: all but arrays, window and common options.
    samples : tuple of mapping
        Values of the parameters that tests and benchmarks try; one empty mapping if it has none.
    algorithms : mapping of str to str
        The names that ``algorithm=`` takes, each with the windows and dtypes that it serves.
    kinds : str
        Kinds of dtype that it accepts, of ``"f"``, ``"i"``, ``"u"``, ``"b"``, ``"M"``, ``"m"``.
    series : int
        How many series it takes.
    outputs : tuple of str
        Names of the arrays that it returns; ``"{}"`` stands for each of its further series.
    exact : bool
        Whether it does no arithmetic that rounds, so that all algorithms agree exactly.
    error_bound : tuple of str
        Bound of the absolute error of each output, to first order in ``u = 2**-53`` and apart from the
        rounding of subnormal results: a Python expression of `m`, the number of observations, of the
        series, of the exact `result`, and of functions and names that the docstring explains. Empty if
        `exact`, and for operators of the user.
    cost : str
        Amortised and worst-case cost a row.
    source : str
        Publication of the algorithm.
    min_periods : int or None
        Default of ``min_periods``, where it does not depend on the window.
    pandas : str
        The method of ``Series.rolling`` with the same meaning, or an empty string.
    ordered : bool
        Whether results depend on the order of the rows within a window.
    several : bool
        Whether the last of its series may be a tuple of several.
    """

    name: str
    function: Callable[..., Any]
    resolve: Callable[..., Any]
    family: str
    parameters: tuple[str, ...] = ()
    samples: tuple[Mapping[str, Any], ...] = ({},)
    algorithms: Mapping[str, str] = field(default_factory=dict)
    kinds: str = "fiubMm"
    series: int = 1
    outputs: tuple[str, ...] = ("value",)
    exact: bool = True
    error_bound: tuple[str, ...] = ()
    cost: str = ""
    source: str = ""
    min_periods: int | None = None
    pandas: str = ""
    ordered: bool = False
    several: bool = False

    @cached_property
    def arguments(self) -> list[Parameter]:
        """The positional parameters of the function: its series, the window, and its own parameters."""
        every = signature(self.function).parameters.values()
        return [parameter for parameter in every if parameter.kind is parameter.POSITIONAL_OR_KEYWORD]

    def given(self, columns: Sequence[Any]) -> dict[str, Any]:
        """Return columns as arguments of the function, by name."""
        if len(columns) > self.series:
            columns = *columns[: self.series - 1], tuple(columns[self.series - 1 :])
        return {parameter.name: column for parameter, column in zip(self.arguments, columns)}

    def output_names(self, columns: Sequence[Any], results: int) -> list[Any] | None:
        """Return a name for each of so many results of columns; None if the outputs have no such names."""
        names = [
            name.format(column) if "{}" in name else name
            for name in self.outputs
            for column in (columns[1:] if "{}" in name else [""])
        ]
        if results < len(names):
            names = [name for name in names if not name.startswith("intercept")]
        return names if results == len(names) > 1 else None

    @cached_property
    def own(self) -> list[Parameter]:
        """The positional parameters that are neither series nor the window."""
        return [each for each in self.arguments[self.series :] if each.name != "window"]

    @cached_property
    def of_columns(self) -> Signature:
        """What names the statistic of columns takes: the columns, then its own parameters."""
        names = ["column", "other"][: self.series]
        own = [each.replace(annotation=Parameter.empty) for each in self.own]
        return Signature([*(Parameter(name, Parameter.POSITIONAL_OR_KEYWORD) for name in names), *own])

    def bind_columns(self, *args: Any, **kwargs: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Return the columns among arguments, and the statistic's own parameters by name, or raise."""
        try:
            given = self.of_columns.bind(*args, **kwargs).arguments
        except TypeError as error:
            reject_unknown(f"{self.name}()", kwargs, list(self.of_columns.parameters))
            raise TypeError(f"{self.name}{self.of_columns}: {error}") from None
        columns = [given.pop(name) for name in ("column", "other")[: self.series]]
        if self.several and isinstance(columns[-1], (list, tuple)):
            columns[-1:] = columns[-1]
        return tuple(columns), given

    def builder(self, name: str, module: str, make: Callable[..., Any], result: type) -> Callable[..., Any]:
        """Return the function of a module that names the statistic: it takes columns and own parameters.

        `make` takes the name of the statistic, the columns and the parameters, and returns a `result`.
        """

        def build(*args: Any, **kwargs: Any) -> Any:
            return make(self.name, *self.bind_columns(*args, **kwargs))

        build.__name__ = build.__qualname__ = name
        build.__module__ = module
        build.__doc__ = f"Name :func:`rollstat.{self.function.__name__}` of a column."
        build.__signature__ = self.of_columns.replace(return_annotation=result)  # type: ignore[attr-defined]  # of a function
        return build

    def result_names(
        self, columns: Sequence[str], parameters: Mapping[str, Any], results: int, ending: Any = ""
    ) -> list[str]:
        """Return names of so many results of columns: ``x_median``, ``x_kth_2``, ``x_minmax_minimum``.

        Each is followed by `ending`, if there is one.
        """
        parts = [*columns, self.name]
        values = [
            type(each).__name__ if hasattr(each, "combine") else getattr(each, "__name__", each)
            for each in parameters.values()
        ]
        several = [value for value in values if isinstance(value, (list, tuple))]
        own: Sequence[Any]
        if (names := self.output_names(columns, results)) is not None:
            own = names
        elif len(several) == 1 and len(several[0]) == results:
            own = several[0]
        else:
            parts += [getattr(value, "__name__", value) for value in values]
            own = [""] if results == 1 else range(1, results + 1)
        found = ["_".join(str(part) for part in (*parts, each, ending) if part != "") for each in own]
        return [re.sub(r"\W", "_", name.replace("-", "minus_")) for name in found]


class Registry(Mapping[str, Statistic]):
    """The statistics by name, in the order of their functions."""

    def __init__(self) -> None:
        self._loaded: dict[str, Statistic] = {}

    @cached_property
    def _functions(self) -> dict[str, str]:
        """The name of the function of each statistic."""
        functions = import_module("rollstat.statistics").__all__
        names = (name for name in functions if name.startswith(("rolling_", "ewm_")))
        return {name.removeprefix("rolling_"): name for name in names}

    def __getitem__(self, name: str) -> Statistic:
        if name not in self._loaded:
            getattr(import_module("rollstat.statistics"), self._functions[name])  # loads its module
        return self._loaded[name]

    def __contains__(self, name: object) -> bool:
        return name in self._functions

    def __iter__(self) -> Iterator[str]:
        return iter(self._functions)

    def __len__(self) -> int:
        return len(self._functions)

    @property
    def rolling(self) -> list[str]:
        """The statistics that are methods of windows; the others are exponentially weighted."""
        return [name for name in self if not name.startswith("ewm_")]

    @property
    def methods(self) -> dict[str, str]:
        """The statistic of each method: `combine` takes an operator, since `aggregate` is of pandas."""
        return {"combine" if name == "aggregate" else name: name for name in self}

    def of_method(self, name: str, owner: str) -> str:
        """Return the statistic of a method; raise AttributeError if the `owner` has no such method."""
        if name in self.methods:
            return self.methods[name]
        if name in self:
            raise AttributeError(f"{owner} has no {name!r}; use 'combine' for operators")
        raise AttributeError(f"{owner} has no statistic {name!r}; it has {', '.join(self.methods)}")

    def of_function(self, function: object) -> Statistic | None:
        """Return the statistic of a public function, whose module is loaded; None for other objects."""
        return next((each for each in self._loaded.values() if each.function is function), None)

    def register(self, statistic: Statistic) -> None:
        """Add a statistic, or raise if another function has its name."""
        known, function = self._loaded.get(statistic.name), statistic.function
        # A module whose import was interrupted registers its functions again.
        if known is not None and _origin(known.function) != _origin(function):
            raise ValueError(f"statistic {statistic.name!r} is already registered")
        self._loaded[statistic.name] = statistic


def _origin(function: Callable[..., Any]) -> tuple[str, str]:
    return function.__module__, function.__qualname__


REGISTRY = Registry()


def check_algorithm(algorithm: str, algorithms: Mapping[str, str], name: str) -> None:
    """Raise unless `algorithm` is ``"auto"`` or supports the statistic `name`."""
    if algorithm != "auto" and not algorithms:
        raise ValueError(
            f"algorithm must be 'auto', because {name} has only one algorithm; got {algorithm!r}"
        )
    if algorithm != "auto" and algorithm not in algorithms:
        supported = "; ".join(f"{key!r} ({what})" for key, what in algorithms.items())
        raise ValueError(
            f"algorithm must be 'auto' or one that supports {name}: {supported}; got {algorithm!r}"
        )


def reject_algorithm(algorithm: str, algorithms: Mapping[str, str], subject: str) -> NoReturn:
    """Raise because `algorithm` does not support this `subject`, a window or a call."""
    supported = "; ".join(f"{name!r} ({what})" for name, what in algorithms.items())
    raise ValueError(f"algorithm {algorithm!r} does not support this {subject}; supported: {supported}")
