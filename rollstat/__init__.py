"""Exact statistics over sliding windows.

The best known algorithms, each written once as a JIT kernel, behind one window language and one
missing-value rule: the same in NumPy, in pandas, on a stream and on Spark.
"""

__version__ = "0.1.0"

import os
from typing import Any

import lazy_loader

from rollstat.names import nearest

if not os.path.isfile(os.path.splitext(__file__)[0] + ".pyi"):
    raise ImportError(
        "rollstat needs its .pyi files beside its modules and cannot be imported from a zip file; "
        f"install it in a folder; got {__file__!r}"
    )

_attribute, _, _names = lazy_loader.attach_stub(__name__, __file__)
_names = sorted([*_names, "__version__"])
__all__ = [name for name in _names if name not in ("operators", "statistics", "streaming")]


def __getattr__(name: str) -> Any:
    try:
        return _attribute(name)
    except AttributeError as error:
        meant = None if name.startswith("_") else nearest(name, _names)
        if meant is None:
            raise
        raise AttributeError(f"{error}; did you mean {meant}?", name=name) from None


def __dir__() -> list[str]:
    return _names.copy()
