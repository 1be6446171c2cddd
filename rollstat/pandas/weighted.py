"""Windows with weights by position: ``rolling(win_type=...)``."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

import rollstat

_FEW_WEIGHTS = 100
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
        if len(weights) <= _FEW_WEIGHTS:
            weights = tuple(weights.tolist())  # then an equal call finds the plan of this one
        least = len(weights) if self.min_periods is None else max(self.min_periods, 1)
        ddof = getattr(func, "keywords", {}).get("ddof", 1)
        given: dict[str, Any] = {"result": name, "min_periods": least, "center": bool(self.center)}

        def of_column(values: NDArray[np.float64]) -> Any:
            return rollstat.rolling_convolve(values, weights, ddof=ddof, axis=0, **given)

        return self._apply_columnwise(of_column, name, numeric_only)[:: self.step]


class WeightedGroups:
    """Windows within groups with weights of :mod:`scipy.signal.windows`.

    ``data.rollstat.groupby(keys).rolling(window, win_type=...)`` returns these windows. pandas itself ignores
    `win_type` there.

    Parameters
    ----------
    groups : RollingGroupBy
        The windows without weights.
    win_type : str
        The name of the weights.

    Examples
    --------
    >>> import pandas as pd, rollstat.pandas
    >>> groups = pd.Series([1.0, 2.0, 3.0, 5.0]).rollstat.groupby(["b", "a", "b", "a"])
    >>> groups.rolling(2, win_type="triang", transform=True).sum().tolist()
    [nan, nan, 2.0, 3.5]
    """

    def __init__(self, groups: Any, win_type: str) -> None:
        self._groups, self._win_type = groups, win_type
        own = {
            name: getattr(groups, name) for name in ("window", "min_periods", "center", "closed", "method")
        }
        self._one: Any = pd.Series(dtype=float).rolling(**own, win_type=win_type)  # checks the arguments

    def __getitem__(self, columns: Any) -> "WeightedGroups":
        return WeightedGroups(self._groups[columns], self._win_type)

    def sum(self, numeric_only: bool = False, **parameters: Any) -> Any:
        """Return the weighted sums; `parameters` belong to the weights, such as ``std=2``."""
        return self._weighted("sum", numeric_only, parameters)

    def mean(self, numeric_only: bool = False, **parameters: Any) -> Any:
        """Return the weighted means; see :meth:`sum`."""
        return self._weighted("mean", numeric_only, parameters)

    def var(self, ddof: int = 1, numeric_only: bool = False, **parameters: Any) -> Any:
        """Return the weighted variances; see :meth:`sum`."""
        return self._weighted("var", numeric_only, parameters, ddof)

    def std(self, ddof: int = 1, numeric_only: bool = False, **parameters: Any) -> Any:
        """Return the weighted standard deviations; see :meth:`sum`."""
        return self._weighted("std", numeric_only, parameters, ddof)

    def _weighted(self, result: str, numeric_only: bool, parameters: dict[str, Any], ddof: int = 1) -> Any:
        weights = self._one._scipy_weight_generator(self._one.window, **parameters)
        return self._groups.convolve(weights, result, ddof, numeric_only=numeric_only)
