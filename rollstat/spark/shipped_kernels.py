"""Compile kernels on the driver and ship them to the executors, whose cache folders are empty at first.

::

    driver                                               executor
    statistics x dtypes -- warmup --> cache folder       archive, unpacked by Spark for each executor
                          files used --> archive  ---->  first job of a worker --> its cache folder

The names of files are digests of all that the code depends on, so a file that is shipped to another kind of
processor, or to another version of Python or Numba, is not found there and does no harm.
"""

import atexit
import gzip
import io
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
from numba.core.registry import cpu_target
from pyspark.sql import DataFrame, SparkSession

import rollstat
from rollstat import tiers
from rollstat._cache import _marker, _target, cache_folder, compiled_kernels
from rollstat._usual_calls import DTYPES
from rollstat._warmup import Warmup
from rollstat._warmup import warmup as compile_kernels
from rollstat.registry import REGISTRY
from rollstat.spark.aggregate_spec import as_aggregates, check_statistic
from rollstat.spark.arrow_columns import Kind, kind_of
from rollstat.spark.column_references import ColumnReferences
from rollstat.spark.decimal_sums import DECIMAL_SUMS
from rollstat.spark.installed_kernels import ARCHIVE

__all__ = ["ShippedKernels", "used_files", "warmup"]

_shipped: set[tuple[str, str]] = set()  # identifiers of sessions, and digests of archives


@dataclass(frozen=True)
class ShippedKernels:
    """What :func:`rollstat.spark.warmup` has done.

    Attributes
    ----------
    compiled : Warmup
        What was compiled and loaded on the driver.
    files : int
        Files that were shipped; none if the wheel of the driver has all kernels.
    bytes : int
        Their size.
    """

    compiled: Warmup
    files: int
    bytes: int


def warmup(
    spark: SparkSession, aggs: Any, *, df: DataFrame | None = None, progress: bool = True
) -> ShippedKernels:
    """Compile the kernels of statistics on the driver and ship them to all executors.

    Executors then compile nothing for common calls, even if they start later. Call it before the first job,
    because a worker loads shipped kernels when a job starts in it. It is not needed if the executors have a
    wheel with compiled kernels.

    Parameters
    ----------
    spark : SparkSession
        The session, also of Spark Connect.
    aggs : mapping or list
        As in :func:`rollstat.spark.rolling`; only the statistics and their columns matter.
    df : DataFrame, optional
        A frame with the columns, whose types decide which kernels are needed. Default: columns of float64,
        float32 and int64.
    progress : bool, default True
        Show progress, as :func:`rollstat.warmup` does.

    Returns
    -------
    ShippedKernels

    Raises
    ------
    ValueError, TypeError
        For bad arguments, before anything is compiled.
    RuntimeError
        If compiled kernels cannot be stored on the driver.

    Notes
    -----
    It works for :func:`rolling`, :func:`rolling_stream`, :func:`rolling_udf` and the SQL function
    ``rollstat_rolling``. It covers the calls of :func:`rollstat.warmup`; operators of your own are compiled
    on first use. Compiling takes seconds to a minute for each statistic, once for each driver machine.
    Executors must have the same versions of Python and Numba and the same kind of processor as the driver;
    others compile for themselves.

    Examples
    --------
    >>> from rollstat.spark import warmup
    >>> warmup(spark, {"typical": ("median", "value")}, df=readings)  # doctest: +SKIP
    """
    wanted = _wanted(aggs, df)
    folder = cache_folder()
    if folder is None:
        raise RuntimeError("compiled kernels cannot be stored: set NUMBA_CACHE_DIR to a folder")
    dtypes = sorted({dtype for _, dtype in wanted})
    done, files = [], set[str]()
    for dtype in dtypes:
        names = sorted(statistic for statistic, of in wanted if of == dtype)
        done.append(compile_kernels(names, dtype, progress=progress))
        files |= set(used_files(names, dtype))
    there = sorted(name for name in files if (folder / name).exists())
    if there:
        _ship(spark, [folder / name for name in there])
    compiled = Warmup(
        tuple(sorted({statistic for statistic, _ in wanted})),
        tuple(dtypes),
        sum(each.compiled for each in done),
        sum(each.loaded for each in done),
        sum(each.seconds for each in done),
    )
    return ShippedKernels(compiled, len(there), sum((folder / name).stat().st_size for name in there))


