"""Windows of order statistics: rows in indexed heaps or in three trees, or twice in heaps."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rollstat.kernels.rings import read_ring
from rollstat.kernels.selection import three_trees, two_heaps
from rollstat.kernels.selection.weight_balanced_tree import BEFORE, RECORD
from rollstat.kernels.stream.packed_state import pack, views
from rollstat.statistics.selection.two_heaps import partitioned
from rollstat.streaming.windows.representation import ArrayWindow, Representation, Rows

__all__ = ["HeapWindow", "TreeWindow", "WindowPair"]

_NO_POSITIONS = np.empty(0, np.int64)


class HeapWindow(ArrayWindow):
    """A window in two heaps; see :mod:`rollstat.kernels.selection.two_heaps`.

    Parameters
    ----------
    fixed, dtype
        As in :class:`ArrayWindow`.
    **rule
        `k`, `q`, `min_periods` and `ties` of :func:`rollstat.kernels.selection.two_heaps.create`.

    Attributes
    ----------
    state : ndarray or None
        The arrays packed into one, which makes a call shorter; None where their dtypes do not allow it.
    """

    slots = two_heaps.ROWS, two_heaps.COUNT, two_heaps.PUSHED

    def __init__(self, fixed: int, dtype: np.dtype[Any], **rule: Any) -> None:
        self.rule = rule
        super().__init__(fixed, dtype)

    def _set_arrays(self, arrays: Any) -> None:
        self.state: Any = None
        if arrays[1].dtype == np.float64 and arrays[2].dtype == np.int32:
            self.state = pack(*arrays)
            arrays = views(self.state)
        self.arrays = arrays

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

    def push(self, value: Any, missing: bool) -> None:
        """Add a row."""
        self._make_room()
        two_heaps.push(*self.arrays, self.dtype.type(value), bool(missing))

    def pop(self, number: int) -> None:
        """Remove the oldest rows."""
        two_heaps.pop(*self.arrays, number)

    def part(self, first: int, number: int) -> Rows:
        """Return values and missing marks of at most `number` rows, from the `first` oldest on."""
        header, keys, links = self.arrays
        capacity = int(header[two_heaps.CAPACITY])
        oldest = int(header[two_heaps.OLDEST]) + first
        places = read_ring(links[2 * capacity : 3 * capacity], oldest, min(number, self.rows - first))
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
    """A window of a fixed number of rows in trees, see :mod:`rollstat.kernels.selection.three_trees`."""

    slots = three_trees.PUSHED, three_trees.COUNT, three_trees.PUSHED

    def _create(self, capacity: int) -> Any:
        make = three_trees.create_for_quantile if "q" in self.rule else three_trees.create
        return make(self.rule.get("q", self.rule.get("k")), capacity, self.dtype, self.rule["min_periods"])

    def _set_arrays(self, arrays: Any) -> None:
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
    def pushed(self) -> int:
        """Rows pushed so far."""
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
        if "q" in self.rule:
            three_trees.advance(*self.arrays, self.dtype.type(value), bool(missing))
        else:
            three_trees.push(*self.arrays, self.dtype.type(value), bool(missing))

    def part(self, first: int, number: int) -> Rows:
        """Return values and missing marks of at most `number` rows, from the `first` oldest on."""
        header, links, values = self.arrays
        pushed = int(header[three_trees.PUSHED])
        first += pushed - self.rows
        nodes = three_trees.FIRST + np.arange(first, min(first + number, pushed)) % self.capacity
        return values[nodes], links[0, RECORD * nodes + BEFORE] == -1

    def _load(self, values: NDArray[Any], missing: Any, pushed: int) -> None:
        for array, empty in zip(self.arrays, self._create(self.capacity)):
            array[..., : empty.shape[-1]] = empty
        self.arrays[0][three_trees.ORIGIN] = pushed - len(values)
        if "q" in self.rule:
            three_trees.load(*self.arrays, values, missing)
        else:
            three_trees.extend(*self.arrays, values, missing, values[:0], _NO_POSITIONS)


class WindowPair(Representation):
    """Two representations of the same rows."""

    def __init__(self, first: Any, second: Any) -> None:
        self.pair = (first, second)

    @property
    def rows(self) -> int:
        """Rows in the window."""
        return int(self.pair[0].rows)

    @property
    def count(self) -> int:
        """Observations in the window."""
        return int(self.pair[0].count)

    @property
    def pushed(self) -> int:
        """Rows pushed so far."""
        return int(self.pair[0].pushed)

    def push(self, value: Any, missing: bool) -> None:
        """Add a row."""
        for window in self.pair:
            window.push(value, missing)

    def pop(self, number: int) -> None:
        """Remove the oldest rows."""
        for window in self.pair:
            window.pop(number)

    def part(self, first: int, number: int) -> Any:
        """Return values and missing marks of at most `number` rows, from the `first` oldest on."""
        return self.pair[0].part(first, number)

    def load(self, values: Any, missing: Any, pushed: int) -> None:
        """Replace all rows; the last is row ``pushed - 1`` of the stream."""
        for window in self.pair:
            window.load(values, missing, pushed)

    def copy(self) -> "WindowPair":
        """Return an equal pair with its own memory."""
        return WindowPair(self.pair[0].copy(), self.pair[1].copy())
