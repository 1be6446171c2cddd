"""Windows in rank space: stretches of a block, each sorted once, with the tied rank of every row."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rollstat import thresholds
from rollstat.algorithms import sorted_rows
from rollstat.algorithms.rank_bits import stretches
from rollstat.algorithms.ranking import tied_ranks
from rollstat.blocks import Block
from rollstat.plan import NAMED, Choice
from rollstat.windows import Windows

__all__ = [
    "NOTHING_MISSING",
    "Stretch",
    "block_rows",
    "check_network",
    "choose",
    "plain_stretches",
    "ranked_stretches",
]

NOTHING_MISSING = np.empty(0, np.bool_)
"""Mask for kernels where every value is an observation."""

_SMALLEST_STRETCH = 8192


@dataclass(slots=True)
class Stretch:
    """Some output rows of a block, and the data that their windows cover.

    Attributes
    ----------
    rows : slice
        The output rows.
    values : ndarray, shape (n,)
        The data.
    missing : ndarray of bool, shape (n,), or None
        Where there is no observation.
    start, end : ndarray of int64
        Bounds of the windows, in rows of the stretch.
    """

    rows: slice
    values: NDArray[Any]
    missing: NDArray[np.bool_] | None
    start: NDArray[np.int64]
    end: NDArray[np.int64]


def block_rows(width: int) -> int:
    """Output rows of a block: those of several windows, lest values be sorted twice."""
    return max(1 << 15, 3 * width)


def choose(algorithm: str, block: Block, widest: int, complete: bool) -> Choice:
    """Return the algorithm for a block: a sorted array for up to `widest` rows, else a set of ranks.

    ``"network"`` sorts many windows at once, which only small ones of one width allow, and only if the
    values are `complete`: none is missing.
    """
    if algorithm not in ("auto", "network"):
        return Choice(algorithm, NAMED)
    narrow = block.longest <= widest
    other = "sorted_window" if narrow else "rank_set"
    if complete and 0 < block.width <= thresholds.SORTED_BY_NETWORK:
        reason = (
            NAMED if algorithm == "network" else f"windows of at most {thresholds.SORTED_BY_NETWORK} rows"
        )
        return Choice("network", reason, ((other, "a value is missing"),))
    return Choice(other, f"windows of {'at most' if narrow else 'more than'} {widest} rows")


def check_network(algorithm: str, windows: Windows, algorithms: Mapping[str, str]) -> None:
    """Raise if the network was asked for by name and does not serve the windows."""
    if algorithm == "network" and not sorted_rows.serves(windows):
        served = "; ".join(f"{name!r} ({what})" for name, what in algorithms.items())
        raise ValueError(f"algorithm {algorithm!r} does not serve this window; the algorithms are {served}")


def plain_stretches(block: Block, smallest: int = 1 << 16) -> Iterator[Stretch]:
    """Cut a block into stretches of several windows, so that memory does not grow with step or gaps."""
    start, end, missing = block.start, block.end, block.missing
    for first, last in stretches(start, end, smallest):
        low, high = int(start[first]), int(end[last - 1])
        yield Stretch(
            slice(first, last),
            block.values[low:high],
            None if missing is None else missing[low:high],
            start[first:last] - low,
            end[first:last] - low,
        )


def ranked_stretches(block: Block) -> Iterator[tuple[Stretch, NDArray[Any], NDArray[Any]]]:
    """Cut a block into stretches, each with the tied rank of every row and the observations in order."""
    for part in plain_stretches(block, _SMALLEST_STRETCH):
        rank, ordered = tied_ranks(part.values, part.missing)
        yield part, rank, ordered
