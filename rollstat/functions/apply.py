"""Run a formula or an associative operator over the windows of an array."""

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rollstat import operators as built_in
from rollstat.algorithms import first_last
from rollstat.algorithms.aggregate import ALGORITHMS
from rollstat.algorithms.window_sums import choose as choose_sums
from rollstat.blocks import Block, Outcome
from rollstat.computations.aggregates import Combination, Formula
from rollstat.dtypes import check_array
from rollstat.engine import run
from rollstat.kernels.sums.moment_formulas import Summand
from rollstat.operators.interface import key_of
from rollstat.options import CommonOptions, Options, Window
from rollstat.plan import PLAIN_DTYPES, Choice, Recipe
from rollstat.registry import check_algorithm

__all__ = ["COMBINED", "combine", "ends", "formula", "numbers", "operators", "with_ddof"]

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
    if type(arr) is np.ndarray and arr.dtype.char in PLAIN_DTYPES and arr.ndim:
        return arr
    array = check_array(name, arr)
    if array.dtype.kind not in "fiub":
        raise TypeError(f"{name} must hold numbers or bool; its dtype was {array.dtype}")
    return array


def formula(
    arrays: list[ArrayLike],
    window: Window,
    write: Callable[..., Outcome],
    required: int,
    options: CommonOptions,
    outputs: int = 1,
    kind: str = "float",
    names: tuple[str, ...] = ("arr", "other"),
    choose: Callable[[Block], Choice] = choose_sums,
    summand: Summand | None = None,
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
    choose, summand
        See :class:`rollstat.computations.aggregates.Formula`.

    Returns
    -------
    list of ndarray
        The results.
    """
    checked = Options.check(**options)
    check_algorithm(checked.algorithm, {}, "this statistic")
    recipe = Recipe(Formula, (write, required, outputs, kind, choose, summand))
    for name, array in zip(names, arrays):
        numbers(name, array)
    return run(arrays, window, recipe, checked, names=names).arrays


def ends(
    arr: ArrayLike,
    window: Window,
    write: Callable[..., Outcome],
    operator: Any,
    name: str,
    options: CommonOptions,
    required: int = 1,
    kind: str = "value",
) -> NDArray[Any]:
    """Run a statistic of the ends of each window: by `write`, or by `operator` if an algorithm is named."""
    if options.get("algorithm", "auto") == "auto":
        return formula([arr], window, write, required, options, kind=kind, choose=first_last.choose)[0]
    return combine([arr], window, operator, name, options, required, kind)[0]


@lru_cache(maxsize=64)
def with_ddof(write: Callable[[Block, int, NDArray[Any]], Outcome], ddof: int) -> Callable[..., Outcome]:
    """Return `write` for one `ddof`: the same object for the same arguments."""

    def write_block(block: Block, result: NDArray[Any]) -> Outcome:
        return write(block, ddof, result)

    return write_block


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
    dtypes = tuple(_plain_dtype(numbers(n, array).dtype) for n, array in zip(names, arrays))
    key = key_of(operator)
    recipe = Recipe(Combination, (operator, dtypes, checked.algorithm, required, kind), key)
    make = recipe.__call__ if key is None else recipe  # without a hash, the plan is not cached
    return run(arrays, window, make, checked, names=names).arrays
