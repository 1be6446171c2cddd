"""Sums, moments and any associative operator, block by block."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rollstat.algorithms import aggregate as aggregates
from rollstat.algorithms import window_sums
from rollstat.blocks import Block
from rollstat.engine import Output
from rollstat.operators.interface import NOTHING, empty_result

__all__ = ["Combination", "Formula"]

_FLOAT64 = np.dtype(np.float64)
_KINDS = {"f": "float", "i": "integer", "u": "integer", "b": "truth"}


class Formula:
    """Statistics that are written block by block, such as those that follow from sums over the window.

    Parameters
    ----------
    write : callable
        Takes a block and one array for each output.
    required : int
        Observations without which there is no result.
    outputs : int
        How many arrays it gives.
    kind : str
        Kind of the outputs.
    dtype : numpy.dtype
        Of the first series.
    """

    def __init__(
        self,
        write: Callable[..., None],
        required: int,
        outputs: int = 1,
        kind: str = "float",
        dtype: np.dtype[Any] = _FLOAT64,
    ) -> None:
        self._write = write
        self._converts = dtype != _FLOAT64
        self.outputs = [Output(kind, required)] * outputs

    def block_rows(self, width: int) -> int:
        """Output rows of a block that suit windows of `width` rows."""
        return window_sums.block_rows(width)

    def block_rows_alone(self, width: int) -> int:
        """The same where one thread does all the work, and shorter blocks would only begin more often.

        What is converted into float64 first is to stay in the cache until it is summed.
        """
        return window_sums.block_rows(width, alone=not self._converts)

    def compute(self, block: Block, wanted: int, results: list[NDArray[Any]]) -> None:
        """Write the result of every row that has at least `wanted` observations."""
        self._write(block, *results)


class Combination:
    """Any associative operator over the observations of every window.

    Parameters
    ----------
    operator : Operator
        What combines them.
    dtypes : sequence of numpy.dtype
        Of the series.
    algorithm : str
        ``"auto"`` or a name of :data:`rollstat.algorithms.aggregate.ALGORITHMS`.
    required : int
        Observations without which there is no result.
    kind : str, optional
        Kind of the outputs; by default that of the operator's results.
    """

    can_fail = True

    def __init__(
        self,
        operator: Any,
        dtypes: Sequence[np.dtype[Any]],
        algorithm: str = "auto",
        required: int = 1,
        kind: str | None = None,
    ) -> None:
        self._operator, self._layout = aggregates.prepare(operator, dtypes)
        self._algorithm = algorithm
        if empty_result(self._operator) is NOTHING:
            required = max(required, 1)  # there is nothing that an empty window could give
        for output in self._layout.outputs:
            if output.shape or output.base.kind not in _KINDS:
                raise TypeError(
                    f"op must give numbers or tuples of numbers over an array of numbers; it gave {output}: "
                    "give the elements as an array of objects"
                )
        self.outputs = [Output(kind or _KINDS[output.base.kind], required) for output in self._layout.outputs]

    def block_rows(self, width: int) -> int:
        """Output rows of a block that suit windows of `width` rows."""
        return aggregates.block_rows(width)

    def compute(self, block: Block, wanted: int, results: list[NDArray[Any]]) -> None:
        """Write the result of every row that has at least `wanted` observations."""
        aggregates.aggregate(block, self._operator, self._layout, results, self._algorithm, wanted)
