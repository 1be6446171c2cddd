"""Any associative operator over windows of Python objects, with the fewest calls of its ``combine``.

The plan of combinations depends on the bounds alone. Compiled code computes it, see
:mod:`rollstat.kernels.aggregate.greedy`, and only the calls themselves reach Python.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rollstat.blocks import observed_bounds
from rollstat.kernels.aggregate import greedy
from rollstat.operators.interface import NOTHING, empty_result

# Least number of combinations that are planned at a time.
_PLAN_LENGTH = 1 << 14


class ObjectCells:
    """Cells of Python objects, and the combinations made in them.

    ``combine_into`` changes a state in place only if this class owns it: ``combine`` made it here, and nobody
    else has seen it. An element, an argument that ``combine`` returned, and a released state are not owned.
    """

    __slots__ = ("combine", "combine_into", "items", "owned")

    def __init__(self, operator: Any, size: int) -> None:
        self.combine: Callable[[Any, Any], Any] = operator.combine
        self.combine_into: Callable[[Any, Any], Any] | None = getattr(operator, "combine_into", None)
        self.items: list[Any] = [None] * size
        self.owned = bytearray(size)

    def execute(self, plan: Iterator[tuple[int, int]]) -> None:
        """Make combinations: for each (i, j), cell `i` becomes cell `i` combined with cell `j`."""
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
    """Return the elements that are not missing, and the bounds among them."""
    if missing is None:
        return values, np.ascontiguousarray(start, np.int64), np.ascontiguousarray(end, np.int64)
    first, last = observed_bounds(missing, start, end)
    return [value for value, gone in zip(values, missing.tolist()) if not gone], first, last


def aggregate_objects(
    values: Sequence[Any],
    start: NDArray[np.int64],
    end: NDArray[np.int64],
    operator: Any,
    missing: NDArray[np.bool_] | None = None,
    min_periods: int = 1,
) -> list[Any]:
    """Return the result of each window.

    Parameters
    ----------
    values : sequence
        The elements.
    start, end : ndarray of int64
        Bounds of the windows; neither ever decreases.
    operator : Operator
        Anything with ``combine``; its methods are called as plain Python.
    missing : ndarray of bool, optional
        Elements that take a row but are not observations.
    min_periods : int
        Observations that a row needs. With 0, rows without any give the identity, if there is one.

    Returns
    -------
    list
        One result a row, None for insufficient rows. ``combine`` is called as rarely as associativity allows.
    """
    values, start, end = _observations(values, start, end, missing)
    empty = empty_result(operator) if min_periods == 0 else NOTHING
    results = [None if empty is NOTHING else empty] * len(start)
    rows = np.flatnonzero(end - start >= max(min_periods, 1))
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
    items, owned, execute = cells.items, cells.owned, cells.execute
    older, newer = np.empty((2, max(widest, _PLAN_LENGTH)), np.int64)
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
            execute(islice(plan, count - done))
            done = count
            state = items[left & mask]
            owned[left & mask] = False
            results[i] = state if lower is None else lower(state)
        row = following
