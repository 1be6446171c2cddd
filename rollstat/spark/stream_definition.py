"""What a stream computes, as text that is stored with its state, and what a restart may change.

The state of a series is rows of its inputs, as many as the window of the run that wrote it reaches. It serves
any statistic over the same inputs and any smaller window. With a wider window rows are missing, and with
other columns the held rows mean something else, so everything else is refused.
"""

import json
import re
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from pyspark.sql import types as T

import rollstat
from rollstat.options import parse_width
from rollstat.spark.aggregate_spec import parse_window
from rollstat.spark.batch_walk import Plan

__all__ = ["check_restart", "definition_of", "width_in_microseconds"]

_MAY_CHANGE = ("rollstat", "statistics", "window")  # these have rules of their own
_WIDTHS = ("watermark", "ttl")  # "1 day" and "24 hours" are the same


def width_in_microseconds(width: Any) -> int:
    """Return a width of time such as ``"10min"``, rounded up; 0 if it is not one."""
    nanoseconds = parse_width(width)
    return 0 if nanoseconds is None else -int(-nanoseconds // 1000)


def _plain(value: Any) -> str:
    """Return a parameter as text that is the same in each process: without addresses of functions."""
    value = value.tolist() if isinstance(value, (np.ndarray, np.generic)) else value
    return (
        f"[{', '.join(map(_plain, value))}]"
        if type(value) in (list, tuple)
        else re.sub(r" at 0x\w+", "", repr(value))
    )


def _statistics(plan: Plan, schema: T.StructType, fields: Sequence[T.StructField]) -> dict[str, str]:
    """Return the statistic of each new column."""
    new, found = iter(fields), {}
    for call in plan.calls:
        columns = [schema.names[plan.inputs[number][0]] for number in call.inputs]
        parameters = [f"{name}={_plain(value)}" for name, value in sorted(call.parameters.items())]
        name = ", ".join(next(new).name for _ in call.types)
        found[name] = f"{call.statistic}({', '.join([*columns, *parameters])})"
    return found


def definition_of(
    plan: Plan, schema: T.StructType, fields: Sequence[T.StructField], watermark: str | None, ttl: Any
) -> str:
    """Return the definition of a stream as JSON.

    Parameters
    ----------
    plan : Plan
        What to compute.
    schema : StructType
        Of the stream.
    fields : sequence of StructField
        The new columns.
    watermark, ttl : str or timedelta, optional
        As given by the caller.
    """

    def described(indexes: Any) -> list[str]:
        picked = [schema.fields[index] for index in indexes]
        return [f"{field.name} {field.dataType.simpleString()}" for field in picked]

    rows = plan.time is None
    size = plan.window if rows else parse_width(plan.window) or plan.window
    definition = {
        "rollstat": rollstat.__version__,
        "statistics": _statistics(plan, schema, fields),
        "window": {"text": str(plan.window), "rows": rows, "size": str(Fraction(size))},
        "inputs": described(index for index, _ in plan.inputs),
        "partition_by": described(plan.keys),
        "order_by": described(plan.order),
        "watermark": watermark,
        "ttl": ttl if ttl is None or isinstance(ttl, str) else f"{width_in_microseconds(ttl)}us",
        # Behind a watermark whole rows wait in the state.
        "columns": None if watermark is None else described(range(len(schema.fields))),
    }
    return json.dumps(definition | dict(plan.options))


def _shown(value: Any) -> str:
    return f"({', '.join(value)})" if isinstance(value, list) else str(value)


def _same(name: str, old: Any, new: Any) -> bool:
    """Return whether a part of a definition is unchanged."""
    if name not in _WIDTHS or old is None or new is None:
        return bool(old == new)
    try:
        return old == new or parse_width(parse_window(old)) == parse_width(parse_window(new))
    except ValueError:
        return False


def check_restart(stored: str, given: str) -> None:
    """Raise ValueError if a state of the definition `stored` cannot serve the definition `given`."""
    old, new = json.loads(stored), json.loads(given)
    changes = [
        f"{name} was {_shown(old.get(name))} and is {_shown(new[name])}"
        for name in new
        if name not in _MAY_CHANGE and not _same(name, old.get(name), new[name])
    ]
    before, after = old["window"], new["window"]
    if before["rows"] != after["rows"] or Fraction(after["size"]) > Fraction(before["size"]):
        changes.insert(0, f"window was {before['text']} and is {after['text']}")
    for name, statistic in old["statistics"].items():
        found = new["statistics"].get(name)
        if found != statistic:
            result = "is no longer computed" if found is None else f"is {found}"
            changes.append(f"{name!r} was {statistic} and {result}")
    if changes:
        raise ValueError(
            f"the checkpoint holds the state of another stream, written by rollstat {old['rollstat']}: "
            f"{'; '.join(changes)}. A restarted stream may add statistics over the same columns or take a "
            "smaller window; for other changes start it with a new checkpoint"
        )
