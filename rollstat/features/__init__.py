"""Features: statistics of columns over windows, defined once and computed over frames of any kind.

::

    f.sum("amount").over("1D", 10)  -->  Features(columns, by, on)  -->  compute(frame)

- `definition`: what names features, their names and dtypes, and their form as JSON.
- `frames`: columns of pandas, polars and Arrow as arrays, rows in the order of keys and times, and results as
  columns of the same kind.
- `computation`: windows that features share, calls that share their work, and threads.
- `stream`: rows as they arrive, and features at any time.

Every statistic of the registry is a function of this module.
"""

from importlib import import_module
from typing import Any

import lazy_loader

from rollstat._extras import require
from rollstat.names import no_attribute
from rollstat.registry import REGISTRY

require("features", "rollstat.features", "narwhals")

_load, _, __all__ = lazy_loader.attach(
    __name__,
    submod_attrs={"definition": ["Feature", "FeatureColumn", "Features"], "stream": ["FeatureStream"]},
)


def __getattr__(name: str) -> Any:
    if name in __all__:
        return _load(name)
    if name in REGISTRY:
        return import_module("rollstat.features.definition").builder(name)
    raise no_attribute("module 'rollstat.features'", name, list(REGISTRY))


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *REGISTRY})
