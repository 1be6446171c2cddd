"""Any associative operator over windows of Python objects, with the fewest calls of its ``combine``.

The plan of combinations depends on the bounds alone: it is computed natively, stretch by stretch, and only
the calls themselves reach Python.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rollstat.kernels.aggregate import greedy
from rollstat.kernels.missing.compaction import observed_bounds
from rollstat.operators.interface import NOTHING, empty_result

__all__ = ["ObjectCells", "aggregate_objects"]

_PLAN_ROOM = 1 << 14


class ObjectCells:
    """Cells of Python objects, and the combinations made in them.

    An accumulator is changed in place only if it was made here, by ``combine``, and nobody else has seen it:
    neither an element, nor an argument that ``combine`` handed back, nor a state that was lowered.
    """

    __slots__ = ("combine", "combine_into", "items", "owned")

    def __init__(self, operator: Any, size: int) -> None:
        self.combine: Callable[[Any, Any], Any] = operator.combine
        self.combine_into: Callable[[Any, Any], Any] | None = getattr(operator, "combine_into", None)
        self.items: list[Any] = [None] * size
        self.owned = bytearray(size)

    def put(self, i: int, state: Any) -> None:
        """Put the state of an element, which may be the caller's own object, into cell `i`."""
        self.items[i] = state
        self.owned[i] = False

    def show(self, i: int) -> Any:
        """The state in cell `i`, to be handed out."""
        self.owned[i] = False
        return self.items[i]

    def carry_out(self, plan: Iterator[tuple[int, int]]) -> None:
        """Make combinations: cell `i` becomes cell `i` combined with cell `j`."""
        items, combine = self.items, self.combine
        if self.combine_into is None:
            for i, j in plan:
                items[i] = combine(items[i], items[j])
            return
        owned = self.owned
        for i, j in plan:
            older, newer = items[i], items[j]
            if owned[i]:
                items[i] = state = self.combine_into(older, newer)
            else:
                items[i] = state = combine(older, newer)
                owned[i] = state is not older
            if state is newer:
                owned[i] = owned[j] = False


def _observations(
    values: Sequence[Any], start: NDArray[np.int64], end: NDArray[np.int64], missing: NDArray[np.bool_] | None
) -> tuple[Sequence[Any], NDArray[np.int64], NDArray[np.int64]]:
    """Elements that are not missing, and the bounds among them."""
    if missing is None:
        return values, np.ascontiguousarray(start, np.int64), np.ascontiguousarray(end, np.int64)
    first, last = np.empty(len(start), np.int64), np.empty(len(end), np.int64)
    observed_bounds(missing, start, first)
    observed_bounds(missing, end, last)
    return [value for value, lacks in zip(values, missing.tolist()) if not lacks], first, last


def aggregate_objects(
    values: Sequence[Any],
    start: NDArray[np.int64],
    end: NDArray[np.int64],
    operator: Any,
    missing: NDArray[np.bool_] | None = None,
    wanted: int = 1,
    lacking: Any = None,
) -> list[Any]:
    """Return the result of each window.

    Parameters
    ----------
    values : sequence
        The elements.
    start, end : ndarray of int64
        Bounds of the windows; neither ever falls.
    operator : Operator
        Anything with ``combine``; its methods are called as plain Python.
    missing : ndarray of bool, optional
        Elements that take a row but are no observation.
    wanted : int
        Observations that a row needs. With 0, rows without any give the identity, if there is one.
    lacking
        What stands in rows that have too few.

    Returns
    -------
    list
        One result a row. ``combine`` is called as seldom as associativity allows.
    """
    values, start, end = _observations(values, start, end, missing)
    empty = empty_result(operator) if wanted == 0 else NOTHING
    results = [lacking if empty is NOTHING else empty] * len(start)
    rows = np.flatnonzero(end - start >= max(wanted, 1))
    if len(rows):
        _fold(values, start[rows], end[rows], rows, operator, results)
    return results


def _fold(
    values: Sequence[Any],
    start: NDArray[np.int64],
    end: NDArray[np.int64],
    rows: NDArray[np.int64],
    operator: Any,
    results: list[Any],
) -> None:
    """Write the result of each window, none of which is empty, into its row of `results`."""
    lift: Callable[[Any], Any] | None = getattr(operator, "lift", None)
    lower: Callable[[Any], Any] | None = getattr(operator, "lower", None)
    widest = int((end - start).max())
    header, top, below = greedy.create(widest)
    mask = int(header[greedy.MASK])
    cells = ObjectCells(operator, mask + 1)
    items, owned, combine = cells.items, cells.owned, cells.combine
    simple = cells.combine_into is None
    older, newer = np.empty((2, max(widest, _PLAN_ROOM)), np.int64)
    stop = np.empty(len(start), np.int64)
    row = arrived = 0
    while row < len(start):
        following = greedy.plan_windows(header, top, below, start, end, row, older, newer, stop)
        done, stops = 0, stop[row:following].tolist()
        plan = zip(older[: stops[-1]].tolist(), newer[: stops[-1]].tolist())
        windows = start[row:following].tolist(), end[row:following].tolist(), rows[row:following].tolist()
        for left, right, i, count in zip(*windows, stops):
            for position in range(left if left > arrived else arrived, right):
                item = values[position]
                items[position & mask] = item if lift is None else lift(item)
                owned[position & mask] = False
            arrived = right
            if simple:
                for j, k in islice(plan, count - done):
                    items[j] = combine(items[j], items[k])
            else:
                cells.carry_out(islice(plan, count - done))
            done = count
            state = items[left & mask]
            owned[left & mask] = False
            results[i] = state if lower is None else lower(state)
        row = following
