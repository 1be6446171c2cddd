"""Weighted sums and means of windows, with weights by position."""

from typing import Any, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rollstat._extras import if_installed
from rollstat.options import CommonOptions, Window, choice, whole_number
from rollstat.statistics.common import call, numbers, statistic
from rollstat.statistics.weighted.convolution import ALGORITHMS, RESULTS, Convolution


def _weights(weights: Any, window: Any) -> NDArray[np.float64]:
    """Return the weights by position, or raise."""
    if isinstance(weights, str) or (isinstance(weights, tuple) and weights and isinstance(weights[0], str)):
        rows = whole_number("window", window, 1)
        if weights == "linear":
            return np.arange(1.0, rows + 1)
        windows = if_installed("scipy.signal.windows")
        if windows is None:
            raise ModuleNotFoundError(f"weights={weights!r} needs scipy", name="scipy")
        try:
            return np.asarray(windows.get_window(weights, rows, False), np.float64)
        except (ValueError, TypeError) as error:
            raise ValueError(
                f"weights must be numbers, 'linear' or a window of scipy.signal; got {weights!r}"
            ) from error
    found = np.atleast_1d(numbers("weights", weights)).astype(np.float64)
    if found.ndim != 1 or not len(found) or not np.isfinite(found).all():
        raise ValueError(f"weights must be a series of finite numbers; got {weights!r}")
    return found


@statistic(
    family="sum",
    kinds="fiub",
    samples=({"weights": (1.0, 2.0, 4.0)}, {"weights": (0.5, 1.0), "result": "mean"}),
    exact=False,
    ordered=True,
    error_bound=("(m + 2) * u * sum(abs(w * arr))",),
    algorithms=ALGORITHMS,
    cost="O(m) vector operations; O(log m) with fft",
    source="definition; Oppenheim and Schafer, Discrete-Time Signal Processing, for overlap-add",
)
def rolling_convolve(
    arr: ArrayLike,
    weights: ArrayLike | str | tuple[Any, ...],
    window: Window = None,
    result: str = "sum",
    ddof: int = 1,
    **options: Unpack[CommonOptions],
) -> NDArray[Any]:
    """Weighted sum or mean of each window, with weights by position.

    Parameters
    ----------
    {numbers}
    weights : array_like of float, str or tuple
        The weight of each row of a window, the oldest first: the last one belongs to the newest row. Or the
        name of a window of :mod:`scipy.signal.windows`, which may be a tuple with its parameters, such as
        ``("gaussian", 2.0)``, or ``"linear"``, weights of 1 to m; `window` is then the number of rows.
    window : int, str, timedelta, number, (start, end), Expanding, Forward or BaseIndexer, optional
        The window of each row, see :ref:`windows`. Default: as many rows as there are weights. Rows that are
        older than the weights have none.
    result : {"sum", "mean", "var", "std"}, default "sum"
        The weighted sum; the same divided by the sum of the weights of the observations; the weighted
        variance about that mean, or its root.
    ddof : int, default 1
        Delta degrees of freedom of variances, which are multiplied by ``m / (m - ddof)`` for m weights, as in
        pandas.
    {options}

    Returns
    -------
    {float}

    Raises
    ------
    ValueError, TypeError
        If an array, the weights, the window or an option is invalid. Raised before anything is computed.

    Notes
    -----
    ``numpy.convolve(arr, weights[::-1], "valid")`` for complete data. Missing values are ignored, and so are
    rows beyond the ends of the series: a sum leaves them out, a mean divides by the weights of the
    observations, as ``rolling(win_type=...)`` of pandas does. Where the end of the data cuts a centred
    window, the last weights are left out. The error of a sum is at most
    ``{error bound}`` for m weights w, with u = 2**-53, and values that have left
    the window have no influence.

    More than 320 weights of windows of rows take a fast Fourier transform if SciPy is installed and no value
    of a block of rows is more than 256 times as large as their mean size. Its error is at most about
    ``log2(m) * u * norm(w) * norm(x)`` for the values x of some 2 m rows around the window.
    ``algorithm="direct"`` keeps to the first bound.

    Cost: O(m) vector operations per element, O(log m) operations with a transform. Source: the definition;
    :func:`scipy.signal.oaconvolve`.

    Examples
    --------
    >>> import rollstat
    >>> rollstat.rolling_convolve([1.0, 2.0, 4.0, 8.0], [1.0, 3.0])
    array([nan,  7., 14., 28.])
    >>> rollstat.rolling_convolve([1.0, 2.0, 4.0, 8.0], "linear", 3, result="mean")
    array([       nan,        nan, 2.83333333, 5.66666667])
    """
    numbers("arr", arr)
    choice("result", result, RESULTS)
    values = _weights(weights, window)
    parameters: dict[str, Any] = {"weights": values, "result": result, "ddof": whole_number("ddof", ddof, 0)}
    window = len(values) if window is None else window
    return call(Convolution, [arr], window, options, "convolve", ALGORITHMS, **parameters)
