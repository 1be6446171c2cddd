"""Run a formula or an associative operator over the windows of an array."""

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rollstat import operators as built_in
from rollstat.algorithms.aggregate import ALGORITHMS
from rollstat.computations.aggregates import Combination, Formula
from rollstat.dtypes import check_array
from rollstat.engine import Computation, run
from rollstat.options import CommonOptions, Options, Window
from rollstat.prepared import run_plain
from rollstat.registry import check_algorithm
from rollstat.windows import Windows

__all__ = ["COMBINED", "combine", "ends", "formula", "numbers", "operators"]

operators: Any = built_in  # type checkers take class attributes of the operators for fields

COMBINED: dict[str, Any] = {
    "family": "aggregate",
    "kinds": "fiub",
    "cost": "O(1) combinations amortised; O(1) worst case with daba",
    "source": "Tangwongsan, Hirzel and Schneider (2021), In-Order Sliding-Window Aggregation",
    "algorithms": ALGORITHMS,
}
"""Fields of the registry that statistics by an operator share."""


def _plain_dtype(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Return the dtype of a block for values of `dtype`."""
    return np.dtype(np.uint8) if dtype.kind == "b" else np.dtype(dtype.newbyteorder("="))


def numbers(name: str, arr: ArrayLike) -> NDArray[Any]:
    """Return `arr` as an array of numbers or bool, or raise TypeError."""
    array = check_array(name, arr)
    if array.dtype.kind not in "fiub":
        raise TypeError(f"{name} must hold numbers or bool; its dtype was {array.dtype}")
    return array


@lru_cache(maxsize=64)
def _computation(
    write: Callable[..., None], required: int, outputs: int, kind: str
) -> Callable[[np.dtype[Any], Windows], Formula]:
    """Return the factory of a computation: the same object for the same arguments."""
    return lambda dtype, windows: Formula(write, required, outputs, kind, dtype)


def formula(
    arrays: list[ArrayLike],
    window: Window,
    write: Callable[..., None],
    required: int,
    options: CommonOptions,
    outputs: int = 1,
    kind: str = "float",
    names: tuple[str, ...] = ("arr", "other"),
    **engine: Any,
) -> list[NDArray[Any]]:
    """Run a statistic that `write` computes block by block.

    Parameters
    ----------
    arrays : list of array_like
        The series.
    window : Window
        The window.
    write : callable
        Writes the results of a block: ``write(block, *results)``.
    required : int
        Minimum number of observations that the statistic needs.
    options : CommonOptions
        Options of the call, unchecked.
    outputs : int, default 1
        Number of results.
    kind : str, default "float"
        Kind of the result's dtype, see :func:`rollstat.dtypes.result_dtype`.
    names : tuple of str
        Names of the series in messages.
    **engine
        Further arguments of :func:`rollstat.engine.run`.

    Returns
    -------
    list of ndarray
        The results.
    """
    checked = Options.check(**options)
    check_algorithm(checked.algorithm, {}, "this statistic")
    computation = _computation(write, required, outputs, kind)
    if len(arrays) == 1 and not engine:
        results = run_plain(arrays[0], window, computation, checked)
        if results is not None:
            return results
    for name, array in zip(names, arrays):
        numbers(name, array)
    return run(arrays, window, computation, checked, names=names, **engine).arrays


def ends(
    arr: ArrayLike,
    window: Window,
    write: Callable[..., None],
    operator: Any,
    name: str,
    options: CommonOptions,
    required: int = 1,
    kind: str = "value",
) -> NDArray[Any]:
    """Run a statistic of the ends of each window: by `write`, or by `operator` if an algorithm is named."""
    if options.get("algorithm", "auto") == "auto":
        return formula([arr], window, write, required, options, kind=kind)[0]
    return combine([arr], window, operator, name, options, required, kind)[0]


def combine(
    arrays: list[ArrayLike],
    window: Window,
    operator: Any,
    name: str,
    options: CommonOptions,
    required: int = 1,
    kind: str | None = None,
    names: tuple[str, ...] = ("arr", "other"),
) -> list[NDArray[Any]]:
    """Run an associative operator over the windows, and return its results, see :func:`formula`."""
    checked = Options.check(**options)
    check_algorithm(checked.algorithm, ALGORITHMS, name)
    dtypes = [_plain_dtype(numbers(n, array).dtype) for n, array in zip(names, arrays)]

    def make(dtype: np.dtype[Any], windows: Windows) -> Computation:
        return Combination(operator, dtypes, checked.algorithm, required, kind)

    return run(arrays, window, make, checked, names=names).arrays
