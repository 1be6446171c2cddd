"""Compile kernels in advance, with a progress bar."""

import logging
import sys
import threading
import time
import warnings
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import config
from numpy.typing import DTypeLike

from rollstat.compile.cache import compiled_kernels
from rollstat.engine import begin_to_work
from rollstat.plan import forget_plans
from rollstat.precompile.usual_calls import DTYPES, usual_calls
from rollstat.registry import REGISTRY
from rollstat.tiers import using


@dataclass(frozen=True)
class Warmup:
    """What :func:`rollstat.warmup` did.

    Attributes
    ----------
    statistics, dtypes : tuple of str
        The statistics and dtypes that it covered.
    compiled : int
        Number of kernels that were compiled.
    loaded : int
        Number of kernels that were loaded, from the wheel or from the cache folder.
    seconds : float
        Elapsed time.
    """

    statistics: tuple[str, ...]
    dtypes: tuple[str, ...]
    compiled: int
    loaded: int
    seconds: float

    def __str__(self) -> str:
        return f"{self.compiled} kernels compiled, {self.loaded} loaded, in {self.seconds:.1f} s"


def _check_statistics(statistics: Any) -> tuple[str, ...]:
    """Return the names of statistics, all by default, in the order of the registry."""
    names = [statistics] if isinstance(statistics, str) else REGISTRY if statistics is None else statistics
    if not isinstance(names, Iterable):
        raise TypeError(f"statistics must be a name or several; got {statistics!r}")
    names = list(names)
    for name in names:
        if name not in REGISTRY:
            raise ValueError(f"statistics must be names from {', '.join(sorted(REGISTRY))}; got {name!r}")
    return tuple(name for name in REGISTRY if name in names)


def _check_dtypes(dtypes: Any) -> tuple[str, ...]:
    """Return the names of dtypes, each once."""
    given = DTYPES if dtypes is None else dtypes
    if isinstance(given, (str, type, np.dtype)):
        given = [given]
    if not isinstance(given, Iterable):
        raise TypeError(f"dtypes must be a dtype or several; got {dtypes!r}")
    names = []
    for dtype in given:
        try:
            checked = np.dtype(dtype)
        except TypeError:
            raise TypeError(f"dtypes must be NumPy dtypes such as 'float64'; got {dtype!r}") from None
        if checked.kind not in "fiubMm" or checked.itemsize > 8:
            allowed = "float, int, bool, datetime64 or timedelta64 of at most 64 bits"
            raise ValueError(f"dtypes must be {allowed}; got {dtype!r}")
        names.append(checked.str if checked.kind in "mM" else checked.name)
    return tuple(dict.fromkeys(names))


@contextmanager
def _quietly() -> Iterator[None]:
    """Ignore the warnings of calls, and do not recommend to compile in advance."""

    def is_news(record: logging.LogRecord) -> bool:
        return not record.getMessage().startswith("rollstat compiles kernels on first use")

    log = logging.getLogger("rollstat")
    log.addFilter(is_news)
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            yield
    finally:
        log.removeFilter(is_news)


def _compile(statistic: str, dtype: str, stopped: threading.Event) -> None:
    """Make the usual calls of a statistic, with the kernels that serve once many rows have been computed."""
    with _quietly(), using("fast"):
        for call in usual_calls(statistic, np.dtype(dtype)):
            if stopped.is_set():
                return
            with suppress(OverflowError):  # products of integers
                call()


def _shown(tasks: Sequence[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """Yield the tasks with a progress bar; with a line for each if tqdm is not installed."""
    try:
        from tqdm import tqdm
    except ImportError:
        for number, (statistic, dtype) in enumerate(tasks, 1):
            before, begin = len(compiled_kernels), time.perf_counter()
            yield statistic, dtype
            kernels, seconds = len(compiled_kernels) - before, time.perf_counter() - begin
            line = f"[{number}/{len(tasks)}] {statistic} {dtype}: {kernels} kernels, {seconds:.1f} s"
            print(line, file=sys.stderr, flush=True)
        return
    with tqdm(tasks, desc="compiling", unit="statistic", dynamic_ncols=True) as bar:
        for statistic, dtype in bar:
            bar.set_postfix_str(f"{statistic} {dtype}, {len(compiled_kernels)} kernels")
            yield statistic, dtype


def warmup(
    statistics: str | Iterable[str] | None = None,
    dtypes: DTypeLike | Iterable[DTypeLike] | None = None,
    *,
    progress: bool = True,
) -> Warmup:
    """Compile the kernels of common calls in advance, and store them on disk.

    The calls cover row, time, expanding and forward windows, with and without missing values, the options,
    streams, and what the pandas accessor and Spark workers call. They run on small arrays. Kernels that the
    wheel or the cache folder holds are loaded, not compiled. Named algorithms and operators of your own are
    compiled on first use.

    Parameters
    ----------
    statistics : str or iterable of str, optional
        Names of the functions without ``rolling_``: ``"median"``. Default: all.
    dtypes : dtype or iterable of dtype, optional
        Dtypes of the series. Default: float64, float32 and int64.
    progress : bool, default True
        Show a progress bar, or lines on standard error if tqdm is not installed.

    Returns
    -------
    Warmup
        Numbers of kernels compiled and loaded, and the time. Settings and results of the process do
        not change.

    Raises
    ------
    ValueError, TypeError
        For an unknown statistic or dtype, before anything is compiled.

    See Also
    --------
    show_versions : Where kernels come from.

    Examples
    --------
    >>> import rollstat
    >>> rollstat.warmup("count", "float64", progress=False).statistics
    ('count',)
    """
    names, of = _check_statistics(statistics), _check_dtypes(dtypes)
    tasks = [(name, dtype) for dtype in of for name in names if np.dtype(dtype).kind in REGISTRY[name].kinds]
    before, begin = len(compiled_kernels), time.perf_counter()
    stopped = threading.Event()
    if not config.DISABLE_JIT:
        # The memory that a thread keeps for later calls is freed with the thread; it starts no others.
        with ThreadPoolExecutor(1, "rollstat-warmup", initializer=begin_to_work) as pool:
            try:
                for statistic, dtype in _shown(tasks) if progress else tasks:
                    pool.submit(_compile, statistic, dtype, stopped).result()
            finally:
                stopped.set()
        forget_plans()
    new = compiled_kernels[before:]
    compiled = sum(kernel.origin == "compiled" for kernel in new)
    return Warmup(names, of, compiled, len(new) - compiled, time.perf_counter() - begin)
