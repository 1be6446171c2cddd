"""Compare extrema with a copy and with each other, and images with SciPy and OpenCV; write the tables.

python asv_bench/extrema.py --series docs/performance/tables/extrema.rst
python asv_bench/extrema.py --images docs/performance/tables/images.rst
"""

import argparse
import platform
import statistics
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import scipy.ndimage as ndimage

sys.path.insert(0, str(Path(__file__).parent))

from benchmarks import boxes
from benchmarks.data import N, series
from benchmarks.peers import versions
from benchmarks.tables import list_table, write
from benchmarks.timing import milliseconds, ratio

import rollstat

LIBRARIES = ["rollstat", "scipy", "opencv"]


def table(header: list[str], rows: list[list[str]], remark: str) -> list[str]:
    """Return a table of the documentation."""
    for row in [header, *rows]:
        print("  ".join(f"{cell:>12}" for cell in row), flush=True)
    return [*list_table([header, *rows]), remark, f"{versions()}; Python {platform.python_version()}.", ""]


def of_series(windows: list[int], kinds: list[str], rounds: int) -> list[str]:
    """Return the times of one copy, two copies and the statistics, and their ratios."""
    rows = []
    for kind in kinds:
        values = series(kind)
        short = values.astype(np.float32)
        for window in windows:
            least = None if kind != "missing" else max(1, window // 2)

            def call(
                function: Any, array: Any = values, m: int = window, least: Any = least
            ) -> Callable[[], Any]:
                return lambda: function(array, m, min_periods=least)

            times = milliseconds(
                {
                    "copy": values.copy,
                    "copies": np.broadcast_to(values, (2, len(values))).copy,
                    "min": call(rollstat.rolling_min),
                    "minmax": call(rollstat.rolling_minmax),
                    "argmin": call(rollstat.rolling_argmin),
                    "float32": call(rollstat.rolling_min, short),
                },
                rounds,
            )
            ratios = (
                ratio(times, "copies", "copy"),
                ratio(times, "min", "copy"),
                ratio(times, "minmax", "min"),
                ratio(times, "min", "float32"),
            )
            cells = [f"{statistics.median(t):.2f}" for t in times.values()]
            cells += [f"{value:.2f}" for value in ratios]
            rows.append([kind, f"{window:,}", *cells])
    header = ["data", "window", "``arr.copy()``", "two copies", "min", "minmax", "argmin", "min, float32"]
    header += ["two copies / copy", "min / copy", "minmax / min", "float64 / float32"]
    return table(header, rows, f"Milliseconds of one thread for {N:,} values, median of {rounds} rounds.")


def of_images(rounds: int) -> list[str]:
    """Return the times of boxes over an image and those of SciPy, after a comparison of the results."""
    rng = np.random.default_rng(20261121)
    rows = []
    for dtype in (np.float64, np.float32, np.uint8):
        image = (rng.random((4096, 4096)) * 255).astype(dtype)
        for width in (5, 101):

            def mine(image: Any = image, width: int = width) -> Any:
                return rollstat.rolling_min(image, (width, width), axis=(0, 1), center=True, mode="reflect")

            def theirs(image: Any = image, width: int = width) -> Any:
                return ndimage.minimum_filter(image, width, mode="reflect")

            if not np.array_equal(mine(), theirs()):
                raise SystemExit(f"results differ for {image.dtype}, {width} x {width}")
            times = milliseconds({"copy": image.copy, "rollstat": mine, "scipy": theirs}, rounds)
            cells = [f"{statistics.median(t):.1f}" for t in times.values()]
            cells.append(f"{ratio(times, 'scipy', 'rollstat'):.2f}x")
            rows.append([image.dtype.name, f"{width} x {width}", *cells])
    header = ["dtype", "box", "``arr.copy()``", "rollstat", "scipy", "scipy / rollstat"]
    remark = f"Minima in boxes of 4096 x 4096 pixels, milliseconds of one thread, median of {rounds} rounds."
    return table(header, rows, remark) + medians_of_images(rng, rounds)


def medians_of_images(rng: np.random.Generator, rounds: int) -> list[str]:
    """Return the times of medians of boxes in each library, in the dtype of the image."""
    rows = []
    for dtype in (np.uint8, np.float32, np.float64):
        image = (rng.random((1000, 1000)) * 255).astype(dtype)
        for width in (3, 5, 7, 11, 51):
            opencv = boxes.cv2 is not None and (dtype == np.uint8 or (dtype == np.float32 and width <= 5))
            names = ["rollstat", "scipy", *["opencv"] * opencv]
            calls = {name: partial(boxes.CALLS["median", name], width=width) for name in names}
            wanted = calls["rollstat"](part := image[:300, :400].copy())
            for name, call in calls.items():
                if not np.array_equal(call(part), wanted):
                    raise SystemExit(f"medians of {name} differ for {image.dtype}, {width} x {width}")
            timed = {name: partial(call, image) for name, call in calls.items() if not _is_slow(name, width)}
            times = milliseconds(timed, rounds)
            cells = [f"{statistics.median(times[name]):.2f}" if name in times else "" for name in LIBRARIES]
            others = [f"{ratio(times, name, 'rollstat'):.2f}x" if name in times else "" for name in LIBRARIES]
            rows.append([image.dtype.name, f"{width} x {width}", *cells, *others[1:]])
    header = ["dtype", "box", *LIBRARIES, *(f"{name} / rollstat" for name in LIBRARIES[1:])]
    remark = (
        f"Medians in boxes of 1000 x 1000 pixels, milliseconds of one thread, median of {rounds} rounds. "
    )
    remark += "OpenCV has no other dtypes and boxes. All results are equal, compared over 300 x 400 pixels."
    return table(header, rows, remark)


def _is_slow(library: str, width: int) -> bool:
    """Return whether one call takes minutes."""
    return library == "scipy" and width > 11


def main() -> None:
    """Measure, print, and write the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--windows", type=int, nargs="+", default=[2, 5, 25, 100, 1_000, 10_000, 100_000])
    parser.add_argument("--data", nargs="+", default=["normal", "walk", "sine", "sorted", "missing"])
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--series", type=Path)
    parser.add_argument("--images", type=Path)
    arguments = parser.parse_args()
    if arguments.series:
        write(arguments.series, of_series(arguments.windows, arguments.data, arguments.rounds))
    if arguments.images:
        write(arguments.images, of_images(max(arguments.rounds // 3, 3)))


if __name__ == "__main__":
    main()
