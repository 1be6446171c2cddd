"""What the windows of statistics keep of their rows, in arrays that compiled kernels work on.

::

    push, pop, load ---> arrays ---> rows, count, pushed, part ---> answers, snapshots, merging

- :class:`HeapWindow`: indexed heaps, for order statistics; :class:`TreeWindow`: three trees instead.
- :class:`WindowPair`: heaps for each of two quantiles.
- :class:`MonotonicWindow`: a monotonic deque, for one extremum; :class:`WedgeWindow`: a wedge, for both.
- :class:`SortedWindow`: a sorted array, for statistics of all observations.
"""

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from rollstat.kernels.extrema import monotonic_deque, wedge
from rollstat.kernels.rank_space import sorted_window
from rollstat.kernels.rings import SMALLEST, read_ring, ring_size, suitable_size, write_ring
from rollstat.kernels.selection import three_trees, two_heaps
from rollstat.kernels.selection.weight_balanced_tree import BEFORE, RECORD
from rollstat.statistics.selection.row_by_row import partitioned

Rows = tuple[NDArray[Any], NDArray[np.bool_]]


class ArrayWindow:
    """Rows of a window, in a tuple of arrays.

    Parameters
    ----------
    fixed : int
        Rows of a window of a fixed number of rows, of which a push drops the oldest when it is full; 0 for a
        window of any number of rows, whose capacity grows and shrinks; see :mod:`rollstat.kernels.rings`.
    dtype : dtype
        Of the encoded values.

    Attributes
    ----------
    arrays : tuple of ndarray
        The state; the first is a header. `slots` are its places of `rows`, `count` and `pushed`.
    kernels : module
        The module of :mod:`rollstat.kernels` that creates, pushes and pops.
    """

    kernels: Any
    slots: tuple[int, int, int]
    arrays: Any

    def __init__(self, fixed: int, dtype: np.dtype[Any]) -> None:
        self.fixed, self.dtype = fixed, dtype
        self.capacity = fixed or SMALLEST
        self._set_arrays(self._create(self.capacity))

    def _set_arrays(self, arrays: Any) -> None:
        self.arrays = arrays

    @property
    def state(self) -> Any:
        """What compiled steps take: arrays, in tuples."""
        return self.arrays

    @property
    def memory(self) -> tuple[NDArray[Any], ...]:
        """The arrays of the state."""
        arrays: tuple[NDArray[Any], ...] = self.state
        return arrays

    def _create(self, capacity: int) -> Any:
        """Return the arrays of an empty window of at most `capacity` rows."""
        return self.kernels.create(capacity, self.dtype)

    def _load(self, values: NDArray[Any], missing: Any, pushed: int) -> None:
        """Replace all rows, at most as many as the capacity."""
        raise NotImplementedError  # every class of states has its own

    def part(self, number: int) -> Rows:
        """Return values and missing marks of the `number` oldest rows."""
        raise NotImplementedError  # every class of states has its own

    @property
    def rows(self) -> int:
        """Rows in the window."""
        return int(self.arrays[0][self.slots[0]])

    @property
    def count(self) -> int:
        """Observations in the window."""
        return int(self.arrays[0][self.slots[1]])

    @property
    def pushed(self) -> int:
        """Rows of the stream so far."""
        return int(self.arrays[0][self.slots[2]])

    def contents(self) -> Rows:
        """Return values and missing marks of the rows, oldest first."""
        return self.part(self.rows)

    def push(self, value: Any, missing: bool) -> None:
        """Add a row."""
        self.make_room()
        self.kernels.push(*self.arrays, self.dtype.type(value), bool(missing))

    def insert(self, newer: int, value: Any, missing: bool) -> None:
        """Add a row before the `newer` newest ones."""
        values, marks = self.contents()
        place = len(values) - newer
        self.load(np.insert(values, place, value), np.insert(marks, place, missing), self.pushed + 1)

    def pop(self, number: int) -> None:
        """Remove the oldest rows."""
        self.kernels.pop(*self.arrays, number)

    def make_room(self) -> None:
        """Before a push, grow a full window of any number of rows, and shrink one that is nearly empty."""
        if self.fixed:
            return
        rows = self.rows + 1
        size = 2 * self.capacity if rows > self.capacity else suitable_size(rows, self.capacity)
        if size != self.capacity:
            self.load(*self.contents(), self.pushed, size)

    def load(self, values: NDArray[Any], missing: Any, pushed: int, capacity: int = SMALLEST) -> None:
        """Replace all rows; the last is row ``pushed - 1`` of the stream.

        A window of any number of rows gets at least this capacity.
        """
        if not self.fixed:
            self.capacity = max(ring_size(len(values)), capacity)
            self._set_arrays(self._create(self.capacity))
        self._load(values, missing, pushed)

    def copy(self) -> Self:
        """Return an equal window with its own memory."""
        other = type(self).__new__(type(self))
        other.__dict__.update(self.__dict__)
        other._set_arrays(tuple(array.copy() for array in self.arrays))
        return other


