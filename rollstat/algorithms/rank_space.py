"""Windows in rank space: stretches of a block, each sorted once, with the tied rank of every row."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rollstat.algorithms import sorted_rows
from rollstat.algorithms.rank_bits import stretches
from rollstat.algorithms.ranking import tied_ranks
from rollstat.blocks import Block
from rollstat.windows import Windows

__all__ = [
    "NOTHING_MISSING",
    "Stretch",
    "block_rows",
    "check_network",
    "choose",
    "ranked_stretches",
    "read_only",
]

NOTHING_MISSING = np.empty(0, np.bool_)
"""Mask for kernels where every value is an observation."""

_SMALLEST_STRETCH = 8192


@dataclass(slots=True)
class Stretch:
    """Some output rows of a block, and the data that their windows cover, ranked.

    Attributes
    ----------
    rows : slice
        The output rows.
    low : int
        Where the data of the stretch begins in the block.
    rank : ndarray of int, shape (n,)
        Observations of the stretch that are smaller, for each row of data; -1 where missing.
    ordered : ndarray, shape (observations,)
        The observations in order.
    start, end : ndarray of int64
        Bounds of the windows, in rows of the stretch.
    """

    rows: slice
    low: int
    rank: NDArray[Any]
    ordered: NDArray[Any]
    start: NDArray[np.int64]
    end: NDArray[np.int64]


def block_rows(width: int) -> int:
    """Output rows of a block: those of several windows, lest values be sorted twice."""
    return max(1 << 15, 3 * width)


def choose(algorithm: str, block: Block, widest: int) -> tuple[str, int]:
    """Name the algorithm, a sorted array for up to `widest` rows, and find the most rows of a window.

    ``"network"`` sorts many windows at once, which only small ones of one width allow where nothing is
    missing.
    """
    longest = block.width or int((block.end - block.start).max())
    if algorithm in ("auto", "network") and sorted_rows.suits(block):
        algorithm = "network"
    elif algorithm in ("auto", "network"):
        algorithm = "sorted_window" if longest <= widest else "rank_set"
    return algorithm, longest


def check_network(algorithm: str, windows: Windows, algorithms: Mapping[str, str]) -> None:
    """Raise if the network was asked for by name and does not serve the windows."""
    if algorithm == "network" and not sorted_rows.serves(windows):
        served = "; ".join(f"{name!r} ({what})" for name, what in algorithms.items())
        raise ValueError(f"algorithm {algorithm!r} does not serve this window; the algorithms are {served}")


def read_only(values: NDArray[Any]) -> NDArray[Any]:
    """View of an array that cannot be written: kernels compile once, not for either kind."""
    view = values.view()
    view.flags.writeable = False
    return view


def ranked_stretches(block: Block) -> Iterator[Stretch]:
    """Cut a block into stretches of several windows, so that memory does not grow with step or gaps."""
    start, end, missing = block.start, block.end, block.missing
    for first, last in stretches(start, end, _SMALLEST_STRETCH):
        low, high = int(start[first]), int(end[last - 1])
        gone = None if missing is None else missing[low:high]
        rank, ordered = tied_ranks(block.values[low:high], gone)
        yield Stretch(slice(first, last), low, rank, ordered, start[first:last] - low, end[first:last] - low)
