"""Cores of selection and extrema: rows in indexed heaps, in three trees, in a wedge, in ascending minima."""

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from rollstat.algorithms.two_heaps import partitioned
from rollstat.kernels.extrema import monotonic_deque, wedge
from rollstat.kernels.selection import three_trees, two_heaps
from rollstat.kernels.selection.weight_balanced_tree import BEFORE, RECORD
from rollstat.kernels.stream.packed_state import pack, views

__all__ = [
    "AscendingWindow",
    "HeapWindow",
    "TreeWindow",
    "WedgeWindow",
    "parts_of_ring",
    "read_ring",
    "write_ring",
]

_NO_POSITIONS = np.empty(0, np.int64)
Rows = tuple[NDArray[Any], NDArray[np.bool_]]


def write_ring(ring: NDArray[Any], first: int, words: NDArray[Any]) -> None:
    """Put words into places ``first, first + 1, ...`` of a ring."""
    start = first % len(ring)
    before_end = len(ring) - start
    ring[start : start + len(words)] = words[:before_end]
    ring[: max(len(words) - before_end, 0)] = words[before_end:]


def parts_of_ring(ring: NDArray[Any], first: int, number: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """The words in places ``first, first + 1, ...`` of a ring, up to its end and from its beginning."""
    start = first % len(ring)
    return ring[start : start + number], ring[: max(start + number - len(ring), 0)]


def read_ring(ring: NDArray[Any], first: int, number: int) -> NDArray[Any]:
    """A copy of the words in places ``first, first + 1, ...`` of a ring."""
    return np.concatenate(parts_of_ring(ring, first, number))


class HeapWindow:
    """A window between two heaps; see :mod:`rollstat.kernels.selection.two_heaps`.

    Parameters
    ----------
    capacity : int
        The most rows; a push into a full window lets go of the oldest.
    dtype : dtype
        Of the words.
    **rule
        `k`, `q`, `min_periods` and `ties` of :func:`rollstat.kernels.selection.two_heaps.create`.
    """

    def __init__(self, capacity: int, dtype: np.dtype[Any], **rule: Any) -> None:
        self.capacity, self.dtype, self.rule = capacity, dtype, rule
        self._hold(self._create(capacity))

    def _hold(self, arrays: Any) -> None:
        """Keep a state; where it can be one array, as one, for the quickest call."""
        self.state: Any = None
        if arrays[1].dtype == np.float64 and arrays[2].dtype == np.int32:
            self.state = pack(*arrays)
            arrays = views(self.state)
        self.arrays = arrays

    def _create(self, capacity: int) -> Any:
        return two_heaps.create(capacity, self.dtype, width=capacity, **self.rule)

    def begin(self, pushed: int) -> None:
        """Say how many rows came before those that the empty window is to hold."""
        self.arrays[0][two_heaps.PUSHED] = pushed

    @property
    def rows(self) -> int:
        """Rows in the window."""
        return int(self.arrays[0][two_heaps.ROWS])

    @property
    def count(self) -> int:
        """Observations among them."""
        return int(self.arrays[0][two_heaps.COUNT])

    @property
    def pushed(self) -> int:
        """Rows pushed so far."""
        return int(self.arrays[0][two_heaps.PUSHED])

    @property
    def position(self) -> int:
        """Row of the latest answer."""
        return int(self.arrays[0][two_heaps.POSITION])

    def pair(self) -> tuple[Any, Any]:
        """The order statistic, and the next one; there is an observation."""
        header, keys, _ = self.arrays
        return keys[0], keys[header[two_heaps.CAPACITY]] if header[two_heaps.HIGH] else keys[0]

    def push(self, word: Any, missing: bool) -> None:
        """Take in a row."""
        two_heaps.push(*self.arrays, self.dtype.type(word), bool(missing))

    def take(self, words: NDArray[Any], missing: NDArray[np.bool_]) -> None:
        """Take in several rows."""
        two_heaps.extend(*self.arrays, words, missing, words[:0], _NO_POSITIONS)

    def pop(self, number: int) -> None:
        """Let go of the oldest rows."""
        two_heaps.pop(*self.arrays, number)

    def contents(self) -> Rows:
        """Words and missing marks of the rows, oldest first."""
        return self.part(0, self.rows)

    def part(self, first: int, number: int) -> Rows:
        """Words and missing marks of at most `number` rows, the first of which is the oldest but `first`."""
        header, keys, links = self.arrays
        capacity = int(header[two_heaps.CAPACITY])
        oldest = int(header[two_heaps.OLDEST]) + first
        places = read_ring(links[2 * capacity : 3 * capacity], oldest, min(number, self.rows - first))
        missing = places < 0
        words = keys[places]
        words[missing] = np.nan if self.dtype.kind == "f" else 0
        return words, missing

    def load(self, words: NDArray[Any], missing: NDArray[np.bool_], pushed: int) -> None:
        """Hold these rows, the last of `pushed`, instead."""
        count = len(words) - int(np.count_nonzero(missing))
        target = min(int(two_heaps.target(self.arrays[0], count)), count)
        order = partitioned(words, missing if count < len(words) else None, target, self.rule["ties"])
        two_heaps.load(*self.arrays, words, 0, len(words), order, target)
        self.begin(pushed)
        two_heaps.pop(*self.arrays, 0)

    def copy(self) -> Self:
        """Return an equal core of its own memory."""
        other = type(self).__new__(type(self))
        other.__dict__.update(self.__dict__)
        other._hold(tuple(array.copy() for array in self.arrays))
        return other


class TreeWindow(HeapWindow):
    """A window of a fixed number of rows in three trees; see
    :mod:`rollstat.kernels.selection.three_trees`.
    """

    def _create(self, capacity: int) -> Any:
        rule = self.rule
        return three_trees.create(rule["k"], capacity, self.dtype, rule["min_periods"])

    def _hold(self, arrays: Any) -> None:
        self.state, self.arrays = None, arrays
        header, links, values = arrays
        if values.dtype == np.float64 and links.dtype == np.int32:
            self.state = pack(header, values, links.ravel())
            header, values, links = views(self.state)
            self.arrays = header, links.reshape(2, -1), values

    @property
    def rows(self) -> int:
        """Rows in the window."""
        return min(self.pushed, self.capacity)

    @property
    def count(self) -> int:
        """Observations among them."""
        return int(self.arrays[0][three_trees.COUNT])

    @property
    def pushed(self) -> int:
        """Rows pushed so far."""
        return int(self.arrays[0][three_trees.PUSHED]) + self._before

    _before = 0

    @property
    def position(self) -> int:
        """Row of the latest answer."""
        position = int(self.arrays[0][three_trees.POSITION])
        return position + self._before if position >= 0 else -1

    def pair(self) -> tuple[Any, Any]:
        """The order statistic, twice."""
        place = int(self.arrays[0][three_trees.POSITION]) % self.capacity
        word = self.arrays[2][three_trees.FIRST + place]
        return word, word

    def push(self, word: Any, missing: bool) -> None:
        """Take in a row."""
        three_trees.push(*self.arrays, self.dtype.type(word), bool(missing))

    def contents(self) -> Rows:
        """Words and missing marks of the rows, oldest first."""
        header, links, values = self.arrays
        done = int(header[three_trees.PUSHED])
        nodes = three_trees.FIRST + np.arange(done - min(done, self.capacity), done) % self.capacity
        return values[nodes], links[0, RECORD * nodes + BEFORE] == -1

    def load(self, words: NDArray[Any], missing: NDArray[np.bool_], pushed: int) -> None:
        """Hold these rows, the last of `pushed`, instead."""
        for held, empty in zip(self.arrays, self._create(self.capacity)):
            held[..., : empty.shape[-1]] = empty
        self._before = pushed - len(words)
        three_trees.extend(*self.arrays, words, missing, words[:0], _NO_POSITIONS)


class WedgeWindow:
    """A window with a wedge, and its rows in a ring beside it; see :mod:`rollstat.kernels.extrema.wedge`.

    Parameters
    ----------
    capacity : int
        The most rows; a push into a full window lets go of the oldest.
    dtype : dtype
        Of the words.
    ties : str
        As in :func:`rollstat.kernels.extrema.wedge.create`.
    """

    def __init__(self, capacity: int, dtype: np.dtype[Any], ties: str) -> None:
        self.capacity, self.dtype, self.ties = capacity, dtype, ties
        self.arrays = self._create()

    def _create(self) -> Any:
        arrays = wedge.create(self.capacity, self.dtype, ties=self.ties)
        return *arrays, np.zeros(len(arrays[3]), self.dtype)

    def begin(self, pushed: int) -> None:
        """Say how many rows came before those that the empty window is to hold."""
        self.arrays[0][[wedge.NEXT, wedge.OLDEST]] = pushed

    @property
    def rows(self) -> int:
        """Rows in the window."""
        header = self.arrays[0]
        return int(header[wedge.NEXT] - header[wedge.OLDEST])

    @property
    def count(self) -> int:
        """Observations among them."""
        return int(self.arrays[0][wedge.OBSERVED])

    @property
    def pushed(self) -> int:
        """Rows pushed so far."""
        return int(self.arrays[0][wedge.NEXT])

    def extrema(self) -> tuple[Any, Any]:
        """Minimum and maximum; there is an observation."""
        header, position, value = self.arrays[:3]
        return wedge.minimum(header, position, value), wedge.maximum(header, position, value)

    def places(self) -> tuple[int, int]:
        """Rows of the minimum and the maximum; there is an observation."""
        header, position = self.arrays[:2]
        return wedge.minimum_position(header, position), wedge.maximum_position(header, position)

    def push(self, word: Any, missing: bool) -> None:
        """Take in a row."""
        rows = self.arrays[4]
        rows[self.pushed & (len(rows) - 1)] = word
        wedge.push(*self.arrays[:4], self.dtype.type(word), bool(missing))

    def take(self, words: NDArray[Any], missing: NDArray[np.bool_]) -> None:
        """Take in several rows, as many as there is room for."""
        none, places = words[:0], _NO_POSITIONS
        write_ring(self.arrays[4], self.pushed, words)
        wedge.extend(*self.arrays[:4], words, missing, places, none, none, places, places)

    def pop(self, number: int) -> None:
        """Let go of the oldest rows."""
        wedge.pop(*self.arrays[:4], number)

    def contents(self) -> Rows:
        """Words and missing marks of the rows, oldest first."""
        return self.part(0, self.rows)

    def part(self, first: int, number: int) -> Rows:
        """Words and missing marks of at most `number` rows, the first of which is the oldest but `first`."""
        header, _, _, observed, rows = self.arrays
        oldest = int(header[wedge.OLDEST]) + first
        number = min(number, self.rows - first)
        return read_ring(rows, oldest, number), read_ring(observed, oldest, number) == 0

    def load(self, words: NDArray[Any], missing: NDArray[np.bool_] | None, pushed: int) -> None:
        """Hold these rows, the last of `pushed`, instead; of floats those are missing that are NaN."""
        write_ring(self.arrays[4], pushed - len(words), words)
        wedge.load(*self.arrays[:4], words, None if self.dtype.kind == "f" else missing, pushed)

    def copy(self) -> Self:
        """Return an equal core of its own memory."""
        other = type(self).__new__(type(self))
        other.__dict__.update(self.__dict__)
        other.arrays = tuple(array.copy() for array in self.arrays)
        return other


class AscendingWindow:
    """A window of a fixed number of rows of float64 and its minimum, or its maximum with `sign` -1.

    See :mod:`rollstat.kernels.extrema.monotonic_deque`.
    """

    def __init__(self, fixed: int, sign: int, least: int) -> None:
        self.sign = sign
        self._hold(monotonic_deque.create(fixed, least))

    def _hold(self, state: NDArray[np.float64]) -> None:
        self.state = state
        self._header: NDArray[np.int64]
        self._ring: NDArray[np.float64]
        self._header, _, self._ring = monotonic_deque.views(state)

    @property
    def rows(self) -> int:
        """Rows in the window."""
        header = self._header
        held = header[monotonic_deque.NEXT] - header[monotonic_deque.FIRST]
        return int(min(held, header[monotonic_deque.WINDOW]))

    @property
    def count(self) -> int:
        """Observations among them."""
        return int(self._header[monotonic_deque.OBSERVED])

    @property
    def pushed(self) -> int:
        """Rows pushed so far."""
        return int(self._header[monotonic_deque.NEXT])

    def extreme(self) -> float:
        """The minimum or maximum; there is an observation."""
        return self.sign * float(monotonic_deque.value_at(self.state))

    def push(self, word: Any, missing: bool) -> None:
        """Take in a row."""
        monotonic_deque.push(self.state, np.nan if missing else self.sign * float(word))

    def contents(self) -> Rows:
        """Words and missing marks of the rows, oldest first."""
        words = read_ring(self._ring, self.pushed - self.rows, self.rows)
        if self.sign < 0:
            np.negative(words, out=words)
        return words, np.isnan(words)

    def load(self, words: NDArray[Any], missing: NDArray[np.bool_] | None, pushed: int) -> None:
        """Hold these rows, the last of `pushed`, instead; of floats those are missing that are NaN."""
        monotonic_deque.load(self.state, words, self.sign, pushed)

    def copy(self) -> Self:
        """Return an equal core of its own memory."""
        other = type(self).__new__(type(self))
        other.sign = self.sign
        other._hold(self.state.copy())
        return other
