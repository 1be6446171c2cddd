r"""What all streams share: pushing, copies and snapshots.

::

    push(x) ---> quick: one compiled step, where the window is rows and x a float
           \--> else:  encode x, check t, pop what leaves, push, decode the answer

A stream keeps its window in a *core*, arrays that compiled kernels work on. A core can list its rows and
be loaded with rows, which is all that extending (:mod:`rollstat.streaming.bulk_extend`), snapshots and
merging need.
"""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from rollstat.algorithms.bound_calls import bind_step
from rollstat.options import whole_number
from rollstat.snapshots import write
from rollstat.streaming.bulk_extend import Extending, Quick
from rollstat.streaming.codec import Elements
from rollstat.streaming.window_spec import Span, Stamps

__all__ = ["RollingStream"]


class RollingStream(Extending, abstract=True):
    """A registered statistic over a stream, one element at a time.

    Parameters
    ----------
    window : int, float, str, timedelta, Expanding or None
        The last so many rows; or a width, with the time of each element given to `push`: the window is
        then ``(t - width, t]``; or everything; or what :meth:`pop` leaves.
    min_periods : int, optional
        Least number of observations for an answer; by default the window for a number of rows, else 1.
    dtype : dtype
        Of the elements.
    """

    kinds: ClassVar[str] = "fiubMm"

    def __init__(
        self, window: Any, *, min_periods: Any, dtype: DTypeLike, parameters: dict[str, Any]
    ) -> None:
        self._span = Span.parse(window)
        self._elements = Elements(dtype, self.kinds)
        self._min_periods = min_periods
        self._least = self._span.least(min_periods)
        self._parameters = parameters
        self._stamps = Stamps(np.float64 if self._span.kind == "number" else np.int64)
        self._core = self._make_core()
        self._bind()

    # What a statistic provides.

    def _make_core(self) -> Any:
        raise NotImplementedError  # every class that is not abstract has its own

    def _quick_step(self) -> Quick | None:
        """Compiled step of a float into a window of rows, if there is one, and its arguments."""
        return None

    # The rest.

    def _bind(self) -> None:
        self._step: Any = None
        self._state: Any = None
        self._quick = None
        if self._span.fixed and self._elements.dtype == np.float64:
            self._quick = self._quick_step()
            if self._quick is not None:
                step, arguments = self._quick
                if step.push is not None:
                    self._step, self._state = _bound(step.push, *arguments)

    def push(self, x: Any, t: Any = None) -> Any:
        """Take in an element, let go of what leaves the window, and return the answer.

        Parameters
        ----------
        x : number, datetime64, timedelta64 or None
            The element; None, NaN and NaT are missing: they take a row, but are no observation.
        t : number, datetime or timedelta, optional
            Its time, never before the last one, where the window is a width.

        Returns
        -------
        value
            As :attr:`value`.

        Raises
        ------
        TypeError, ValueError
            For an element that does not fit the dtype, or a time that is missing or before the last one.
            Nothing has changed then.
        """
        step = self._step
        if step is not None and t is None:
            try:
                return step(self._state, x)
            except TypeError:  # x is no float: nothing has changed
                pass
        return self._push(x, t)

    def _push(self, x: Any, t: Any) -> Any:
        word, missing = self._elements.encode(x)
        self._move(t)
        self._core.push(word, missing)
        return self.value

    def _move(self, t: Any) -> None:
        """Move a window by time to `t`, or raise."""
        if not self._span.timed:
            if t is not None:
                raise TypeError("t does not apply: the window is no width")
            return
        stamp = self._span.stamp(t)
        self._stamps.check(stamp)
        gone = self._stamps.up_to(self._span.limit(stamp))
        if gone:
            self._stamps.drop(gone)
            self._core.pop(gone)
        self._stamps.append(stamp)

    @property
    def value(self) -> Any:
        """The answer of the window as it is; NaN, NaT, None or -1 where there is none."""
        decode = self._elements.decode
        answers = tuple(decode(word, kind) for word, kind in zip(self._answer(), self.answer_kinds))
        return answers if len(answers) > 1 else answers[0]

    @property
    def full(self) -> bool:
        """Whether a window of a fixed number of rows has as many; other windows never are."""
        return bool(self._span.fixed) and len(self) == self._span.fixed

    def pop(self, n: int = 1) -> Any:
        """Let go of the `n` oldest rows of a window that was made with ``None``, and return the answer.

        Raises
        ------
        ValueError, TypeError
            If there are fewer, or the window has its own rule. Nothing has changed then.
        """
        if not self._span.free:
            raise TypeError("pop needs a window of free size, made with None")
        number = whole_number("n", n, 0)
        if number > len(self):
            raise ValueError(f"n must be at most the rows in the window, {len(self)}; it was {n}")
        self._core.pop(number)
        return self.value

    @classmethod
    def from_tail(
        cls, array: ArrayLike, *arguments: Any, times: ArrayLike | None = None, **options: Any
    ) -> Self:
        """Return a stream that goes on where an array ends.

        Parameters
        ----------
        array : array_like, 1-d
            A series, or its last rows: at least as many as the window has.
        *arguments, **options
            What the class is made with.
        times : array_like, 1-d, optional
            Times of the rows, where the window is a width.

        Returns
        -------
        stream
            As if each element had been pushed.
        """
        stream = cls(*arguments, **options)
        series, stamps = stream._check_new(array, times)
        stream._absorb(series, stamps, len(series))
        return stream

    def merge(self, other: Self) -> None:
        """Take in all that `other` has seen, as if it had been pushed here; both windows are expanding.

        Raises
        ------
        TypeError, ValueError
            If `other` is not alike. Nothing has changed then.
        """
        if type(other) is not type(self) or self._span.kind != "expanding":
            raise TypeError(f"merge needs two {type(self).__name__} with the window Expanding()")
        if other._specification() != self._specification():
            raise ValueError("merge needs streams made with the same parameters")
        self._merge(other)

    def _merge(self, other: Any) -> None:
        self._absorb(self._with(other._rows()), None, self._core.pushed + other._core.pushed)

    def reset(self) -> None:
        """Forget all rows."""
        if self._span.fixed:
            self._core.load(np.empty(0, self._elements.computing), np.empty(0, np.bool_), 0)
            return
        self._stamps = Stamps(self._stamps.dtype)
        self._core = self._make_core()

    def copy(self) -> Self:
        """Return an equal stream that goes its own way."""
        other = type(self).__new__(type(self))
        other.__dict__.update(self.__dict__)
        other._core = self._core.copy()
        other._stamps = self._stamps.copy()
        other._bind()
        return other

    def _specification(self) -> dict[str, Any]:
        """What the stream is made with, as JSON has it."""
        return {
            "window": [self._span.kind, self._span.size],
            "min_periods": None if self._min_periods is None else int(self._min_periods),
            "dtype": self._elements.dtype.str,
            "own": self._parameters,
        }

    def snapshot(self) -> bytes:
        """Return the state as bytes that :func:`rollstat.restore` reads, in this release and later ones."""
        words, missing = self._core.contents()
        pushed = np.array([self._core.pushed], np.int64)
        arrays = [words, missing.astype(np.uint8), self._stamps.held, pushed]
        return write(type(self).__name__, self._specification(), arrays)

    @classmethod
    def _made_again(cls, parameters: Mapping[str, Any]) -> Self:
        kind, size = parameters["window"]
        stream = cls.__new__(cls)
        span = Span(kind, size)
        RollingStream.__init__(
            stream,
            span,
            min_periods=parameters["min_periods"],
            dtype=parameters["dtype"],
            parameters=dict(parameters["own"]),
        )
        return stream

    @classmethod
    def _from_snapshot(cls, parameters: Mapping[str, Any], arrays: list[NDArray[Any]]) -> Self:
        stream = cls._made_again(parameters)
        words, missing, stamps, pushed = arrays
        rows = len(words)
        if words.dtype != stream._elements.computing or missing.shape != words.shape or words.ndim != 1:
            raise ValueError("its arrays are of other shapes or dtypes")
        if stream._span.timed and (stamps.shape != words.shape or stamps.dtype != stream._stamps.dtype):
            raise ValueError("its times do not fit its rows")
        if int(pushed[0]) < rows or (stream._span.fixed and rows > stream._span.fixed):
            raise ValueError("it has more rows than its window")
        if stream._span.timed:
            stream._stamps.load(stamps)
        marks = missing.astype(np.bool_)
        if words.dtype.kind == "f":
            marks |= np.isnan(words)
        stream._core.load(words, marks, int(pushed[0]))
        stream._bind()
        return stream

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {len(self)} rows, value {self.value!r}>"


def _bound(kernel: Any, *arguments: Any) -> tuple[Callable[[Any, float], Any], Any]:
    """Return the compiled code of a step with these arguments, to be called with the last one and a float.

    The code is called without a look at the types of its arguments, which takes longer than many a step:
    the arguments are known, and what is no float is a TypeError. The last one is not bound, because a call
    through `partial` takes longer too.
    """
    *leading, last = arguments
    code = bind_step(kernel, *arguments)
    return (partial(code, *leading) if leading else code), last