def _wanted(aggs: Any, df: DataFrame | None) -> set[tuple[str, str]]:
    """Return the statistics and the dtypes of their columns."""
    columns = None if df is None else ColumnReferences(df)
    given = as_aggregates(aggs) if columns is None else columns.aggregates(aggs)
    schema = None if columns is None else columns.frame().schema
    wanted = set()
    for each in given:
        statistic = check_statistic(each.statistic, len(each.columns))
        names, dtypes = [statistic.name], list[Any](DTYPES)
        if schema is not None:
            if each.columns[0] not in schema.names:
                raise ValueError(f"aggs: column {each.columns[0]!r} is not among: {', '.join(schema.names)}")
            field = schema[each.columns[0]]
            kind = kind_of(field.dataType, f"column {field.name!r}", strings=True, wide=True)
            names, dtypes = _kernels_of(statistic.name, kind), [kind.dtype]
        for dtype in map(np.dtype, dtypes):
            # Workers widen integers, so that each kernel is compiled once, and make integers of other values.
            of = "int64" if dtype.kind in "iuOV" else dtype.str if dtype.kind in "mM" else dtype.name
            wanted |= {(name, of) for name in names if np.dtype(of).kind in REGISTRY[name].kinds}
    return wanted


def _kernels_of(statistic: str, kind: Kind) -> list[str]:
    """Return the statistics whose kernels a statistic of a column calls; those of decimals sum integers."""
    if not kind.scaled or statistic not in DECIMAL_SUMS:
        return [statistic]
    return ["sum"] if statistic == "sum" else ["count", "sum"]


def used_files(statistics: list[str], dtype: str) -> list[str]:
    """Return the names of the files that the usual calls load, which a new process finds out."""
    paths = [str(Path(rollstat.__file__).parent.parent), os.environ.get("PYTHONPATH", "")]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, paths))}
    code = "from rollstat.spark import shipped_kernels as s; import sys; s.print_used_files(*sys.argv[1:])"
    command = [sys.executable, "-c", code, dtype, *statistics]
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    names: list[str] = json.loads(done.stdout.splitlines()[-1])
    return names


def print_used_files(dtype: str, *statistics: str) -> None:
    """Make the usual calls and print the names of all files that they need."""
    compile_kernels(statistics, dtype, progress=False)
    target = _target(cpu_target.target_context.codegen())
    names = {kernel.key for kernel in compiled_kernels if kernel.key}
    # Without its marker a kernel would be taken for one that must still be compiled.
    names |= {
        _marker(kernel.py_func, variant, target) for (kernel, variant), is_ready in tiers._ready.items()
    }
    print(json.dumps(sorted(names)))


def _ship(spark: SparkSession, files: list[Path]) -> None:
    """Add files to the session as an archive, which Spark unpacks on each executor.

    Spark refuses to add an archive of the same name again, so the same files are added only once.
    """
    packed = io.BytesIO()
    with gzip.GzipFile("", "wb", 1, packed, mtime=0) as stream, tarfile.open(fileobj=stream, mode="w") as tar:
        for file in files:
            content = file.read_bytes()
            entry = tarfile.TarInfo(file.name)
            entry.size = len(content)
            tar.addfile(entry, io.BytesIO(content))
    digest = sha256(packed.getvalue()).hexdigest()[:16]
    connect = type(spark).__module__.startswith("pyspark.sql.connect")
    shipped = (spark.session_id if connect else spark.sparkContext.applicationId, digest)
    if shipped in _shipped:
        return
    folder = tempfile.mkdtemp(prefix="rollstat-shipped-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    archive = Path(folder) / f"{ARCHIVE}{digest}.tar.gz"
    archive.write_bytes(packed.getvalue())
    spark.addArtifacts(str(archive), archive=True)
    _shipped.add(shipped)