class HeapWindow(ArrayWindow):
    """A window in two heaps; see :mod:`rollstat.kernels.selection.two_heaps`.

    Parameters
    ----------
    fixed, dtype
        As in :class:`ArrayWindow`.
    **rule
        `k`, `q`, `min_periods` and `ties` of :func:`rollstat.kernels.selection.two_heaps.create`.
    """

    kernels = two_heaps
    slots = two_heaps.ROWS, two_heaps.COUNT, two_heaps.PUSHED

    def __init__(self, fixed: int, dtype: np.dtype[Any], **rule: Any) -> None:
        self.rule = rule
        super().__init__(fixed, dtype)

    def _create(self, capacity: int) -> Any:
        return two_heaps.create(capacity, self.dtype, width=capacity, **self.rule)

    @property
    def position(self) -> int:
        """Row of the latest answer."""
        return int(self.arrays[0][two_heaps.POSITION])

    def pair(self) -> tuple[Any, Any]:
        """Return the order statistic and the next one of a window with observations."""
        header, keys, _ = self.arrays
        return keys[0], keys[header[two_heaps.CAPACITY]] if header[two_heaps.HIGH] else keys[0]

    def part(self, number: int) -> Rows:
        """Return values and missing marks of the `number` oldest rows."""
        header, keys, links = self.arrays
        capacity = int(header[two_heaps.CAPACITY])
        places = read_ring(links[2 * capacity : 3 * capacity], int(header[two_heaps.OLDEST]), number)
        missing = places < 0
        values = keys[places]
        values[missing] = np.nan if self.dtype.kind == "f" else 0
        return values, missing

    def _load(self, values: NDArray[Any], missing: Any, pushed: int) -> None:
        count = len(values) - int(np.count_nonzero(missing))
        target = min(int(two_heaps.target(self.arrays[0], count)), count)
        order = partitioned(values, missing if count < len(values) else None, target, self.rule["ties"])
        two_heaps.load(*self.arrays, values, 0, len(values), order, target)
        self.arrays[0][two_heaps.PUSHED] = pushed
        two_heaps.pop(*self.arrays, 0)


