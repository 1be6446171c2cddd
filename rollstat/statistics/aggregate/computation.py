"""Any associative operator, block by block."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rollstat.blocks import Block, Outcome
from rollstat.dtypes import compute_dtype, warn_of_rounding
from rollstat.operators.interface import NOTHING, empty_result
from rollstat.plan import NAMED, Choice, Computation, OneCall, Output
from rollstat.statistics.aggregate import drivers
from rollstat.statistics.one_call import operator_in_one_call
from rollstat.windows import Windows

_KINDS = {"f": "float", "i": "integer", "u": "integer", "b": "truth"}


class Combination(Computation):
    """Any associative operator over the observations of every window.

    Parameters
    ----------
    dtype : numpy.dtype
        Of the first series.
    windows : Windows
        The windows of the call.
    operator : Operator
        What combines them.
    dtypes : sequence of numpy.dtype
        Of the series.
    algorithm : str
        ``"auto"`` or a name of :data:`rollstat.statistics.aggregate.drivers.ALGORITHMS`.
    required : int
        Fewest observations for which there is a result.
    kind : str, optional
        Kind of the outputs; by default that of the operator's results.
    """

    rounds = True
    can_fail = True

    def __init__(
        self,
        dtype: np.dtype[Any],
        windows: Windows,
        operator: Any,
        dtypes: Sequence[np.dtype[Any]],
        algorithm: str = "auto",
        required: int = 1,
        kind: str | None = None,
    ) -> None:
        self._dtype = dtype
        self._operator, self._layout = drivers.prepare(operator, dtypes)
        self._algorithm = algorithm
        self.one_block = algorithm == "greedy"
        self.knows_rows = kind is None and bool(getattr(operator, "with_row", False))
        if empty_result(self._operator) is NOTHING:
            required = max(required, 1)  # an empty window has no result
        for output in self._layout.outputs:
            if output.shape or output.base.kind not in _KINDS:
                raise TypeError(
                    f"op must return numbers or tuples of numbers for an array of numbers; "
                    f"it returned {output}: pass the elements as an array of objects"
                )
        self.outputs = [Output(kind or _KINDS[output.base.kind], required) for output in self._layout.outputs]

    def block_rows(self, width: int, alone: bool = False) -> int:
        """Return the output rows of a block that suit windows of `width` rows."""
        return drivers.block_rows(width)

    def choose(self, block: Block) -> Choice:
        """Return the algorithm for a block."""
        if self._algorithm == "auto":
            return Choice("operator_scan", "the fastest for any windows of numbers")
        return Choice(self._algorithm, NAMED)

    def one_call(self, least: int, marks: Sequence[float], longest: int) -> OneCall | None:
        """Return what writes all results of a series in one call, see :class:`Computation`."""
        computed = [compute_dtype(output.kind, self._dtype) for output in self.outputs]
        if computed != list(self._layout.outputs):
            return None
        return operator_in_one_call(self._operator, self._layout, least, marks, longest)

    def compute(self, block: Block, min_periods: int, results: list[NDArray[Any]]) -> Outcome:
        """Write the result of every row with at least `min_periods` observations."""
        algorithm = self.choose(block).name
        if getattr(self._operator, "rounds_integers", False):
            for values in (block.values, *block.others):
                warn_of_rounding(values)
        drivers.aggregate(block, self._operator, self._layout, results, algorithm, min_periods)
        return Outcome(algorithm=algorithm, base_added=True)
