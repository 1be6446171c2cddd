"""Any associative operator, and any function of the values of each window, block by block."""

from collections.abc import Callable, Sequence
from inspect import Parameter, signature
from numbers import Real
from types import FunctionType
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary, WeakSet

import numpy as np
from numba import config
from numpy.typing import NDArray

from rollstat.blocks import Block, Outcome, exact_floats, read_only
from rollstat.compile.bound_calls import BoundKernel
from rollstat.dtypes import compute_dtype, same_memory, warn_at_caller, warn_of_rounding
from rollstat.kernels.aggregate.apply_windows import apply_windows
from rollstat.kernels.aggregate.van_herk import scan
from rollstat.kernels.missing.counting import has_nan
from rollstat.operators.interface import NOTHING, compiled, empty_result, function_operator
from rollstat.operators.layout import Layout, computing_dtype, describe_function
from rollstat.plan import IN_ANY_ORDER, NAMED, SHORT, Bounds, Choice, Computation, OneCall, Output
from rollstat.results import convert
from rollstat.statistics.aggregate import drivers
from rollstat.statistics.sums import window_sums
from rollstat.statistics.sums.float_range import combine_within_range, may_leave_range, power_of
from rollstat.windows import Windows

_NO_PLAIN_SUMS = (("operator_scan", "a window has a negative weight or an extreme value"),)
_KINDS = {"f": "float", "i": "integer", "u": "integer", "b": "truth"}


class Combination(Computation):
    """Any associative operator over the observations of every window.

    Parameters
    ----------
    dtype : numpy.dtype
        Of the first series.
    windows : Windows
        The windows of the call.
    operator : Operator
        What combines them.
    dtypes : sequence of numpy.dtype
        Of the series.
    algorithm : str
        ``"auto"`` or a name of :data:`rollstat.statistics.aggregate.drivers.ALGORITHMS`.
    required : int
        Fewest observations for which there is a result.
    kind : str, optional
        Kind of the outputs; by default the kind of the operator's results.
    """

    rounds = True
    can_fail = True

    def __init__(
        self,
        dtype: np.dtype[Any],
        windows: Windows,
        operator: Any,
        dtypes: Sequence[np.dtype[Any]],
        algorithm: str = "auto",
        required: int = 1,
        kind: str | None = None,
    ) -> None:
        self._dtype = dtype
        self._operator, self._layout = drivers.prepare(operator, dtypes)
        self._algorithm = algorithm
        self._has_sums = algorithm == "auto" and window_sums.plain_summand(operator) is not None
        self.one_block = algorithm == "greedy"
        self.any_order = algorithm in ("auto", "static_tree")
        self.knows_rows = kind is None and bool(getattr(operator, "with_row", False))
        if empty_result(self._operator) is NOTHING:
            required = max(required, 1)  # an empty window has no result
        for output in self._layout.outputs:
            if output.shape or output.base.kind not in _KINDS:
                raise TypeError(
                    f"operator must return numbers or tuples of numbers for an array of numbers; "
                    f"got {output}: pass the elements as an array of objects"
                )
        self.outputs = [Output(kind or _KINDS[output.base.kind], required) for output in self._layout.outputs]

    def block_rows(self, width: int, alone: bool = False) -> int:
        """Return the output rows of a block that suit windows of `width` rows."""
        return window_sums.block_rows(width) if self._has_sums else drivers.block_rows(width)

    def choose(self, block: Block) -> Choice:
        """Return the algorithm for a block."""
        if block.any_order:
            return Choice("static_tree", IN_ANY_ORDER)
        if self._has_sums:
            return window_sums.choose(block)._replace(at_run_time=_NO_PLAIN_SUMS)
        if self._algorithm == "auto":
            return Choice("operator_scan", "the fastest for any windows of numbers")
        return Choice(self._algorithm, NAMED)

    def one_call(self, least: int, marks: Sequence[float], longest: int) -> OneCall | None:
        """Return what writes all results of a series in one call; see :class:`Computation`."""
        computed = [compute_dtype(output.kind, self._dtype) for output in self.outputs]
        if computed != list(self._layout.outputs):
            return None
        return operator_in_one_call(self._operator, self._layout, least, marks, longest)

    def compute(self, block: Block, min_periods: int, results: list[NDArray[Any]]) -> Outcome:
        """Write the result of every row with at least `min_periods` observations."""
        algorithm = self.choose(block).name
        if getattr(self._operator, "rounds_integers", False):
            for values in (block.values, *block.others):
                warn_of_rounding(values)
        if self._has_sums and not block.any_order:
            written = window_sums.write_plain(block, self._operator, min_periods, *results)
            if written is not None:
                outcome, rows = written
                bounds, again = (block.start[rows], block.end[rows]), np.empty(len(rows), results[0].dtype)
                part = Block(block.values, block.missing, *bounds, others=block.others)
                drivers.aggregate(part, self._operator, self._layout, [again], min_periods=min_periods)
                results[0][rows] = again
                return outcome
            algorithm = "operator_scan"
        drivers.aggregate(block, self._operator, self._layout, results, algorithm, min_periods)
        return Outcome(algorithm=algorithm, base_added=True)


