"""Calls over the same windows and values that share their work.

::

    median, quantiles  -->  one selection
    sum, mean          -->  sums; means follow from the sums and the number of observations
"""

from collections.abc import Hashable, Iterable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rollstat.dtypes import flattened
from rollstat.engine import Call
from rollstat.registry import REGISTRY
from rollstat.statistics.selection.computation import OrderStatistics


@dataclass
class JointCall:
    """A call that computes the results of several.

    Attributes
    ----------
    call : Call
        Its results are the results of all, but means.
    numbers : list of int
        Of these calls, in the order of the results.
    mean : Call or None
        The last of these calls, if its means follow from the sums of the first.
    """

    call: Any
    numbers: list[int]
    mean: Any = None

    def run(self) -> list[NDArray[Any]]:
        """Return the results."""
        results = flattened(self.call.run())
        if self.mean is None:
            return results
        sums, mask = np.ma.getdata(results[0]), np.ma.getmask(results[0])
        if np.isinf(sums).any():  # where means may be finite
            return [*results, *flattened(self.mean.run())]
        count = np.ma.getdata(
            REGISTRY["count"].resolve(self.call.arrays[0], window=self.call.window, threads=1).run()
        )
        with np.errstate(invalid="ignore"):  # no observation
            means = sums / count
        masked = isinstance(results[0], np.ma.MaskedArray)
        return [*results, np.ma.MaskedArray(means, mask | (count == 0)) if masked else means]


def joint_calls(calls: Iterable[tuple[Hashable, str, Any]]) -> list[JointCall]:
    """Return the calls to run for several.

    Parameters
    ----------
    calls : iterable of (hashable, str, Call)
        What the windows and values are, the statistic, and the call.
    """
    found: dict[Hashable, JointCall] = {}
    for number, (given, statistic, call) in enumerate(calls):
        kind = _kind(statistic, call)
        key = (kind, given, call.options) if kind else number
        joint = found.get(key)
        if joint is None or kind != "selection":
            found[number if joint else key] = JointCall(call, [number])
            continue
        requests = *joint.call.make.keywords["requests"], *call.make.keywords["requests"]
        joint.call = replace(joint.call, make=partial(call.make, requests=requests), stack=False)
        joint.numbers.append(number)
    for key in [key for key in found if isinstance(key, tuple) and key[0] == "mean"]:
        if sums := found.get(("sum", *key[1:])):
            mean = found.pop(key)
            sums.mean, sums.numbers = mean.call, [*sums.numbers, *mean.numbers]
    return list(found.values())


def _kind(statistic: str, call: Any) -> str:
    """Return which calls a call can share work with; empty if with none."""
    if not isinstance(call, Call) or call.options.times is not None:
        return ""
    make = call.make
    if isinstance(make, partial) and make.func is OrderStatistics and not make.keywords["positions"]:
        return "selection"
    options = call.options
    plain = options.nan_policy == "omit" and options.algorithm == "auto"
    of_sums = plain and getattr(call.arrays[0], "dtype", None) == np.float64
    return statistic if of_sums and statistic in ("sum", "mean") else ""
