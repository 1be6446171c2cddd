"""Running a formula over sums, or an associative operator, over the windows of an array."""

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

__all__ = ["COMBINE_COST", "COMBINE_SOURCE", "combine", "ends", "formula", "numbers", "operators"]

operators: Any = built_in  # the classes' own attributes are no fields, whatever type checkers make of them

COMBINE_COST = "O(1) combinations amortised; O(1) worst case with daba"
COMBINE_SOURCE = "Tangwongsan, Hirzel and Schneider (2021), In-Order Sliding-Window Aggregation"


def _plain_dtype(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Dtype in which a block holds values of `dtype`."""
    return np.dtype(np.uint8) if dtype.kind == "b" else np.dtype(dtype.newbyteorder("="))


def numbers(name: str, arr: ArrayLike) -> NDArray[Any]:
    """Return `arr` as an array of numbers or bool, or raise."""
    array = check_array(name, arr)
    if array.dtype.kind not in "fiub":
        raise TypeError(f"{name} must hold numbers or bool; its dtype was {array.dtype}")
    return array


@lru_cache(maxsize=64)
def _computation(
    write: Callable[..., None], required: int, outputs: int, kind: str
) -> Callable[[np.dtype[Any], Windows], Formula]:
    """What makes the computation, the same object for the same parameters."""
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
    """Run a statistic that is written block by block."""
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
    """Run what the ends of a window tell, by `write`, or by an algorithm of operators if one is named."""
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
    """Run an associative operator."""
    checked = Options.check(**options)
    check_algorithm(checked.algorithm, ALGORITHMS, name)
    dtypes = [_plain_dtype(numbers(n, array).dtype) for n, array in zip(names, arrays)]

    def make(dtype: np.dtype[Any], windows: Windows) -> Computation:
        return Combination(operator, dtypes, checked.algorithm, required, kind)

    return run(arrays, window, make, checked, names=names).arrays
