"""Boxes over an image: rollstat beside scipy.ndimage and OpenCV, each on one thread."""

import numpy as np

import rollstat
from benchmarks.peers import cv2, ndimage

WIDTHS = [3, 5, 11, 51]
OPTIONS = {"axis": (0, 1), "center": True, "mode": "nearest"}


def _median(image, width):
    """Return the median of an odd number of elements, in the dtype of the image as in the other libraries."""
    return rollstat.rolling_kth(image, width * width // 2 + 1, (width, width), **OPTIONS)


def _uniform(image, width):
    return ndimage.uniform_filter(image, width, output=np.float64, mode="nearest")


def _blur(image, width):
    border = cv2.BORDER_REPLICATE
    return cv2.boxFilter(image, cv2.CV_64F, (width, width), borderType=border)


def _deviation(image, width):
    cells, image = width**2, image - image.mean()
    squares = _uniform(image**2, width) - _uniform(image, width) ** 2
    return np.sqrt(np.maximum(squares, 0) * (cells / (cells - 1)))


CALLS = {
    ("min", "rollstat"): lambda image, width: rollstat.rolling_min(image, (width, width), **OPTIONS),
    ("min", "scipy"): lambda image, width: ndimage.minimum_filter(image, width, mode="nearest"),
    ("mean", "rollstat"): lambda image, width: rollstat.rolling_mean(image, (width, width), **OPTIONS),
    ("mean", "scipy"): _uniform,
    ("mean", "opencv"): _blur,
    ("sum", "rollstat"): lambda image, width: rollstat.rolling_sum(image, (width, width), **OPTIONS),
    ("sum", "scipy"): lambda image, width: _uniform(image, width) * width**2,
    ("sum", "opencv"): lambda image, width: _blur(image, width) * width**2,
    ("std", "rollstat"): lambda image, width: rollstat.rolling_std(image, (width, width), **OPTIONS),
    ("std", "scipy"): _deviation,
    ("median", "rollstat"): _median,
    ("median", "scipy"): lambda image, width: ndimage.median_filter(image, width, mode="nearest"),
    ("median", "opencv"): lambda image, width: cv2.medianBlur(image, width),
}
MODULES = {"rollstat": rollstat, "scipy": ndimage, "opencv": cv2}


class Boxes:
    """Centred boxes over 1000 x 1000 pixels."""

    params = (["min", "mean", "sum", "std", "median"], WIDTHS, ["float64", "float32", "uint8"], [*MODULES])
    param_names = ("statistic", "width", "dtype", "library")
    timeout = 300

    def setup(self, statistic, width, dtype, library):
        """Make the image, compile, warm the caches and compare the results."""
        served = dtype == "uint8" or (dtype == "float32" and width <= 5)
        served = statistic in ("mean", "sum") or (statistic == "median" and served)
        if MODULES[library] is None or (library == "opencv" and not served):
            raise NotImplementedError(f"{library} is not installed or has no such filter")
        rng = np.random.default_rng(20261121)
        self.image = (rng.random((1000, 1000)) * 255).astype(dtype)
        found = self.time_call(statistic, width, dtype, library)
        rounding = 1e-5 if statistic in ("mean", "sum", "std") else 0
        np.testing.assert_allclose(found, CALLS[statistic, "rollstat"](self.image, width), rtol=rounding)

    def time_call(self, statistic, width, dtype, library):
        """Time one call."""
        return CALLS[statistic, library](self.image, width)
