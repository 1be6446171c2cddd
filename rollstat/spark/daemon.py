"""Fork the Python workers of an executor from a process that has imported what rollstat needs.

::

    Spark's daemon      fork --> worker: pyarrow, pandas, numba, rollstat        each worker imports all
    this daemon         numba, rollstat    fork --> worker: pyarrow, pandas      workers share the first part

Spark puts archives of pyspark and Py4J first in the path of Python. They hold no bytecode, so the daemon
would compile all that it imports from them, which takes longer than importing Numba. If they belong to an
installed pyspark, the daemon imports that instead.

Spark starts it if ``spark.python.daemon.module`` is ``rollstat.spark.daemon``. A process may only be forked
before it has threads. So pyarrow, which starts a thread when it is imported, and pandas, which imports it,
are left to the workers, and nothing is imported here if NumPy would start threads for BLAS.
"""

import gc
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

__all__ = ["MODULES", "installed_first", "preload"]

# Most of what a worker imports for the usual statistics; none of these modules imports pyarrow.
MODULES = ("pyspark.worker", "rollstat.functions.order_statistics", "rollstat.snapshots")


def installed_first(path: Sequence[str]) -> list[str]:
    """Return a path of Python with the archives of an installed pyspark behind everything else."""
    archives = [
        entry
        for entry in path
        if Path(entry).match("pyspark/python/lib/*.zip") and str(Path(entry).parents[3]) in path
    ]
    return [entry for entry in path if entry not in archives] + archives


def preload() -> bool:
    """Import the modules that workers share; return whether that is safe."""
    # Spark sets this to the number of cores of a task; BLAS of NumPy starts threads when it is larger.
    safe = os.environ.get("OMP_NUM_THREADS") == "1"
    if safe:
        for name in MODULES:
            import_module(name)
        context = import_module("numba.core.registry").cpu_target.target_context
        import_module("numba.core.runtime").rtsys.initialize(context)  # compiled once for all workers
        gc.freeze()  # so that workers do not search it for garbage, which would copy its memory
    return safe


if __name__ == "__main__":
    sys.path[:] = installed_first(sys.path)
    preload()
    import_module("pyspark.daemon").manager()
