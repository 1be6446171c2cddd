"""Exact statistics over sliding windows.

The best known algorithms, each written once as a JIT kernel, behind one window language and one
missing-value rule: the same in NumPy, in pandas, on a stream and on Spark.
"""

__version__ = "0.1.0"

from typing import TYPE_CHECKING

from rollstat import functions, streaming
from rollstat._versions import show_versions as show_versions
from rollstat._warmup import warmup as warmup
from rollstat.dtypes import PrecisionWarning as PrecisionWarning
from rollstat.explain import explain as explain
from rollstat.functions import *
from rollstat.operators import check_operator as check_operator
from rollstat.options import get_threads as get_threads
from rollstat.options import set_threads as set_threads
from rollstat.snapshots import SnapshotError as SnapshotError
from rollstat.streaming import *
from rollstat.windows import Expanding as Expanding
from rollstat.windows import Forward as Forward

if not TYPE_CHECKING:  # for type checkers, every name imported with * or `as` is public
    __all__ = [
        "Expanding",
        "Forward",
        "PrecisionWarning",
        "SnapshotError",
        "__version__",
        "check_operator",
        "explain",
        "get_threads",
        "set_threads",
        "show_versions",
        "warmup",
    ]
    __all__ += functions.__all__
    __all__ += [name for name in streaming.__all__ if not name.isupper()]  # its tables are internal
    __all__.sort()