_reasons: WeakKeyDictionary[type, dict[Any, str]] = WeakKeyDictionary()
_warned: WeakSet[Any] = WeakSet()


def _code_of(function: Any) -> Any:
    return getattr(getattr(function, "py_func", function), "__code__", type(function))


class WindowFunction(NamedTuple):
    """A function of the values of each window.

    Attributes
    ----------
    operator : Operator
        Has the function as its ``combine``.
    outputs : tuple of dtype
        Of its results.
    single : bool
        Whether it returns a number, not a tuple.
    reason : str
        Why Python calls it, or an empty string if it is compiled.
    """

    operator: Any
    outputs: tuple[np.dtype[Any], ...]
    single: bool
    reason: str = ""

    @classmethod
    def compiled(
        cls, function: Callable[..., Any], dtypes: Sequence[np.dtype[Any]], with_missing: bool
    ) -> "WindowFunction":
        """Return a compiled function of windows of series of `dtypes`, or raise TypeError."""
        names = getattr(function, "__name__", ""), *getattr(_code_of(function), "co_names", ())
        if with_missing and "median" in names:
            raise TypeError("its median of values with NaN is a number; use numpy.nanmedian")
        operator = compiled(function_operator(function))
        if hasattr(operator, "__not_stored__"):  # so it would be compiled in every call
            raise TypeError(operator.__not_stored__)
        columns = tuple(read_only(np.ones(1, computing_dtype(dtype))) for dtype in dtypes)
        known, key = _reasons.setdefault(type(operator), {}), tuple(column.dtype for column in columns)
        if key in known:
            raise TypeError(known[key])
        try:
            return cls(operator, *describe_function(operator, columns))
        except TypeError as error:
            known[key] = str(error)
            raise

    @classmethod
    def of(
        cls, function: Callable[..., Any], dtypes: Sequence[np.dtype[Any]], with_missing: bool
    ) -> "WindowFunction":
        """Return a function of windows of series of `dtypes`; warn once if it cannot be compiled."""
        try:
            return cls.compiled(function, dtypes, with_missing)
        except TypeError as error:
            reason = str(error)
        name, code = getattr(function, "__name__", repr(function)), _code_of(function)
        if code not in _warned:
            _warned.add(code)
            warn_at_caller(f"Python calls {name} for each window, without compiled code: {reason}")

        def checked(*windows: Any) -> Any:
            found = function(*windows)
            found = (
                found[()] if isinstance(found, np.ndarray) else found
            )  # the number of an array without axes
            if not isinstance(found, float | Real | np.bool_):
                raise TypeError(
                    f"function must return one number where Python calls it; {name} returned {found!r}"
                )
            return found

        return cls(function_operator(checked), (np.dtype(np.float64),), True, reason)


def with_arguments(function: Any, series: int, args: Any, kwargs: Any) -> Callable[..., Any]:
    """Return a function of windows of `series` alone; further arguments are its defaults."""
    if not callable(function):
        raise TypeError(f"function must be callable; got {function!r}")
    if not args and not kwargs:
        return function
    own: Any = getattr(function, "py_func", function)
    parameters = signature(own).parameters.values()
    if not isinstance(own, FunctionType) or any(
        p.kind != Parameter.POSITIONAL_OR_KEYWORD for p in parameters
    ):
        return lambda *windows: function(*windows, *args, **kwargs)
    bound = signature(own).bind(*range(series), *args, **kwargs)
    bound.apply_defaults()
    return FunctionType(own.__code__, own.__globals__, own.__name__, bound.args[series:], own.__closure__)


def is_compilable(function: Any, args: Any = (), kwargs: Any = None) -> bool:
    """Return whether Numba compiles a function of windows of one series of float64, with missing values."""
    own = with_arguments(function, 1, args, kwargs or {})
    try:
        WindowFunction.compiled(own, [np.dtype(np.float64)], True)
    except TypeError:
        return False
    return True