class TreeWindow(HeapWindow):
    """A window of a fixed number of rows in trees; see :mod:`rollstat.kernels.selection.three_trees`."""

    slots = three_trees.PUSHED, three_trees.COUNT, three_trees.PUSHED

    def _create(self, capacity: int) -> Any:
        make = three_trees.create_for_quantile if "q" in self.rule else three_trees.create
        return make(self.rule.get("q", self.rule.get("k")), capacity, self.dtype, self.rule["min_periods"])

    @property
    def rows(self) -> int:
        """Rows in the window."""
        return min(self.pushed, self.capacity)

    @property
    def pushed(self) -> int:
        """Rows of the stream so far."""
        header = self.arrays[0]
        return int(header[three_trees.ORIGIN] + header[three_trees.PUSHED])

    @property
    def position(self) -> int:
        """Row of the latest answer."""
        return int(self.arrays[0][three_trees.POSITION])

    def pair(self) -> tuple[Any, Any]:
        """Return the order statistics around the quantile, or the k-th smallest twice."""
        header, _, values = self.arrays
        if "q" in self.rule:
            newest = three_trees.FIRST + int(header[three_trees.PUSHED] - 1) % self.capacity
            below, above = three_trees.neighbours(*self.arrays, newest, self.rule["q"])
            return self.dtype.type(below), self.dtype.type(above)
        place = int(header[three_trees.POSITION] - header[three_trees.ORIGIN]) % self.capacity
        value = values[three_trees.FIRST + place]
        return value, value

    def push(self, value: Any, missing: bool) -> None:
        """Add a row."""
        push = three_trees.advance if "q" in self.rule else three_trees.push
        push(*self.arrays, self.dtype.type(value), bool(missing))

    def part(self, number: int) -> Rows:
        """Return values and missing marks of the `number` oldest rows."""
        header, links, values = self.arrays
        first = int(header[three_trees.PUSHED]) - self.rows
        nodes = three_trees.FIRST + np.arange(first, first + number) % self.capacity
        return values[nodes], links[0, RECORD * nodes + BEFORE] == -1

    def _load(self, values: NDArray[Any], missing: Any, pushed: int) -> None:
        for array, empty in zip(self.arrays, self._create(self.capacity)):
            array[..., : empty.shape[-1]] = empty
        self.arrays[0][three_trees.ORIGIN] = pushed - len(values)
        if "q" in self.rule:
            three_trees.load(*self.arrays, values, missing)
        else:
            three_trees.extend(*self.arrays, values, missing, values[:0], np.empty(0, np.int64))


def _of_both(name: str) -> Any:
    """Return a method that calls that of this name of both windows of a pair."""

    def method(self: "WindowPair", *arguments: Any) -> None:
        for window in self.pair:
            getattr(window, name)(*arguments)

    return method


class WindowPair:
    """Two windows of the same rows."""

    push, pop, insert, load, make_room = map(_of_both, ("push", "pop", "insert", "load", "make_room"))

    def __init__(self, first: Any, second: Any) -> None:
        self.pair = (first, second)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.pair[0], name)  # what is known of the rows

    @property
    def state(self) -> Any:
        """What compiled steps take: arrays, in tuples."""
        return tuple(window.state for window in self.pair)

    @property
    def memory(self) -> tuple[NDArray[Any], ...]:
        """The arrays of the state."""
        return (*self.pair[0].memory, *self.pair[1].memory)

    def copy(self) -> "WindowPair":
        """Return an equal pair with its own memory."""
        return WindowPair(*(window.copy() for window in self.pair))


class WedgeWindow(ArrayWindow):
    """A window with a wedge, and its rows in a ring beside it; see :mod:`rollstat.kernels.extrema.wedge`.

    Parameters
    ----------
    fixed, dtype
        As in :class:`ArrayWindow`.
    ties : str
        As in :func:`rollstat.kernels.extrema.wedge.create`.
    """

    slots = wedge.NEXT, wedge.OBSERVED, wedge.NEXT

    def __init__(self, fixed: int, dtype: np.dtype[Any], ties: str) -> None:
        self.ties = ties
        super().__init__(fixed, dtype)

    def _create(self, capacity: int) -> Any:
        arrays = wedge.create(capacity, self.dtype, ties=self.ties)
        return *arrays, np.zeros(len(arrays[3]), self.dtype)

    @property
    def rows(self) -> int:
        """Rows in the window."""
        header = self.arrays[0]
        return int(header[wedge.NEXT] - header[wedge.OLDEST])

    def extrema(self) -> tuple[Any, Any]:
        """Return minimum and maximum of a window with observations."""
        header, position, value = self.arrays[:3]
        return wedge.minimum(header, position, value), wedge.maximum(header, position, value)

    def positions(self) -> tuple[int, int]:
        """Return the rows of minimum and maximum of a window with observations."""
        header, position = self.arrays[:2]
        return wedge.minimum_position(header, position), wedge.maximum_position(header, position)

    def push(self, value: Any, missing: bool) -> None:
        """Add a row."""
        self.make_room()
        rows = self.arrays[4]
        rows[self.pushed & (len(rows) - 1)] = value
        wedge.push(*self.arrays[:4], self.dtype.type(value), bool(missing))

    def pop(self, number: int) -> None:
        """Remove the oldest rows."""
        wedge.pop(*self.arrays[:4], number)

    def part(self, number: int) -> Rows:
        """Return values and missing marks of the `number` oldest rows."""
        header, _, _, observed, rows = self.arrays
        oldest = int(header[wedge.OLDEST])
        return read_ring(rows, oldest, number), read_ring(observed, oldest, number) == 0

    def _load(self, values: NDArray[Any], missing: Any, pushed: int) -> None:
        write_ring(self.arrays[4], pushed - len(values), values)
        wedge.load(*self.arrays[:4], values, None if self.dtype.kind == "f" else missing, pushed)


