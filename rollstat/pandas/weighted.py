"""Windows with weights by position, ``rolling(win_type=...)``, whose statistics rollstat computes."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

import rollstat

_PandasWindow: Any = pd.api.typing.Window


class WeightedWindows(_PandasWindow):  # type: ignore[misc]  # the stubs leave out what its methods call
    """Windows over a Series or DataFrame with weights of :mod:`scipy.signal.windows`, as in pandas."""

    def _apply(
        self,
        func: Callable[..., Any],
        name: str,
        numeric_only: bool = False,
        numba_args: tuple[Any, ...] = (),
        **kwargs: Any,
    ) -> Any:
        """Compute ``sum``, ``mean`` or ``var`` of each column, where pandas passes its kernel."""
        weights = self._scipy_weight_generator(self.window, **kwargs)
        if not len(weights):
            return super()._apply(func, name, numeric_only, numba_args, **kwargs)
        least = len(weights) if self.min_periods is None else max(self.min_periods, 1)
        ddof = getattr(func, "keywords", {}).get("ddof", 1)
        given: dict[str, Any] = {"result": name, "min_periods": least, "center": bool(self.center)}

        def of_column(values: NDArray[np.float64]) -> Any:
            return rollstat.rolling_convolve(values, weights, ddof=ddof, axis=0, **given)

        return self._apply_columnwise(of_column, name, numeric_only)[:: self.step]
