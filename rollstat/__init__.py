"""Exact statistics over sliding windows.

The best known algorithms, each written once as a JIT kernel, behind one window language and one
missing-value rule: the same in NumPy, in pandas, on a stream and on Spark.
"""

__version__ = "0.1.0"

import os

import lazy_loader

if not os.path.isfile(os.path.splitext(__file__)[0] + ".pyi"):
    raise ImportError(
        "rollstat needs its .pyi files beside its modules and cannot be imported from a zip file; "
        f"install it in a folder; got {__file__!r}"
    )

__getattr__, _, _names = lazy_loader.attach_stub(__name__, __file__)
_names = sorted([*_names, "__version__"])
__all__ = [name for name in _names if name not in ("operators", "statistics", "streaming")]


def __dir__() -> list[str]:
    return _names.copy()