class MonotonicWindow(ArrayWindow):
    """A window of a fixed number of rows of float64 with its minimum, or with its maximum if `sign` is -1.

    See :mod:`rollstat.kernels.extrema.monotonic_deque`; for a maximum it holds the negated values.
    """

    slots = monotonic_deque.NEXT, monotonic_deque.OBSERVED, monotonic_deque.NEXT

    def __init__(self, fixed: int, sign: int, min_periods: int) -> None:
        self.sign, self.min_periods = sign, min_periods
        super().__init__(fixed, np.dtype(np.float64))

    def _create(self, capacity: int) -> Any:
        return monotonic_deque.views(monotonic_deque.create(capacity, self.min_periods))

    def _set_arrays(self, arrays: Any) -> None:
        self._whole = np.concatenate([array.view(np.float64) for array in arrays])
        self.arrays = monotonic_deque.views(self._whole)

    @property
    def state(self) -> Any:
        """What compiled steps take."""
        return (self._whole,)

    @property
    def rows(self) -> int:
        """Rows in the window."""
        return min(self.pushed - int(self.arrays[0][monotonic_deque.FIRST]), self.fixed)

    def extreme(self) -> float:
        """Return the minimum or maximum of a window with observations."""
        return self.sign * float(monotonic_deque.value_at(self._whole))

    def push(self, value: Any, missing: bool) -> None:
        """Add a row."""
        monotonic_deque.push(self._whole, np.nan if missing else self.sign * float(value))

    def part(self, number: int) -> Rows:
        """Return values and missing marks of the `number` oldest rows."""
        values = read_ring(self.arrays[2], self.pushed - self.rows, number)
        if self.sign < 0:
            np.negative(values, out=values)
        return values, np.isnan(values)

    def _load(self, values: NDArray[Any], missing: Any, pushed: int) -> None:
        monotonic_deque.load(self._whole, values, self.sign, pushed)


class SortedWindow(ArrayWindow):
    """Rows, and the observations in ascending order; see :mod:`rollstat.kernels.rank_space.sorted_window`."""

    kernels = sorted_window
    slots = sorted_window.ROWS, sorted_window.COUNT, sorted_window.PUSHED

    @property
    def distinct(self) -> int:
        """Distinct values among the observations."""
        return int(self.arrays[0][sorted_window.DISTINCT])

    @property
    def ordered(self) -> NDArray[Any]:
        """The observations in ascending order."""
        kept: NDArray[Any] = self.arrays[3][: self.count]
        return kept

    @property
    def newest(self) -> Any:
        """Value of the newest row, None if it is missing or there is no row."""
        header, rows, absent, _ = self.arrays
        slot = (header[sorted_window.OLDEST] + self.rows - 1) % len(rows)
        return None if self.rows == 0 or absent[slot] else rows[slot]

    def part(self, number: int) -> Rows:
        """Return values and missing marks of the `number` oldest rows."""
        header, rows, absent, _ = self.arrays
        oldest = int(header[sorted_window.OLDEST])
        return read_ring(rows, oldest, number), read_ring(absent, oldest, number) != 0

    def _load(self, values: NDArray[Any], missing: Any, pushed: int) -> None:
        header, rows, absent, ordered = self.arrays
        header[sorted_window.OLDEST] = 0
        rows[: len(values)] = values
        absent[: len(values)] = missing
        observed = np.sort(values[~missing])
        ordered[: len(observed)] = observed
        header[sorted_window.ROWS], header[sorted_window.COUNT] = len(values), len(observed)
        header[sorted_window.PUSHED] = pushed
        header[sorted_window.DISTINCT] = (observed[1:] != observed[:-1]).sum() + (len(observed) > 0)
