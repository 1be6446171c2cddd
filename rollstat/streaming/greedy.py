"""An operator over windows of a stream that are asked for one after the other, by the fewest combinations."""

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from rollstat.options import whole_number
from rollstat.snapshots import write
from rollstat.streaming.base import Stream
from rollstat.streaming.operator_adapter import Ingredients, operator_named
from rollstat.streaming.windows.operator_trees import NumberTree, ObjectTree

__all__ = ["GreedyAggregate"]


class GreedyAggregate(Stream):
    """Any associative operator over a sequence of windows, with the fewest combinations there can be.

    Elements arrive by :meth:`push`; :meth:`move` asks for a window of rows ``[start, end)``, neither bound of
    which ever moves left.

    Parameters
    ----------
    operator : Operator or callable
        As in :class:`SlidingAggregate`.
    min_periods : int, default 1
        Least number of observations for a result; with 0 an empty window gives the identity.
    dtype : dtype, default float64
        Of the elements; ``object`` for Python objects.

    Notes
    -----
    Cost: O(1) an element; over all windows as few combinations as associativity allows, none for a repeated
    or an empty window; memory for the rows from the start of the last window on. Source: Basin, Klaedtke,
    Zalinescu, Greedily computing associative aggregations on sliding windows, Information Processing Letters
    115 (2015), doi:10.1016/j.ipl.2014.09.009.

    Examples
    --------
    >>> import rollstat, rollstat.operators
    >>> stream = rollstat.GreedyAggregate(rollstat.operators.Sum())
    >>> stream.extend([2.0, 4.0, 5.0, 2.0])
    >>> stream.move(0, 3), stream.move(0, 4), stream.move(1, 4)
    (11.0, 13.0, 11.0)
    >>> words = rollstat.GreedyAggregate(lambda older, newer: older | newer, dtype=object)
    >>> words.extend([{"b"}, {"a"}, {"b"}])
    >>> sorted(words.move(0, 2))
    ['a', 'b']
    """

    def __init__(
        self, operator: Any, *, min_periods: int | None = None, dtype: DTypeLike = np.float64
    ) -> None:
        self._with = Ingredients(operator, dtype)
        self._min_periods = min_periods
        self._least = 1 if min_periods is None else whole_number("min_periods", min_periods, 0)
        self.reset()

    def reset(self) -> None:
        """Forget all rows."""
        given = self._with
        self._tree: Any
        if given.objects:
            self._tree = ObjectTree(given.operator)
        else:
            self._tree = NumberTree(given.ready, given.layout, given.nothing)
        self._size = 0

    def push(self, *elements: Any) -> Any:
        """Take in a row, which moves no window, and return the result of the last one.

        Parameters
        ----------
        *elements
            The element, one number for each column of the operator. None and NaN are missing: they take a
            row, but are no observation.

        Raises
        ------
        TypeError, ValueError
            For an element that does not fit the dtype. Nothing has changed then.
        """
        if len(elements) != self._with.columns:
            raise TypeError(f"push takes {self._with.columns} arguments here; it was given {len(elements)}")
        self._tree.push(*self._with.element(elements, self.rows))
        return self.value

    def extend(self, *columns: ArrayLike) -> None:
        """Take in all elements of an array, one for each column."""
        values, missing = self._with.words_of(self._with.series(columns), self.rows)
        several = isinstance(values, tuple)
        for i in range(len(missing)):
            element = tuple(column[i] for column in values) if several else values[i]
            self._tree.push(element, not missing[i])

    def move(self, start: int, end: int) -> Any:
        """Move to the window of rows ``[start, end)``, and return its result.

        Parameters
        ----------
        start, end : int
            Its bounds, counted from the first row pushed, neither smaller than before. An empty window
            (``start == end``) may lie beyond the rows that have arrived; another may not.

        Raises
        ------
        TypeError, ValueError
            For bounds that are not whole numbers, move left or reach beyond what has arrived. Nothing has
            changed then.
        OverflowError
            If an exact result does not fit in 64 bits; the window has moved.
        """
        left, right = self.bounds
        start = whole_number("start", start, left)
        end = whole_number("end", end, max(right, start))
        if start < end and end > self.rows:
            raise ValueError(f"end must be at most the rows that have arrived, {self.rows}; it was {end}")
        self._size = self._tree.move(start, end)
        return self.value

    @property
    def value(self) -> Any:
        """The result of the last window; with too few observations the identity, NaN or None."""
        if self._size >= max(self._least, 1):
            return self._with.finish(self._tree.value())
        return self._with.lacking(self._size >= self._least)

    @property
    def bounds(self) -> tuple[int, int]:
        """The last window."""
        left, right = self._tree.bounds
        return left, right

    @property
    def rows(self) -> int:
        """Rows that have arrived."""
        return int(self._tree.rows)

    def __len__(self) -> int:
        """Rows of the last window."""
        left, right = self.bounds
        return right - left

    def copy(self) -> Self:
        """Return an equal stream that goes its own way."""
        other = type(self).__new__(type(self))
        other.__dict__.update(self.__dict__)
        other._tree = self._tree.copy()
        return other

    def __reduce__(self) -> Any:
        return _unpickle, (type(self), self.__dict__)

    def snapshot(self) -> bytes:
        """Return the state as bytes that :func:`rollstat.restore` reads, in this release and later ones."""
        specification = {
            "operator": self._with.named(),
            "min_periods": None if self._min_periods is None else int(self._min_periods),
            "dtype": self._with.elements.dtype.str,
            "size": int(self._size),
        }
        return write(type(self).__name__, specification, self._tree.state)

    @classmethod
    def _from_snapshot(cls, parameters: Mapping[str, Any], arrays: list[NDArray[Any]]) -> Self:
        operator = operator_named(*parameters["operator"])
        stream = cls(operator, min_periods=parameters["min_periods"], dtype=parameters["dtype"])
        stream._tree.adopt(arrays)
        stream._size = parameters["size"]
        return stream

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {self.rows} rows, window {self.bounds}, value {self.value!r}>"


def _unpickle(cls: Any, state: dict[str, Any]) -> Any:
    stream = cls.__new__(cls)
    stream.__dict__.update(state)
    return stream
