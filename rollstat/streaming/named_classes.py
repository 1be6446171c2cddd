"""The named classes under their names; each is made on first use, and ``named_classes.pyi`` declares them."""

from typing import Any

from rollstat.streaming.named import STREAMS
from rollstat.streaming.table import TABLE

_STATISTICS = {row.name: row.statistic for row in TABLE}


def __getattr__(name: str) -> Any:
    if name not in _STATISTICS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return STREAMS[_STATISTICS[name]]


def __dir__() -> list[str]:
    return list(_STATISTICS)
