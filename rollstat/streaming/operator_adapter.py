"""What an operator needs to serve the elements of a stream: it made ready, words in, results out.

::

    3.5, None, [1, 2]  ---> element, columns_of ---> words, missing ---> the operator ---> finish, masked
"""

from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

import rollstat.operators as operators
from rollstat.operators.interface import NOTHING, arguments_of_lift, empty_result, for_dtype
from rollstat.streaming.codec import Elements, Objects

__all__ = ["Ingredients", "operator_named"]


class Ingredients:
    """An operator ready for the elements of a stream.

    Parameters
    ----------
    operator : Operator or callable
        What the caller gave.
    dtype : dtype
        Of the elements; object for Python objects.
    """

    def __init__(self, operator: Any, dtype: DTypeLike) -> None:
        self.operator = operators.as_operator(operator)
        self.objects = dtype is not None and np.dtype(dtype) == object
        self.elements: Any
        self.elements = Objects() if self.objects else Elements(dtype, "fiub")
        self.counts_rows = False
        self.with_row = not self.objects and bool(getattr(self.operator, "with_row", False))
        self.columns = 1 if self.objects else arguments_of_lift(self.operator) - self.with_row
        self.ready: Any = self.operator
        self.layout: Any = None
        if not self.objects:
            self.ready = for_dtype(self.operator, self.elements.computing)
            # Where missing values count as rows, they are NaN whatever the dtype.
            self.counts_rows = bool(getattr(self.operator, "counts_rows", False))
            self.word: Any = np.float64 if self.counts_rows else self.elements.computing.type
            words = [np.ones(1, self.word)] * self.columns
            words += [np.zeros(1, np.int64)] * self.with_row
            self.layout = operators.describe(self.ready, tuple(words) if len(words) > 1 else words[0])
        self.identity = empty_result(self.ready)

    @property
    def plain(self) -> bool:
        """Whether a float goes in and a float comes out, and nothing can overflow."""
        if self.objects or self.columns != 1 or self.with_row or self.elements.dtype != np.float64:
            return False
        single = self.layout.single and self.layout.outputs[0] == np.float64
        return bool(single and not hasattr(self.ready, "overflowed"))

    @property
    def nothing(self) -> Any:
        """An element that is not taken in."""
        if self.objects:
            return None
        words = [self.word(0)] * self.columns + [np.int64(0)] * self.with_row
        return tuple(words) if len(words) > 1 else words[0]

    def element(self, given: Any, row: int) -> tuple[Any, bool]:
        """What the operator takes for a row, and whether it is an observation; or raise."""
        encoded = [self.elements.encode(x) for x in given]
        observed = not any(missing for _, missing in encoded)
        if self.objects:
            return encoded[0][0], observed
        if self.counts_rows:
            encoded, observed = [(np.nan if missing else word, False) for word, missing in encoded], True
        words = [self.word(word) for word, _ in encoded]
        if self.with_row:
            words.append(np.int64(row))
        return (tuple(words) if len(words) > 1 else words[0]), observed

    def series(self, columns: Any) -> list[Any]:
        """Arrays of the dtype of the elements, one for each column, or raise."""
        if len(columns) != self.columns:
            raise TypeError(f"extend takes {self.columns} arrays here; it was given {len(columns)}")
        series = [self.elements.array(column) for column in columns]
        if len({len(column) for column in series}) > 1:
            raise ValueError("the arrays must be as long as each other")
        return series

    def words_of(self, series: Any, row: int) -> tuple[Any, NDArray[np.bool_]]:
        """What the operator takes for many rows, the first of which is `row`, and which are missing."""
        pairs = [self.elements.words(column) for column in series]
        missing: NDArray[np.bool_] = pairs[0][1]
        for _, marks in pairs[1:]:
            missing |= marks
        words = [column for column, _ in pairs]
        if not self.objects and self.counts_rows:
            words = [np.where(missing, np.nan, column) for column in words]
            missing = np.zeros_like(missing)
        if self.with_row:
            words.append(np.arange(row, row + len(missing)))
        return (tuple(words) if len(words) > 1 else words[0]), missing

    def rows_of(self, series: Any, row: int) -> tuple[Any, NDArray[np.bool_] | None]:
        """The same, but None for what is missing where NaN says so."""
        if self.elements.kind != "f" or self.counts_rows:
            return self.words_of(series, row)
        words = [self.elements.numbers(column) for column in series]
        if self.with_row:
            words.append(np.arange(row, row + len(words[0])))
        return (tuple(words) if len(words) > 1 else words[0]), None

    def finish(self, result: Any) -> Any:
        """A result in the dtype of the elements."""
        single = not self.objects and self.elements.dtype == np.float32
        return float(np.float32(result)) if single and isinstance(result, float) else result

    def lacking(self, empty: bool) -> Any:
        """What stands for too few observations; the identity for an `empty` window that may be so."""
        if empty and self.identity is not NOTHING:
            return self.finish(_plain(self.identity))
        if self.objects:
            return None
        lacking = [np.nan if dtype.kind == "f" else None for dtype in self.layout.outputs]
        return lacking[0] if self.layout.single else tuple(lacking)

    def result_dtype(self, dtype: np.dtype[Any], lacks: bool) -> np.dtype[Any]:
        """Dtype in which results of `dtype` are returned if an array `lacks` some of them, or none."""
        if self.elements.dtype == np.float32 and dtype.kind == "f":
            return np.dtype(np.float32)
        return np.dtype(np.float64) if lacks or self.elements.dtype.kind == "f" else dtype

    def masked(self, out: NDArray[Any], lacking: NDArray[np.bool_], least: int) -> NDArray[Any]:
        """Results with NaN, or the identity of an empty window, where there are too few observations."""
        few = np.flatnonzero(lacking)
        identity = least == 0 and self.identity is not NOTHING and self.layout.single
        lacks = len(few) > 0 and not identity
        out = out.astype(self.result_dtype(out.dtype, lacks), copy=False)
        if len(few):
            out[few] = self.identity if identity else np.nan
        return out

    def named(self) -> list[Any]:
        """Name and fields of the operator, for a snapshot; or raise."""
        cls = type(self.operator)
        if self.objects or not cls.__module__.startswith("rollstat."):
            raise TypeError(
                "a snapshot holds no code and no objects: with an operator of your own, pickle the stream"
            )
        return [cls.__name__, list(self.operator)]


def _plain(result: Any) -> Any:
    return result.item() if isinstance(result, np.generic) else result


def operator_named(name: str, fields: list[Any]) -> Any:
    """The operator that a snapshot names."""
    if name not in operators.__all__:
        raise ValueError(f"there is no operator {name}")
    return getattr(operators, name)(*fields)
