r"""A window that leaves out its newest row and the rows of the same time: ``closed="left"`` or ``"neither"``.

::

    rows before the newest ---> held window ---> result         A push moves the waiting rows that are older
    newest row, and rows of its time: waiting                   than the new one into the held window.

The held window is closed on the right. A push at time t also removes the rows that are too old at t.
"""

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from rollstat.options import choice
from rollstat.streaming.base import State, Window, rows_of

LAGGED = ("left", "neither")


class OuterWindow(Window):
    """A window that decides which rows another one holds.

    Parameters
    ----------
    held : Window
        The other window. It answers all that is not defined here.
    closed : {"right", "both", "left", "neither"}
        Which ends of a duration the window includes.
    """

    _newest: Any  # the time of the newest row in stored form, or None

    def __init__(self, held: Any, closed: str) -> None:
        self.held, self.closed, self.columns = held, closed, held.columns

    def __getattr__(self, name: str) -> Any:
        if name == "held" or name.startswith("__"):  # before a copy has its attributes
            raise AttributeError(name)
        return getattr(self.held, name)

    @property
    def value(self) -> Any:
        """The result."""
        return self.held.value

    def _leave_out(self, element: tuple[Any, bool]) -> None:
        """Tell the other window an encoded element of the newest row, which it does not hold."""
        number, missing = element
        self.held.outside = (None if missing else self.codec.stored.type(number),)

    def _check(self, columns: tuple[Any, ...], times: Any) -> tuple[list[Any], NDArray[Any] | None]:
        arrays = [self.codec.array(column) for column in columns]
        if len(arrays) != self.columns or len({len(array) for array in arrays}) != 1:
            lengths = [len(array) for array in arrays]
            raise TypeError(f"extend takes {self.columns} arrays of one length here; got lengths {lengths}")
        return arrays, self.spec.times_of_rows(times, len(arrays[0]), self._newest)


class LaggedWindow(OuterWindow):
    """A window of the rows before the newest one.

    Parameters
    ----------
    held : Window
        The window of these rows.
    closed : {"left", "neither"}
        Which ends of a duration the window includes.
    """

    def __init__(self, held: Any, closed: str) -> None:
        super().__init__(held, closed)
        self._waiting: list[tuple[tuple[Any, ...], Any]] = []  # elements and time of each row

    @property
    def _newest(self) -> Any:
        timed = self._waiting and self.held.spec.timed
        return self.held.spec.encode_time(self._waiting[-1][1]) if timed else None

    def push(self, elements: tuple[Any, ...], time: Any) -> Any:
        """Add a row, and return the result for the rows before it."""
        self.add(elements, time)
        return self.value

    def add(self, elements: tuple[Any, ...], time: Any) -> None:
        """Add a row without computing the result."""
        spec, before = self.held.spec, self._newest
        stored = spec.time_of_row(time, before)
        encoded = [self.codec.encode(x) for x in elements]
        self.changed = True
        if before is None or before < stored:
            for row in self._waiting:
                self.held.add(*row)
            self._waiting = []
        if spec.by_width:
            self.held.remove_until(spec.limit(stored, self.closed == "left"))
        self._waiting = [*self._waiting, (elements, time)]
        self._leave_out(encoded[0])
        self.changed = False

    # Arrays.

    def extend(self, columns: tuple[Any, ...], times: Any) -> list[Any]:
        """Add the rows of arrays, and return the results after each row, an array for each output."""
        arrays, _ = self._check(columns, times)
        return self._extend_by_pushes(arrays, times)

    def load_tail(self, columns: tuple[Any, ...], times: Any) -> None:
        """Add the rows of arrays to an empty window, without results."""
        arrays, stored = self._check(columns, times)
        first = max(len(arrays[0]) - 1, 0)
        if stored is not None:
            first = int(np.searchsorted(stored, stored[-1:])[0]) if first else 0
        self.changed = True
        self.held.load_tail(tuple(a[:first] for a in arrays), None if times is None else times[:first])
        for row in rows_of([a[first:] for a in arrays], None if times is None else times[first:]):
            self.add(*row)

    # Whole windows.

    def _renew(self) -> None:
        self.held, self._waiting = self.held.copy(empty=True), []

    def _separate(self) -> None:
        self.held = self.held.copy()

    def state(self) -> State:
        """Return parameters and arrays for a snapshot."""
        parameters, arrays = self.held.state()
        codec, spec, rows = self.codec, self.held.spec, self._waiting
        encoded = np.array([[codec.encode(x) for x in elements] for elements, _ in rows], object)
        encoded = encoded.reshape(len(rows), self.columns, 2)
        times = [spec.encode_time(t) for _, t in rows if spec.timed]
        own = [encoded[..., 0].astype(codec.stored), encoded[..., 1].astype(np.uint8)]
        return parameters | {"closed": self.closed}, [*arrays, *own, np.array(times, spec.time_dtype)]

    @classmethod
    def from_state(cls, restore: Any, parameters: Mapping[str, Any], arrays: list[NDArray[Any]]) -> Self:
        """Return the window that a snapshot contains, or raise ValueError; `restore` makes the held one."""
        *states, values, missing, times = arrays
        closed = choice("closed", parameters["closed"], LAGGED)
        held = {name: value for name, value in parameters.items() if name != "closed"}
        window = cls(restore(held, states), closed)
        codec, spec, shape = window.codec, window.held.spec, (len(values), window.columns)
        if values.dtype != codec.stored or not values.shape == missing.shape == shape:
            raise ValueError("its waiting rows have other shapes or dtypes")
        marks = missing.astype(np.bool_)
        codec.check_stored(values, marks)
        columns = [codec.decode_array(each, mark) for each, mark in zip(values.T, marks.T)]
        stamps = None
        if spec.timed:
            stamps = times.astype("M8[ns]") if spec.kind == "time" else times
        if times.dtype != spec.time_dtype or len(times) != len(values) * spec.timed or len(set(times)) > 1:
            raise ValueError("its waiting rows must have one time")
        for row in rows_of(columns, stamps):
            window.add(*row)
        window.changed = False
        return window