class Application(Computation):
    """A function of the values of each window.

    Parameters
    ----------
    dtype : numpy.dtype
        Of the first series.
    windows : Windows
        The windows of the call.
    function : WindowFunction
        The function.
    with_missing : bool
        Whether windows hold missing values, as NaN, not the observations alone.
    """

    can_fail = True

    def __init__(
        self, dtype: np.dtype[Any], windows: Windows, function: WindowFunction, with_missing: bool
    ) -> None:
        self._function = function
        self._with_missing = with_missing
        self.one_block = self.once = bool(function.reason)
        self.outputs = [Output(_KINDS[output.kind], 0) for output in function.outputs]

    def block_rows(self, width: int, alone: bool = False) -> int:
        """Return the output rows of a block that suit windows of `width` rows."""
        return max(4 * width, 1 << 13)

    def choose(self, block: Block) -> Choice:
        """Return the algorithm for a block."""
        reason = self._function.reason
        return Choice("python", reason) if reason else Choice("compiled", "Numba compiles the function")

    def compute(self, block: Block, min_periods: int, results: list[NDArray[Any]]) -> Outcome:
        """Write the result of every row with at least `min_periods` observations."""
        operator, dtypes, single, reason = self._function
        columns, start, end = drivers.observed(block, operator, all_rows=self._with_missing)
        written = drivers.outputs_for(dtypes, results)
        if reason:
            rows = np.flatnonzero(block.count >= min_periods)
            for i, first, last in zip(rows.tolist(), start[rows].tolist(), end[rows].tolist()):
                written[0][i] = operator.combine(*[column[first:last] for column in columns])
        else:
            out = written[0] if single else tuple(written)
            apply_windows(operator, columns, start, end, read_only(block.count), min_periods, out)
        drivers.deliver(written, results)
        return Outcome(algorithm=self.choose(block).name)


def operator_in_one_call(
    operator: Any, layout: Layout, least: int, marks: Sequence[float], longest: int
) -> OneCall | None:
    """Return what combines the values of each window, if none is missing; None if no kernel does.

    `operator` and `layout` are as in :func:`rollstat.statistics.aggregate.drivers.prepare`, the other
    parameters as in :func:`rollstat.statistics.sorted_windows.sorted_in_one_call`.
    """
    if getattr(operator, "with_row", False) or config.DISABLE_JIT:
        return None
    kernel, exact = BoundKernel(scan), getattr(operator, "rounds_integers", False)
    limits, longest = None, max(longest, 1)
    if hasattr(operator, "unscaled"):
        kind: Any = type(operator)
        operator, layout, limits = drivers.without_exponents(kind, operator, longest)
        if limits[0] < 0.0:
            return None
    power = power_of(operator)
    last: list[Any] = [(None, None, None)]  # one entry, so that threads with other bounds cannot mix two

    def combines(values: NDArray[Any]) -> bool:
        """Return whether no value is missing, and none needs the exponents that an operator leaves out."""
        return not has_nan(values) if limits is None else combine_within_range(values, limits, longest)

    def run(series: list[NDArray[Any]], bounds: Bounds, outputs: Sequence[NDArray[Any]]) -> bool:
        columns = []
        for values in series:
            if values.dtype.kind == "f" and not combines(values):
                return False
            column = exact_floats(values) if exact else values
            if column is None:
                return False
            dtype = computing_dtype(values.dtype)
            columns.append(column if column.dtype == dtype else read_only(column.astype(dtype)))
        if may_leave_range(power, columns, max(bounds.longest, 1)):
            return False
        known, few, count = last[0]
        if known is not bounds:
            few = np.flatnonzero(bounds.end - bounds.start < max(least, 1))
            count = len(few)
            few = slice(count) if count == 0 or few[-1] == count - 1 else few
            last[0] = bounds, few, count
        if least == 0 and count:  # windows that have the identity as their result
            return False
        suffix, failed = np.empty(max(bounds.longest, 1), layout.state), np.zeros(len(bounds.start), np.bool_)
        given = tuple(columns) if len(columns) > 1 else columns[0]
        written = [same_memory(out, dtype) for out, dtype in zip(outputs, layout.outputs)]
        out = written[0] if layout.single else tuple(written)
        kernel(operator, given, bounds.start, bounds.end, suffix, out, failed)
        if np.count_nonzero(failed):  # faster than `any`
            return False
        for view, result, mark in zip(outputs, written, marks):
            if view is not result:
                result[few] = 0
                convert(result, view)
            view[few] = mark
        return True

    return OneCall(Choice("operator_scan", SHORT), run, 10.0, most=0)
