"""Statistics of a short series that are read from a sorted array of each window, in one kernel call."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rollstat.blocks import NOTHING_MISSING
from rollstat.compile.bound_calls import BoundKernel
from rollstat.dtypes import EXACT
from rollstat.kernels.rank_space import sorted_windows as readers
from rollstat.plan import SHORT, Bounds, Choice, OneCall

# Distances of integers up to here, halves of them, and means of two halves, are exact in float64.
_EXACT_DISTANCES = 2**50
# Nanoseconds that a row of the window takes: to move a third of the entries, or to read all of them too.
_MOVED = 0.07
_READ = {readers.RankOf: 0.3, readers.Distinct: 0.3, readers.TrimmedMean: 0.3}
_READ |= {readers.Mode: 1.3, readers.MeanDifference: 1.3}


def sorted_in_one_call(
    reader: NamedTuple, least: int, marks: Sequence[float], *, distances: bool = False
) -> OneCall:
    """Return what reads statistics from a sorted array of each window.

    Parameters
    ----------
    reader : NamedTuple
        What to read; see :mod:`rollstat.kernels.rank_space.sorted_windows`.
    least : int
        Observations below which a window has no result.
    marks : sequence of float
        What each result is where there is none.
    distances : bool
        Whether distances of values, and means of these, must be exact.
    """
    several = isinstance(reader, readers.Points)
    kernel = BoundKernel(readers.sorted_windows)
    marked = np.array(marks if several else [*marks, 0.0][:2], np.float64)

    def run(columns: list[NDArray[Any]], bounds: Bounds, outputs: Sequence[NDArray[np.float64]]) -> bool:
        (values,), (start, end, longest, own) = columns, bounds
        window, read = np.empty(longest + 1), reader
        found: Any = tuple(outputs)
        if several:  # one array for any number of results, so that one version of the kernel serves all
            found = np.empty((len(outputs), len(start)))
            read = reader._replace(found=np.empty(len(outputs)))
        done = kernel(read, values, NOTHING_MISSING, start, end, own, least, window, marked, found)
        for output, row in zip(outputs, found if several else ()):
            output[...] = row
        return bool(done)

    entry, most = _READ.get(type(reader), _MOVED), _EXACT_DISTANCES if distances else EXACT
    return OneCall(Choice("sorted_window", SHORT), run, 30.0, entry, most)
