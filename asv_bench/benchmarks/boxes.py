"""Boxes over an image: rollstat beside scipy.ndimage."""

import numpy as np

import rollstat
from benchmarks.peers import ndimage

WIDTHS = [5, 15]


def _uniform(image, width):
    return ndimage.uniform_filter(image, width, output=np.float64, mode="reflect")


def _deviation(image, width):
    cells = width**2
    image = image - image.mean()
    squares = _uniform(image**2, width) - _uniform(image, width) ** 2
    return np.sqrt(np.maximum(squares, 0) * (cells / (cells - 1)))


OPTIONS = {"axis": (0, 1), "center": True, "mode": "reflect"}
CALLS = {
    ("min", "rollstat"): lambda image, width: rollstat.rolling_min(image, (width, width), **OPTIONS),
    ("min", "scipy"): lambda image, width: ndimage.minimum_filter(image, width, mode="reflect"),
    ("mean", "rollstat"): lambda image, width: rollstat.rolling_mean(image, (width, width), **OPTIONS),
    ("mean", "scipy"): _uniform,
    ("sum", "rollstat"): lambda image, width: rollstat.rolling_sum(image, (width, width), **OPTIONS),
    ("sum", "scipy"): lambda image, width: _uniform(image, width) * width**2,
    ("std", "rollstat"): lambda image, width: rollstat.rolling_std(image, (width, width), **OPTIONS),
    ("std", "scipy"): _deviation,
    ("median", "rollstat"): lambda image, width: rollstat.rolling_median(image, (width, width), **OPTIONS),
    ("median", "scipy"): lambda image, width: ndimage.median_filter(image, width, mode="reflect"),
}


class Boxes:
    """Centred boxes over 1000 x 1000 pixels."""

    params = (["min", "mean", "sum", "std", "median"], WIDTHS, ["float64", "uint8"], ["rollstat", "scipy"])
    param_names = ("statistic", "width", "dtype", "library")
    timeout = 300

    def setup(self, statistic, width, dtype, library):
        """Make the image, compile, and warm the caches."""
        if library == "scipy" and ndimage is None:
            raise NotImplementedError("SciPy is not installed")
        rng = np.random.default_rng(20261121)
        self.image = (rng.random((1000, 1000)) * 255).astype(dtype)
        self.time_call(statistic, width, dtype, library)

    def time_call(self, statistic, width, dtype, library):
        """Time one call."""
        CALLS[statistic, library](self.image, width)
