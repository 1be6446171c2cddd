"""Running a formula over sums, or an associative operator, over the windows of an array."""

from collections.abc import Callable
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
from rollstat.options import CommonOptions, Options, Window
from rollstat.plan import PLAIN_DTYPES, Choice, Computation, Recipe
from rollstat.registry import check_algorithm
from rollstat.windows import Windows

__all__ = ["COMBINE_COST", "COMBINE_SOURCE", "combine", "ends", "formula", "numbers", "operators"]

operators: Any = built_in  # type checkers take the attributes of the classes for fields

COMBINE_COST = "O(1) combinations amortised; O(1) worst case with daba"
COMBINE_SOURCE = "Tangwongsan, Hirzel and Schneider (2021), In-Order Sliding-Window Aggregation"


def _plain_dtype(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Return the dtype in which a block holds values of `dtype`."""
    return np.dtype(np.uint8) if dtype.kind == "b" else np.dtype(dtype.newbyteorder("="))


def numbers(name: str, arr: ArrayLike) -> NDArray[Any]:
    """Return `arr` as an array of numbers or bool, or raise."""
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
) -> list[NDArray[Any]]:
    """Run a statistic that is written block by block."""
    checked = Options.check(**options)
    check_algorithm(checked.algorithm, {}, "this statistic")
    recipe = Recipe(Formula, (write, required, outputs, kind, choose))
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
    """Run a statistic that `write` reads off the ends of windows, or an operator if an algorithm is named."""
    if options.get("algorithm", "auto") == "auto":
        return formula([arr], window, write, required, options, kind=kind, choose=first_last.choose)[0]
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
    """Run an associative operator."""
    checked = Options.check(**options)
    check_algorithm(checked.algorithm, ALGORITHMS, name)
    dtypes = [_plain_dtype(numbers(n, array).dtype) for n, array in zip(names, arrays)]

    def make(dtype: np.dtype[Any], windows: Windows) -> Computation:
        return Combination(operator, dtypes, checked.algorithm, required, kind)

    return run(arrays, window, make, checked, names=names).arrays
