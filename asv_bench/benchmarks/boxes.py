"""Boxes over an image: rollstat beside scipy.ndimage and OpenCV, each on one thread."""

import numpy as np

import rollstat
from benchmarks.peers import cv2, ndimage

WIDTHS = [3, 5, 11, 51]
OPTIONS = {"axis": (0, 1), "center": True, "mode": "nearest"}


def _median(image, width):
    """Return the median of an odd number of elements, in the dtype of the image as in the other libraries."""
    return rollstat.rolling_kth(image, width * width // 2 + 1, (width, width), **OPTIONS)


CALLS = {
    ("min", "rollstat"): lambda image, width: rollstat.rolling_min(image, (width, width), **OPTIONS),
    ("min", "scipy"): lambda image, width: ndimage.minimum_filter(image, width, mode="nearest"),
    ("median", "rollstat"): _median,
    ("median", "scipy"): lambda image, width: ndimage.median_filter(image, width, mode="nearest"),
    ("median", "opencv"): lambda image, width: cv2.medianBlur(image, width),
}
MODULES = {"rollstat": rollstat, "scipy": ndimage, "opencv": cv2}


class Boxes:
    """Centred boxes over 1000 x 1000 pixels."""

    params = (["min", "median"], WIDTHS, ["float64", "float32", "uint8"], [*MODULES])
    param_names = ("statistic", "width", "dtype", "library")
    timeout = 300

    def setup(self, statistic, width, dtype, library):
        """Make the image, compile, warm the caches and compare the results."""
        served = dtype == "uint8" or (dtype == "float32" and width <= 5)
        if MODULES[library] is None or (library == "opencv" and not (served and statistic == "median")):
            raise NotImplementedError(f"{library} is not installed or has no such filter")
        rng = np.random.default_rng(20261121)
        self.image = (rng.random((1000, 1000)) * 255).astype(dtype)
        found = self.time_call(statistic, width, dtype, library)
        np.testing.assert_array_equal(found, CALLS[statistic, "rollstat"](self.image, width))

    def time_call(self, statistic, width, dtype, library):
        """Time one call."""
        return CALLS[statistic, library](self.image, width)
