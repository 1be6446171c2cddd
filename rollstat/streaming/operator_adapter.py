"""An operator prepared for the elements of a stream: elements to its arguments, its results to answers.

::

    3.5, None, [1, 2] ---> element, encode_columns ---> arguments, missing ---> operator ---> finish, fill
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

import rollstat.operators as operators
from rollstat.dtypes import warn_of_rounding
from rollstat.operators.checks import check_on_data
from rollstat.operators.interface import NOTHING, arguments_of_lift, empty_result, is_builtin
from rollstat.options import check_flag
from rollstat.results import convert
from rollstat.statistics.aggregate.drivers import prepare
from rollstat.streaming.codec import ArrayCodec, Codec, ObjectCodec

_SAMPLE = 16  # first elements on which an operator is checked


class OperatorAdapter:
    """An operator prepared for the elements of a stream.

    Parameters
    ----------
    operator : Operator or callable
        The operator, or a function of two states.
    dtype : dtype
        Of the elements, with their shape if they are arrays; object for Python objects. In a snapshot, what
        :attr:`dtype_name` returned.
    inf : {"value", "missing"}
        What infinite elements are.
    nan_policy : {"omit", "propagate", "raise"}
        What missing elements do.
    times : dtype
        Of the times in stored form.
    check : bool
        Whether to check that an operator of a user is associative on the first elements.

    Attributes
    ----------
    ready : Operator
        The operator for the dtype in which elements are stored.
    layout : Layout or None
        The types of states and results; None for Python objects.
    columns : int
        How many series the operator takes.
    with_time, with_row : bool
        Whether it takes the time and the number of the row as well.
    exact : bool
        Whether elements are integers and the operator is of this package: such operators never raise.
    """

    def __init__(
        self,
        operator: Any,
        dtype: DTypeLike,
        inf: str = "value",
        times: DTypeLike = np.int64,
        nan_policy: str = "omit",
        check: bool = False,
    ) -> None:
        self.operator = operators.as_operator(operator)
        if isinstance(dtype, list):
            dtype = np.dtype((dtype[0], tuple(dtype[1])))
        self.objects = dtype is not None and np.dtype(dtype) == object
        self.codec: Any = self._make_codec(dtype, inf, nan_policy)
        self.counts_rows = False
        self.with_row = not self.objects and bool(getattr(self.operator, "with_row", False))
        self.with_time = bool(getattr(self.operator, "with_time", False))
        own = [np.dtype(times)] * self.with_time
        self.columns = 1 if self.objects else arguments_of_lift(self.operator) - self.with_row - len(own)
        self.ready: Any = self.operator
        self.layout: Any = None
        if not self.objects:
            # If the operator takes missing values as rows, their rows are inverted.
            self.counts_rows = bool(getattr(self.operator, "counts_rows", False))
            self._type: Any = self.codec.stored.base.type
            self.ready, self.layout = prepare(self.operator, [self.codec.stored] * self.columns + own)
        self._further = [*(dtype.type for dtype in own), *([np.int64] * self.with_row)]
        self.identity = empty_result(self.ready)
        integers = not self.objects and self.codec.kind in "iu"
        rounding = ("rounds_integers", "rounds_results")
        self._rounds = integers and any(getattr(self.ready, name, False) for name in rounding)
        self.exact = integers and is_builtin(self.ready)
        own_operator = check_flag("check", check) and not is_builtin(self.operator)
        self._sample: list[list[Any]] | None = [[] for _ in range(self.columns)] if own_operator else None

    @property
    def checked(self) -> bool:
        """Whether the operator needs no further check."""
        return self._sample is None

    def _check(self, columns: Any) -> None:
        """Raise if the operator is not associative on the first elements of the stream and further ones."""
        if self._sample is None:
            return
        arrays = self.objects or bool(self.codec.dtype.shape)
        sample = [[*kept, *column[:_SAMPLE]][:_SAMPLE] for kept, column in zip(self._sample, columns)]
        more = len(sample[0]) < 3 or (
            check_on_data(self.operator, sample[0] if arrays else sample, arrays)
            and not arrays
            and len(sample[0]) < _SAMPLE
        )
        self._sample = sample if more else None

    def _make_codec(self, dtype: DTypeLike, inf: str, nan_policy: str) -> Any:
        """Return the codec of elements of this dtype, or raise if the operator does not take them."""
        if self.objects:
            return ObjectCodec()
        ndim = getattr(self.operator, "element_ndim", 0)
        if not ndim:
            return Codec(dtype, "fiub", inf, nan_policy)
        given = np.dtype(dtype)
        if given.base != np.float64 or len(given.shape) != ndim:
            shape = ", ".join("k" * ndim)
            raise TypeError(
                f"dtype must be float64 with the shape of an element, np.dtype((float, ({shape}))), "
                f"or object, because {type(self.operator).__name__} takes arrays; got {dtype!r}"
            )
        return ArrayCodec(given.newbyteorder("="))

    @property
    def dtype_name(self) -> Any:
        """The dtype of the elements as a value of JSON."""
        dtype = self.codec.dtype
        return [dtype.base.str, list(dtype.shape)] if dtype.shape else dtype.str

    @property
    def is_plain(self) -> bool:
        """Whether float64 go in, and numbers come out that cannot overflow."""
        if self.objects or self.codec.dtype != np.float64 or hasattr(self.ready, "overflowed"):
            return False
        return not any(output.shape for output in self.layout.outputs)

    @property
    def example(self) -> Any:
        """An argument of the types that the operator takes."""
        if self.objects:
            return None
        number = np.zeros(self.codec.dtype.shape, self._type)[()]
        return _one_or_all([number] * self.columns + [kind(0) for kind in self._further])

    def element(self, given: Any, row: int, time: Any = None) -> tuple[Any, bool]:
        """Return the operator's argument for a row and whether it is an observation, or raise."""
        encoded = [self.codec.encode(x) for x in given]
        observed = not any(missing for _, missing in encoded)
        if observed:
            self._check([[x] for x, _ in encoded])
        if self.objects:
            return encoded[0][0], observed
        if self._rounds:
            warn_of_rounding(np.array([x for x, _ in encoded], self.codec.stored))
        if self.counts_rows:
            row, observed = row if observed else ~row, True
        arguments = [x if self.codec.dtype.shape else self._type(x) for x, _ in encoded]
        further = [kind(number) for kind, number in zip(reversed(self._further), (row, time))]
        return _one_or_all(arguments + further[::-1]), observed

    def arrays(self, columns: Any) -> list[Any]:
        """Return arrays of the dtype of the elements, one for each column, or raise.

        Warn of integers that are rounded, before the stream changes.
        """
        if len(columns) != self.columns:
            raise TypeError(f"extend takes {self.columns} arrays here; got {len(columns)}")
        arrays = [self.codec.array(column) for column in columns]
        if len({len(column) for column in arrays}) > 1:
            raise ValueError(f"the arrays must have the same length; got lengths {list(map(len, arrays))}")
        firsts = [column[:_SAMPLE] for column in arrays]
        self._check([x.compressed() if isinstance(x, np.ma.MaskedArray) else x for x in firsts])
        if self._rounds:
            for column in arrays:
                warn_of_rounding(np.ma.filled(column, 0))
        return arrays

    def encode_columns(self, arrays: Any, row: int, times: Any = None) -> tuple[Any, NDArray[np.bool_]]:
        """Return the operator's arguments for many rows, from number `row` on, and missing marks."""
        pairs = [self.codec.encode_array(array) for array in arrays]
        missing = np.logical_or.reduce([marks for _, marks in pairs])
        columns = [column for column, _ in pairs] + [times] * self.with_time
        if self.with_row:
            rows = np.arange(row, row + len(missing))
            columns.append(np.where(missing, ~rows, rows) if self.counts_rows else rows)
        if self.counts_rows:
            missing = np.zeros_like(missing)
        return _one_or_all(columns), missing

    def finish(self, result: Any) -> Any:
        """Return a result in the dtype of the elements."""
        single = not self.objects and self.codec.dtype == np.float32
        return float(np.float32(result)) if single and isinstance(result, float) else result

    def answer(self, observations: int, min_periods: int, read: Callable[[], Any]) -> Any:
        """Return the result that `read` returns, or what replaces it where observations are too few.

        If `min_periods` is 0, an empty window has the identity of the operator, if there is one. Any other
        window with fewer than `min_periods` observations has NaN or None.
        """
        if observations >= max(min_periods, 1):
            return self.finish(read())
        if observations >= min_periods and self.identity is not NOTHING:
            plain = self.identity.item() if isinstance(self.identity, np.generic) else self.identity
            return self.finish(plain)
        if self.objects:
            return None
        answers = [np.nan if dtype.kind == "f" else None for dtype in self.layout.outputs]
        return answers[0] if self.layout.single else tuple(answers)

    def result_dtype(self, dtype: np.dtype[Any], incomplete: bool) -> np.dtype[Any]:
        """Return the dtype of an array of results of `dtype`, `incomplete` if some are missing."""
        if self.codec.dtype == np.float32 and dtype.kind == "f":
            return np.dtype(np.float32)
        return np.dtype(np.float64) if incomplete or self.codec.dtype.kind == "f" else dtype

    def fill(self, out: NDArray[Any], insufficient: NDArray[np.bool_], min_periods: int) -> NDArray[Any]:
        """Return results with NaN, or the identity, in the rows with too few observations.

        Warn if integers are rounded.
        """
        rows = np.flatnonzero(insufficient)
        identity = min_periods == 0 and self.identity is not NOTHING and self.layout.single
        incomplete = len(rows) > 0 and not identity
        dtype = self.result_dtype(out.dtype, incomplete)
        if dtype != out.dtype:
            out[rows] = 0
            exact, out = out, np.empty(out.shape, dtype)
            convert(exact, out)
        if len(rows):
            out[rows] = self.identity if identity else np.nan
        return out

    def specification(self) -> list[Any]:
        """Return name and fields of the operator for a snapshot, or raise."""
        if self.objects or not is_builtin(self.operator):
            raise TypeError(
                "a snapshot cannot contain code or objects; pickle a stream with your own operator"
            )
        return [type(self.operator).__name__, list(self.operator)]


def _one_or_all(columns: list[Any]) -> Any:
    return tuple(columns) if len(columns) > 1 else columns[0]


def operator_by_name(name: str, fields: list[Any]) -> Any:
    """Return the operator that a snapshot names, or raise."""
    if name not in operators.__all__:
        raise ValueError(f"there is no operator {name}")
    return operator_of_fields(getattr(operators, name), fields)


def operator_of_fields(cls: Any, fields: list[Any]) -> Any:
    """Return the operator of a class with fields of a snapshot, or raise."""
    kinds = {"int": int, "float": float, "bool": bool}
    annotations: dict[str, Any] = {}
    for base in cls.__mro__:
        annotations |= vars(base).get("__annotations__", {})
    for field, value in zip(getattr(cls, "_fields", ()), fields):
        annotation = annotations.get(field)
        kind = kinds.get(str(getattr(annotation, "__name__", annotation)))
        if kind is not None and type(value) is not kind:
            raise ValueError(f"{field} of {cls.__name__} must be of {kind.__name__}; got {value!r}")
    return cls(*fields)
