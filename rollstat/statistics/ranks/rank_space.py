"""Computations over ranks and over sorted windows: what their classes share.

A block is cut into smaller ones. Each is sorted once, so that kernels work on ranks. Otherwise every window
is kept as a sorted array, from which a reader takes the result, or a network sorts many windows at once.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rollstat import thresholds
from rollstat.blocks import Block, Point, read_only
from rollstat.kernels.rank_space import sorted_windows as readers
from rollstat.plan import NAMED, Choice, Computation, OneCall
from rollstat.registry import reject_algorithm
from rollstat.statistics.selection import small_window
from rollstat.statistics.selection.rank_bits import split_rows
from rollstat.statistics.selection.ranking import tied_ranks, write_sorted
from rollstat.statistics.sorted_windows import sorted_in_one_call
from rollstat.windows import Windows

RANK_SET = {"rank_set": "every window and dtype"}
SORTED_WINDOW = {"sorted_window": "every window and dtype, in O(m)", **RANK_SET}
NETWORK = {
    "network": f"a fixed number of rows up to {thresholds.SORTED_BY_NETWORK}, step 1",
    **SORTED_WINDOW,
}

RANKED_ROWS = 8192
_SORTED_ROWS = 1 << 16
_VALUES_AT_ONCE = 1 << 17  # few calls of a network, and results that stay in the cache


class RankComputation(Computation):
    """A computation over ranks, or over sorted windows where these are narrow.

    Parameters
    ----------
    dtype : numpy.dtype
        Of the input.
    windows : Windows
        The windows of the call.
    algorithm : str
        ``"auto"`` or a key of `algorithms`.

    Attributes
    ----------
    algorithms : mapping of str to str
        What `algorithm` may be, and what each supports.
    widest : int
        Rows of the widest windows that are kept as sorted arrays; 0 if none are.
    numbers_only : bool
        Whether datetimes are rejected.
    reader : NamedTuple or None
        What the one call of a short series reads from a sorted window; None if there is no such call.
    distances : bool
        Whether that call adds or subtracts values.
    """

    algorithms: Mapping[str, str] = RANK_SET
    widest = 0
    numbers_only = False
    reader: Any = None
    distances = False

    def __init__(self, dtype: np.dtype[Any], windows: Windows, algorithm: str = "auto") -> None:
        if algorithm == "network" and not 0 < windows.fixed_width <= thresholds.SORTED_BY_NETWORK:
            reject_algorithm(algorithm, self.algorithms, "window")
        if self.numbers_only and dtype.kind not in "fiub":
            raise TypeError(f"arr must hold floats, integers or bool; got {dtype}")
        self.algorithm = algorithm
        if "network" in self.algorithms and windows.whole_width <= thresholds.SORTED_BY_NETWORK:
            self.filled_step = thresholds.SORTED_BY_NETWORK

    def block_rows(self, width: int, alone: bool = False) -> int:
        """Return the output rows of a block: whole parts, so that few values are sorted twice."""
        part = 3 * max(width, 1)  # rows of results where four windows are sorted at a time
        return part * -(-(1 << 15) // part)

    def choose(self, block: Block, complete: bool = True) -> Choice:
        """Return the algorithm for a block, all values of which are observations if it is `complete`."""
        if not self.widest:
            return Choice("rank_set", "supports every window")
        if self.algorithm not in ("auto", "network"):
            return Choice(self.algorithm, NAMED)
        narrow = block.longest <= self.widest
        other = "sorted_window" if narrow else "rank_set"
        by_network = thresholds.SORTED_BY_NETWORK
        if "network" in self.algorithms and 0 < block.width <= by_network:
            named = self.algorithm == "network"
            return Choice("network", NAMED if named else f"windows of at most {by_network} rows")
        return Choice(other, f"windows of {'at most' if narrow else 'more than'} {self.widest} rows")

    def one_call(self, least: int, marks: Sequence[float], longest: int) -> OneCall | None:
        """Return what writes all results of a series in one call; see :class:`Computation`."""
        if self.reader is None:
            return None
        return sorted_in_one_call(self.reader, least, marks, distances=self.distances)


def small_blocks(block: Block, smallest: int) -> Iterator[tuple[slice, Block]]:
    """Cut a block into blocks of a few windows, so that memory does not grow with the step or with gaps.

    Yields
    ------
    rows : slice
        Output rows of `block`.
    part : Block
        The same rows as a block by themselves.
    """
    start, end, missing = block.start, block.end, block.missing
    for first, last in split_rows(start, end, smallest):
        low, high = int(start[first]), int(end[last - 1])
        mask = None if missing is None else missing[low:high]
        part = Block(block.values[low:high], mask, start[first:last] - low, end[first:last] - low)
        yield slice(first, last), part


def read_sorted(
    block: Block,
    convert: Callable[[NDArray[Any]], NDArray[Any]],
    reader: NamedTuple,
    least: int,
    results: Sequence[NDArray[Any]],
    own: NDArray[np.int64] | None = None,
) -> None:
    """Write what `reader` finds in a sorted array of each window of a block, 0 below `least` observations.

    `convert` makes float64 or uint64 of the values, for which kernels are compiled. `own` are the rows that
    the windows belong to, for readers that need them.
    """
    marks = np.zeros(len(results))
    for rows, part in small_blocks(block, _SORTED_ROWS):
        values = convert(part.values)
        given = np.empty(0, np.int64) if own is None else own[rows] - block.start[rows.start]
        series = read_only(values), part.mask, part.start, part.end, given
        window = np.empty(part.longest + 1, values.dtype)
        readers.sorted_windows(
            reader, *series, least, window, marks, tuple(result[rows] for result in results)
        )


def read_columns(
    block: Block,
    convert: Callable[[NDArray[Any]], NDArray[Any]],
    reader: NamedTuple,
    results: Sequence[NDArray[Any]],
) -> None:
    """Do what :func:`read_sorted` does for windows of one width, all sorted by a network.

    Values that sort last stand for the missing ones.
    """
    values, marks = convert(block.values), np.zeros(len(results))
    if block.missing is not None:
        last = np.inf if values.dtype.kind == "f" else np.iinfo(values.dtype).max
        values = np.where(block.missing, values.dtype.type(last), values)
    for rows, found in sorted_columns(values, block.width, 0, block.width - 1):
        written = tuple(result[rows] for result in results)
        readers.read_columns(reader, found, block.count[rows], marks, written)


def ranked_blocks(block: Block) -> Iterator[tuple[slice, Block, NDArray[Any], NDArray[Any]]]:
    """Cut a block into blocks of a few windows, and sort each of them.

    Yields
    ------
    rows : slice
        Output rows of `block`.
    part : Block
        The same rows as a block by themselves.
    rank : ndarray of int
        Tied rank of every row of `part`, negative where missing.
    ordered : ndarray
        The observations of `part` in order.
    """
    for rows, part in small_blocks(block, RANKED_ROWS):
        yield rows, part, *tied_ranks(part.values, part.missing)


def sorted_columns(
    values: NDArray[Any], width: int, low: int, high: int
) -> Iterator[tuple[slice, NDArray[Any]]]:
    """Sort every window of `width` values by a network, some windows at a time.

    Yields
    ------
    rows : slice
        The windows, by their first value.
    found : ndarray, shape (high - low + 1, windows)
        Their values of rank `low` to `high`, one row for each rank.
    """
    windows = len(values) - width + 1
    step = max(_VALUES_AT_ONCE // width, 1)
    points = tuple(Point(rank) for rank in range(low, high + 1))
    for first in range(0, windows, step):
        count = min(step, windows - first)
        found = np.empty((len(points), count), values.dtype)
        part = read_only(values[first : first + count + width - 1])
        if not write_sorted(part, width, points, list(found)):
            small_window.run(part, width, points, found)
        yield slice(first, first + count), found
