"""Changes to docstrings in the reference: "See Also", labels of pandas, and short defaults."""

import re
from typing import Any

from rollstat.pandas import Rolling
from rollstat.registry import REGISTRY
from rollstat.streaming import STREAMS

NAMES = {statistic.function.__name__: name for name, statistic in REGISTRY.items()}


def _lines(name: str) -> list[str]:
    statistic = NAMES[name]
    found = []
    if statistic in STREAMS:
        found += [f"rollstat.{STREAMS[statistic].__name__} : The same for a stream."]
    if hasattr(Rolling, statistic):
        found += [f"rollstat.pandas.Rolling.{statistic} : The same for a Series or a DataFrame."]
    for other in REGISTRY.values():
        if other.family == REGISTRY[statistic].family and other.name != statistic:
            summary = (other.function.__doc__ or "").strip().splitlines()[0]
            found.append(f"rollstat.{other.function.__name__} : {summary}")
    return found


def add(app: Any, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    """Insert the section, unless the docstring has one."""
    function = name.rpartition(".")[2]
    if what == "function" and function in NAMES and "See Also" not in lines:
        place = lines.index("Notes") if "Notes" in lines else len(lines)
        lines[place:place] = ["See Also", "--------", *_lines(function), ""]


def name_labels_of_pandas(app: Any, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    """Show labels of pandas' documentation, in methods that are inherited from pandas, as text."""
    if (getattr(thing, "__module__", None) or "").startswith("pandas."):
        lines[:] = [re.sub(r":ref:`(?:([^`<]*?) *<[^`]*>|([^`]*))`", r"\1\2", line) for line in lines]


def shorten(
    app: Any, what: str, name: str, thing: Any, options: Any, signature: str | None, returned: str
) -> Any:
    """Show a class that is a default by its name."""
    return (re.sub(r"<class '[\w.]*?(\w+)'>", r"\1", signature), returned) if signature else None


def setup(app: Any) -> dict[str, bool]:
    """Register the hook; numpydoc, which formats sections, comes after it."""
    app.connect("autodoc-process-docstring", add, priority=100)
    app.connect("autodoc-process-docstring", name_labels_of_pandas, priority=100)
    app.connect("autodoc-process-signature", shorten, priority=900)
    return {"parallel_read_safe": True}
