"""Calls over the same windows and values that share their work: one selection for medians and quantiles."""

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any

from numpy.typing import NDArray

from rollstat.dtypes import flattened
from rollstat.engine import Call
from rollstat.statistics.selection.computation import OrderStatistics


@dataclass
class JointCall:
    """A call that computes the results of several.

    Attributes
    ----------
    call : Call
        Its results are the results of all.
    numbers : list of int
        Of these calls, in the order of the results.
    """

    call: Any
    numbers: list[int]

    def run(self) -> list[NDArray[Any]]:
        """Return the results."""
        return flattened(self.call.run())


def joint_calls(calls: Iterable[tuple[Hashable, Any]]) -> list[JointCall]:
    """Return the calls to run for several.

    Parameters
    ----------
    calls : iterable of (hashable, Call)
        What the windows and values are, and the call.
    """
    found: dict[Hashable, JointCall] = {}
    for number, (given, call) in enumerate(calls):
        key: Hashable = (given, call.options) if _selects(call) else number
        joint = found.get(key)
        if joint is None:
            found[key] = JointCall(call, [number])
            continue
        requests = *joint.call.make.keywords["requests"], *call.make.keywords["requests"]
        joint.call = joint.call._replace(make=partial(call.make, requests=requests), stack=False)
        joint.numbers.append(number)
    return list(found.values())


def _selects(call: Any) -> bool:
    """Return whether a call finds values by their ranks, of which one selection finds any number."""
    if not isinstance(call, Call) or call.options.times is not None:
        return False
    make = call.make
    return isinstance(make, partial) and make.func is OrderStatistics and not make.keywords["positions"]
