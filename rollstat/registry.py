"""One row per statistic: its name, parameters, algorithms, dtypes, cost and source.

The public functions, the pandas accessor, the streaming classes, the Spark functions, the contract
tests, the reference pages and the benchmarks are all driven by this table: every statistic in it is
tested and documented, without further entries elsewhere.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NoReturn

__all__ = ["REGISTRY", "Statistic", "check_algorithm", "refuse_algorithm", "register"]


@dataclass(frozen=True)
class Statistic:
    """A row of the registry.

    Attributes
    ----------
    name : str
        Without ``rolling_``: what the pandas accessor and Spark call it.
    function : callable
        The public function over arrays.
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
        Names of the arrays that it returns.
    exact : bool
        Whether it does no arithmetic that rounds, so that all algorithms agree to the bit.
    cost : str
        Amortised and worst-case cost a row.
    source : str
        Publication of the algorithm.
    min_periods : int or None
        Default of ``min_periods``, where it does not depend on the window.
    pandas : str
        The method of ``Series.rolling`` with the same meaning, or an empty string.
    """

    name: str
    function: Callable[..., Any]
    family: str
    parameters: tuple[str, ...] = ()
    samples: tuple[Mapping[str, Any], ...] = ({},)
    algorithms: Mapping[str, str] = field(default_factory=dict)
    kinds: str = "fiubMm"
    series: int = 1
    outputs: tuple[str, ...] = ("value",)
    exact: bool = True
    cost: str = ""
    source: str = ""
    min_periods: int | None = None
    pandas: str = ""


REGISTRY: dict[str, Statistic] = {}


def register(statistic: Statistic) -> None:
    """Add a statistic to the registry, or raise if its name is taken."""
    if statistic.name in REGISTRY:
        raise ValueError(f"statistic {statistic.name!r} is registered already")
    REGISTRY[statistic.name] = statistic


def check_algorithm(algorithm: str, algorithms: Mapping[str, str], name: str) -> None:
    """Raise unless `algorithm` is ``"auto"`` or among those that serve the statistic `name`."""
    if algorithm != "auto" and not algorithms:
        raise ValueError(f"algorithm must be 'auto', as {name} has one algorithm only; it was {algorithm!r}")
    if algorithm != "auto" and algorithm not in algorithms:
        served = "; ".join(f"{key!r} ({what})" for key, what in algorithms.items())
        raise ValueError(f"algorithm must be 'auto' or serve {name}: {served}; it was {algorithm!r}")


def refuse_algorithm(algorithm: str, algorithms: Mapping[str, str], subject: str) -> NoReturn:
    """Raise since `algorithm` does not serve this `subject`: a window, or a call."""
    served = "; ".join(f"{name!r} ({what})" for name, what in algorithms.items())
    raise ValueError(f"algorithm {algorithm!r} does not serve this {subject}; the algorithms are {served}")
