"""An associative operator over a window of a stream, in compiled code."""

from collections.abc import Mapping
from functools import partial
from typing import Any, Self

import numpy as np
from numba import config, typeof
from numpy.typing import ArrayLike, DTypeLike, NDArray

import rollstat.operators as operators
from rollstat.kernels import window_stream
from rollstat.kernels.state_queue import END, FRONT, grow
from rollstat.kernels.stream_aggregates import push_row
from rollstat.kernels.window_stream import Daba, TwoStacks
from rollstat.operators.interface import NOTHING, arguments_of_lift, empty_result, for_dtype
from rollstat.options import choice, whole_number
from rollstat.snapshots import write
from rollstat.streaming.elements import Elements
from rollstat.streaming.span import Span
from rollstat.streaming.stream import Stream

__all__ = ["Aggregate"]

_KINDS: dict[str, Any] = {"two_stacks": TwoStacks, "daba": Daba}
_ALGORITHMS: dict[str, Any] = {name: kind() for name, kind in _KINDS.items()}
_FIRST_CAPACITY = 64
_MANY_ROWS = 2**62


class Aggregate(Stream, abstract=True):
    """An operator over a window of a stream, in compiled code.

    Parameters
    ----------
    operator : Operator
        From :mod:`rollstat.operators` or alike, or a function of two states.
    span : Span
        The window.
    min_periods : int, optional
        Least number of observations for a result.
    dtype : dtype
        Of the elements.
    algorithm : {"two_stacks", "daba"}
        ``"two_stacks"`` for throughput, ``"daba"`` for O(1) combinations in every single step.
    """

    def __init__(
        self, operator: Any, span: Any, *, min_periods: Any, dtype: DTypeLike, algorithm: str
    ) -> None:
        choice("algorithm", algorithm, tuple(_ALGORITHMS))
        self._span = Span.parse(span)
        self._operator = operators.as_operator(operator)
        self._elements = Elements(dtype, "fiub")
        self._algorithm = algorithm
        self._columns = arguments_of_lift(self._operator) - bool(getattr(self._operator, "with_row", False))
        self._with_row = bool(getattr(self._operator, "with_row", False))
        self._min_periods = min_periods
        self._least = self._span.least(min_periods)
        self._ready = for_dtype(self._operator, self._elements.computing)
        word = self._elements.computing.type
        sample = [np.ones(1, word)] * self._columns + [np.zeros(1, np.int64)] * self._with_row
        self._layout = operators.describe(self._ready, tuple(sample) if len(sample) > 1 else sample[0])
        self._identity = empty_result(self._ready)
        self.reset()

    def reset(self) -> None:
        """Forget all rows."""
        kind = _ALGORITHMS[self._algorithm]
        self._header, self._cells = kind.create(self._layout.state, self._span.fixed or _FIRST_CAPACITY)
        timed = self._span.kind == "number"
        self._stamps: NDArray[Any] = np.zeros(len(self._cells), np.float64 if timed else np.int64)
        # The number of the next row, the rows of the window, the first row of it.
        self._rows = np.array([0, self._span.fixed or _MANY_ROWS, 0], np.int64)
        self._last: Any = None
        outs = tuple(np.zeros((1, *dtype.shape), dtype.base) for dtype in self._layout.outputs)
        self._out: Any = outs[0] if self._layout.single else outs
        self._failed = np.zeros(1, np.bool_)
        self._bind()

    def _slide(self, limit: Any, stamp: Any, element: Any, observed: bool) -> bool:
        """Move the window on; False if there is no room, and nothing has happened."""
        word = self._stamps.dtype.type
        self._failed[0] = False
        held = window_stream.slide(
            _ALGORITHMS[self._algorithm],
            self._ready,
            self._header,
            self._cells,
            self._stamps,
            word(limit),
            False,
            word(stamp),
            element,
            observed,
            max(self._least, 1),
            self._out,
            self._failed,
        )
        return bool(held >= 0)

    def _nothing(self) -> Any:
        """An element that is not taken in."""
        words = [self._elements.computing.type(0)] * self._columns + [np.int64(0)] * self._with_row
        return tuple(words) if len(words) > 1 else words[0]

    def _bind(self) -> None:
        """Find the compiled code of a push of a float into a window of rows."""
        self._step: Any = None
        single = self._layout.single and self._layout.outputs[0] == np.float64
        plain = self._columns == 1 and not self._with_row and self._elements.dtype == np.float64
        if not (self._span.fixed and single and plain and self._identity_unused()):
            return
        assert isinstance(self._out, np.ndarray)
        arrays = (self._header, self._cells, self._stamps, self._rows, self._out, self._failed)
        before = (_ALGORITHMS[self._algorithm], self._ready)
        after = (max(self._least, 1),)
        if config.DISABLE_JIT:
            self._step = partial(push_row, *before, *arrays, *after)
            return
        signature = tuple(typeof(argument) for argument in (*before, *arrays, *after, 0.5))
        if signature not in push_row.overloads:
            push_row(*before, *(array.copy() for array in arrays), *after, 0.5)
        self._step = partial(push_row.overloads[signature].entry_point, *before, *arrays, *after)

    def _identity_unused(self) -> bool:
        return self._least > 0 or self._identity is NOTHING

    def push(self, *elements: Any) -> Any:
        """Take in an element, let go of what leaves the window, and return the result.

        Parameters
        ----------
        *elements
            The element, one number for each column of the operator; then its time, where the window is
            a width. None and NaN are missing: they take a row, but are no observation.

        Raises
        ------
        TypeError, ValueError
            For an element that does not fit the dtype, or a time that is missing or before the last one.
            Nothing has changed then.
        OverflowError
            If an exact result does not fit in 64 bits; the element has been taken in.
        """
        if self._step is not None and len(elements) == 1 and type(elements[0]) is float:
            return self._step(elements[0])
        wanted = self._columns + self._span.timed
        if len(elements) != wanted:
            raise TypeError(f"push takes {wanted} arguments here; it was given {len(elements)}")
        encoded = [self._elements.encode(x) for x in elements[: self._columns]]
        words = [self._elements.computing.type(word) for word, _ in encoded]
        observed = not any(missing for _, missing in encoded)
        row = int(self._rows[0])
        stamp, limit = row, row - int(self._rows[1])
        if self._span.timed:
            stamp = self._span.stamp(elements[-1])
            if self._last is not None and stamp < self._last:
                raise ValueError(f"t must not decrease; it was {stamp} after {self._last}")
            limit = stamp - self._span.size
            self._last = stamp
        elif self._span.free:
            limit = int(self._rows[2]) - 1
        if self._with_row:
            words.append(np.int64(row))
        element = tuple(words) if len(words) > 1 else words[0]
        while not self._slide(limit, stamp, element, observed):
            self._grow()
        self._rows[0] = row + 1
        return self._result()

    def _grow(self) -> None:
        room = 2 * (int(self._header[END]) - int(self._header[FRONT]) + 1)
        self._cells, self._stamps = grow(self._header, [self._cells, self._stamps], room)
        self._bind()

    @property
    def observations(self) -> int:
        """Observations in the window."""
        return int(self._header[END] - self._header[FRONT])

    def __len__(self) -> int:
        """Rows in the window; in a window by time, observations in it."""
        if self._span.timed:
            return self.observations
        rows = int(self._rows[0] - self._rows[2])
        return min(rows, self._span.fixed or rows)

    @property
    def full(self) -> bool:
        """Whether a window of a fixed number of rows has as many; other windows never are."""
        return bool(self._span.fixed) and len(self) == self._span.fixed

    @property
    def value(self) -> Any:
        """The result; without observations the identity if `min_periods` is 0, else NaN or None."""
        self._slide(-_MANY_ROWS, 0, self._nothing(), False)
        return self._result()

    def _result(self) -> Any:
        """What the latest step wrote."""
        count = self.observations
        if count >= max(self._least, 1):
            if self._failed[0]:
                raise OverflowError("the exact result does not fit in 64 bits")
            return self._plain(self._out[0] if self._layout.single else tuple(out[0] for out in self._out))
        if count >= self._least and self._identity is not NOTHING:
            return self._plain(self._identity)
        lacking = [np.nan if dtype.kind == "f" else None for dtype in self._layout.outputs]
        return lacking[0] if self._layout.single else tuple(lacking)

    def _plain(self, result: Any) -> Any:
        if not self._layout.single:
            return tuple(item.item() if isinstance(item, np.generic) else item for item in result)
        if isinstance(result, np.ndarray):
            return result.copy()
        result = result.item() if isinstance(result, np.generic) else result
        return float(np.float32(result)) if self._elements.dtype == np.float32 else result

    def pop(self, n: int = 1) -> Any:
        """Let go of the `n` oldest rows of a window of free size, and return the result.

        Raises
        ------
        ValueError, TypeError
            If there are fewer, or the window has its own rule. Nothing has changed then.
        """
        if not self._span.free:
            raise TypeError("pop needs a window of free size")
        number = whole_number("n", n, 0)
        if number > len(self):
            raise ValueError(f"n must be at most the rows in the window, {len(self)}; it was {n}")
        self._rows[2] += number
        self._slide(self._rows[2] - 1, 0, self._nothing(), False)
        return self._result()

    def extend(self, *columns: ArrayLike, times: ArrayLike | None = None) -> Any:
        """Take in all elements of an array, one for each column, and return the result after each.

        Returns
        -------
        ndarray or tuple of ndarray
            Equal to pushing one by one, to the bit; float64 with NaN where a result may be missing.
        """
        if len(columns) != self._columns:
            raise TypeError(f"extend takes {self._columns} arrays here; it was given {len(columns)}")
        series = [self._elements.array(column) for column in columns]
        if len({len(column) for column in series}) > 1:
            raise ValueError("the arrays must be as long as each other")
        pairs = [self._elements.words(column) for column in series]
        missing: NDArray[np.bool_] = np.logical_or.reduce([marks for _, marks in pairs])
        n = len(missing)
        words = [column for column, _ in pairs]
        row = int(self._rows[0])
        stamps: NDArray[Any] = np.arange(row, row + n)
        span: Any = self._rows[1]
        if self._span.free:
            span = np.int64(_MANY_ROWS)
        if self._span.timed:
            if times is None:
                raise TypeError("times must be given: the window is a width")
            stamps = np.ascontiguousarray(self._span.stamps(times))
            before = stamps[:1] if self._last is None else np.array([self._last], stamps.dtype)
            if len(stamps) != n or (np.diff(np.concatenate([before, stamps])) < 0).any():
                raise ValueError("times must be as many as the elements, and never decrease")
            span = stamps.dtype.type(self._span.size)
        elif times is not None:
            raise TypeError("times do not apply: the window is no width")
        if self._with_row:
            words.append(np.arange(row, row + n))
        values = tuple(words) if len(words) > 1 else words[0]
        outs = tuple(np.zeros((n, *dtype.shape), dtype.base) for dtype in self._layout.outputs)
        count, failed = np.zeros(n, np.int64), np.zeros(n, np.bool_)
        done = 0
        while True:
            done = window_stream.extend(
                _ALGORITHMS[self._algorithm],
                self._ready,
                self._header,
                self._cells,
                self._stamps,
                span,
                False,
                stamps,
                values,
                missing,
                done,
                outs[0] if self._layout.single else outs,
                count,
                failed,
            )
            if done == n:
                break
            self._grow()
        self._rows[0] = row + n
        if self._span.timed and n:
            self._last = stamps[-1].item()
        if (failed & (count >= max(self._least, 1))).any():
            raise OverflowError("an exact result does not fit in 64 bits")
        finished = [self._masked(out, count) for out in outs]
        return finished[0] if self._layout.single else tuple(finished)

    def _masked(self, out: NDArray[Any], count: NDArray[np.int64]) -> NDArray[Any]:
        """Results with NaN, or the identity, where there are too few observations."""
        if self._least == 0 and self._identity is not NOTHING and self._layout.single:
            out[count == 0] = self._identity
            lacking = count < 0
        else:
            lacking = count < max(self._least, 1)
        if lacking.any() or out.dtype == np.float64:
            out = out.astype(np.float64, copy=False)
            out[lacking] = np.nan
        return out.astype(np.float32) if self._elements.dtype == np.float32 else out

    def copy(self) -> Self:
        """Return an equal stream that goes its own way."""
        other = type(self).__new__(type(self))
        other.__dict__.update(self.__dict__)
        for name in ("_header", "_cells", "_stamps", "_rows", "_failed"):
            setattr(other, name, getattr(self, name).copy())
        out = self._out
        other._out = out.copy() if self._layout.single else tuple(item.copy() for item in out)
        other._bind()
        return other

    def __reduce__(self) -> Any:
        state = {key: value for key, value in self.__dict__.items() if key != "_step"}
        return _unpickle, (type(self), state)

    def _specification(self) -> dict[str, Any]:
        cls = type(self._operator)
        if not cls.__module__.startswith("rollstat.operators"):
            raise TypeError("a snapshot holds no code: with an operator of your own, pickle the stream")
        return {
            "operator": [cls.__name__, list(self._operator)],
            "window": [self._span.kind, self._span.size],
            "min_periods": None if self._min_periods is None else int(self._min_periods),
            "dtype": self._elements.dtype.str,
            "algorithm": self._algorithm,
            "last": self._last,
        }

    def snapshot(self) -> bytes:
        """Return the state as bytes that :func:`rollstat.restore` reads, in this release and later ones."""
        arrays = [self._header, self._cells, self._stamps, self._rows]
        return write(type(self).__name__, self._specification(), arrays)

    @classmethod
    def _from_snapshot(cls, parameters: Mapping[str, Any], arrays: list[NDArray[Any]]) -> Self:
        name, fields = parameters["operator"]
        if name not in operators.__all__:
            raise ValueError(f"there is no operator {name}")
        stream = cls.__new__(cls)
        Aggregate.__init__(
            stream,
            getattr(operators, name)(*fields),
            Span(*parameters["window"]),
            min_periods=parameters["min_periods"],
            dtype=parameters["dtype"],
            algorithm=parameters["algorithm"],
        )
        header, cells, stamps, rows = arrays
        shapes = header.shape == stream._header.shape and cells.shape[1:] == stream._cells.shape[1:]
        kinds = stamps.dtype == stream._stamps.dtype and rows.shape == (3,) and len(stamps) == len(cells)
        cells = np.ascontiguousarray(cells).astype(stream._cells.dtype)
        if not (shapes and kinds and _ALGORITHMS[stream._algorithm].check(header, cells)):
            raise ValueError("its arrays do not fit together")
        stream._header, stream._cells, stream._stamps, stream._rows = header, cells, stamps, rows
        stream._last = parameters["last"]
        stream._bind()
        return stream

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {len(self)} rows, value {self.value!r}>"


def _unpickle(cls: Any, state: dict[str, Any]) -> Any:
    stream = cls.__new__(cls)
    stream.__dict__.update(state)
    stream._bind()
    return stream
