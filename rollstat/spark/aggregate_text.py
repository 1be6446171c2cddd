"""Statistics as text, for SQL: ``"median(x) AS m, quantile(x, [0.25, 0.75]) AS (low, high)"``."""

import ast
import re
from typing import Any

from rollstat.registry import REGISTRY
from rollstat.spark.aggregate_spec import Aggregate
from rollstat.spark.builders import BUILDERS, builder

__all__ = ["parse_aggregates"]

_CALL = re.compile(r"(\w+)\s*\((.*?)\)\s*(?:as\s+(\(.*\)|`[^`]+`|\w+))?", re.IGNORECASE | re.DOTALL)
_ARRAY = re.compile(r"array\s*\((.*)\)", re.IGNORECASE | re.DOTALL)
_NAMED = re.compile(r"(\w+)\s*=>\s*(.*)", re.DOTALL)
_EXAMPLE = "median(x) AS m, quantile(x, [0.25, 0.75]) AS (low, high)"


def parse_aggregates(text: Any) -> list[Aggregate]:
    """Return the statistics that a text asks for.

    Parameters
    ----------
    text : str
        Calls separated by commas: a statistic with its columns, then its own parameters in order or as
        ``name => value``, and perhaps names for the new columns. Backticks quote names.

    Examples
    --------
    >>> parse_aggregates("kth(`the delay`, k => 2) AS second")[0].alias()
    Aggregate(statistic='kth', columns=('the delay',), parameters={'k': 2})
    """
    if not isinstance(text, str) or not text.strip():
        raise TypeError(f"aggs must be a string such as {_EXAMPLE!r}; it was {text!r}")
    return [_parse_call(part) for part in _parts(text)]


def _parts(text: str) -> list[str]:
    """Split at the commas that are outside of brackets and quotes."""
    depth, quote, parts = 0, "", [""]
    for letter in text:
        if quote:
            quote = "" if letter == quote else quote
        elif letter in "`'\"":
            quote = letter
        elif letter in "([":
            depth += 1
        elif letter in ")]":
            depth -= 1
        if letter == "," and not depth and not quote:
            parts.append("")
        else:
            parts[-1] += letter
    return [part.strip() for part in parts]


def _parse_call(text: str) -> Aggregate:
    match = _CALL.fullmatch(text)
    if match is None:
        raise ValueError(f"aggs must be calls such as {_EXAMPLE!r}; one was {text!r}")
    name = match[1].lower().removeprefix("rolling_")
    if name not in BUILDERS:
        raise ValueError(f"statistic must be one of {', '.join(sorted(BUILDERS))}; it was {match[1]!r}")
    given = _parts(match[2]) if match[2].strip() else []
    columns = [_unquoted(column) for column in given[: REGISTRY[name].series]]
    positional, named = [], {}
    for parameter in given[REGISTRY[name].series :]:
        if with_name := _NAMED.fullmatch(parameter):
            named[with_name[1]] = _literal(with_name[2], text)
        else:
            positional.append(_literal(parameter, text))
    made = builder(name)(*columns, *positional, **named)
    if match[3] is None:
        return made
    names = _parts(match[3][1:-1]) if match[3].startswith("(") else [match[3]]
    return made.alias(*(_unquoted(one) for one in names))


def _unquoted(name: str) -> str:
    return name[1:-1] if len(name) > 1 and name[0] == name[-1] == "`" else name


def _literal(text: str, call: str) -> Any:
    """Return the value of a number, a text, a truth value, or a list of them."""
    array = _ARRAY.fullmatch(text)
    plain = f"[{array[1]}]" if array else text
    plain = plain.capitalize() if plain.lower() in ("true", "false") else plain
    try:
        return ast.literal_eval(plain)
    except (SyntaxError, ValueError):
        raise ValueError(
            f"parameters must be numbers, strings or lists; {text!r} of {call!r} is not"
        ) from None
