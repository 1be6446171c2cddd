"""Calls of a formula or an associative operator over the windows of an array."""

from collections.abc import Callable, Mapping
from functools import lru_cache, partial
from types import MappingProxyType
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
from rollstat.engine import Call
from rollstat.kernels.sums.moment_formulas import Summand
from rollstat.options import CommonOptions, Options, Window
from rollstat.plan import PLAIN_DTYPES, Choice, Computation
from rollstat.registry import check_algorithm

__all__ = ["COMBINED", "call", "combine", "ends", "formula", "numbers", "operators", "with_ddof"]

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


def call(
    computation: Callable[..., Computation],
    arrays: list[ArrayLike],
    window: Window,
    options: CommonOptions,
    name: str = "this statistic",
    algorithms: Mapping[str, str] = MappingProxyType({}),
    *,
    series_names: tuple[str, ...] = ("arr", "other"),
    stack: bool = False,
    finish: Callable[..., Any] | None = None,
    **parameters: Any,
) -> Any:
    """Return the checked call of a computation; the decorator of the public functions runs it.

    Parameters
    ----------
    computation : callable
        Class of the computation.
    arrays : list of array_like
        The series.
    window : Window
        The window.
    options : CommonOptions
        Options of the call, unchecked.
    name : str
        Name of the statistic in messages.
    algorithms : mapping of str to str
        Names that ``algorithm=`` takes. If there are any, the computation has a parameter `algorithm`.
    series_names, stack, finish
        `names`, `stack` and `finish` of :class:`rollstat.engine.Call`.
    **parameters
        Parameters of the computation.

    Returns
    -------
    Call
        Typed Any, because the public functions declare what the decorator returns.
    """
    checked = Options.check(**options)
    check_algorithm(checked.algorithm, algorithms, name)
    if algorithms:
        parameters["algorithm"] = checked.algorithm
    return Call(arrays, window, partial(computation, **parameters), checked, series_names, stack, finish)


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
) -> Any:
    """Return the call of a statistic that `write` computes block by block.

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
    Call
        Typed Any, because the decorator of the public functions runs it.
    """
    parameters: dict[str, Any] = {
        "required": required,
        "outputs": outputs,
        "kind": kind,
        "choose": choose,
        "summand": summand,
    }
    for name, array in zip(names, arrays):
        numbers(name, array)
    return call(Formula, arrays, window, options, series_names=names, write=write, **parameters)


def ends(
    arr: ArrayLike,
    window: Window,
    write: Callable[..., Outcome],
    operator: Any,
    name: str,
    options: CommonOptions,
    required: int = 1,
    kind: str = "value",
) -> Any:
    """Return the call of a statistic of the ends of windows: by `operator` if an algorithm is named."""
    if options.get("algorithm", "auto") == "auto":
        return formula([arr], window, write, required, options, kind=kind, choose=first_last.choose)
    return combine([arr], window, operator, name, options, required, kind)


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
    finish: Callable[..., Any] | None = None,
) -> Any:
    """Return the call of an associative operator over the windows, see :func:`formula`."""
    dtypes = tuple(_plain_dtype(numbers(n, array).dtype) for n, array in zip(names, arrays))
    parameters: dict[str, Any] = {"operator": operator, "dtypes": dtypes, "required": required, "kind": kind}
    return call(
        Combination,
        arrays,
        window,
        options,
        name,
        ALGORITHMS,
        series_names=names,
        finish=finish,
        **parameters,
    )
