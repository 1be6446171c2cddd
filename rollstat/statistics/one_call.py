"""All results of a short series in one kernel call, whatever its windows.

The kernels take bounds, skip NaN, count observations and write every row, so nothing but their call remains
to be done. For a short series that saves more than faster kernels would. They are compiled for float64 alone:
other numbers are converted first, if that is exact.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rollstat.blocks import exact_floats
from rollstat.dtypes import EXACT
from rollstat.plan import Bounds

_FLOAT64 = np.dtype(np.float64)
SHORT = "the series is so short that one kernel call takes the least time"

Run = Callable[[list[NDArray[np.float64]], Bounds, Sequence[NDArray[np.float64]]], bool | None]


@dataclass(frozen=True)
class OverFloats:
    """What converts series and results of a call from and to float64.

    Attributes
    ----------
    run : callable
        Takes the series, the windows and the results; returns False if it does not serve the values.
    most : int
        The largest absolute value of integers that may be converted.
    """

    run: Run
    most: int = EXACT

    def __call__(self, series: Sequence[Any], bounds: Bounds, outputs: Sequence[NDArray[Any]]) -> bool:
        """Write all results; return whether the values are served."""
        columns = []
        for values in series:
            column = exact_floats(values, self.most)
            if column is None:
                return False
            columns.append(column)
        written = [out if out.dtype == _FLOAT64 else np.empty(len(out)) for out in outputs]
        if self.run(columns, bounds, written) is False:
            return False
        for out, result in zip(outputs, written):
            if out is not result:
                with np.errstate(over="ignore"):  # values that float32 cannot hold become infinite
                    out[...] = result
        return True
