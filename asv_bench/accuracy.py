"""Compare sums and moments of every library with exact values on difficult data; write the table of accuracy.

    python asv_bench/accuracy.py --output docs/performance/tables/accuracy.rst

A float is an integer multiplied by a power of two, and Python's integers are exact.
"""

import argparse
import math
import platform
import sys
import warnings
from fractions import Fraction
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))

from benchmarks.data import N
from benchmarks.peers import Job, libraries, versions
from benchmarks.tables import list_table, write

STATISTICS = ("sum", "mean", "var", "std", "skew", "kurt")
# The table shows the absolute error of these, because they are about 1 and may be 0.
ABSOLUTE = ("skew", "kurt")
LIBRARIES = ("rollstat", "pandas", "bottleneck", "polars", "numbagg", "screamer")


def _spoilt(value: float, n: int) -> np.ndarray:
    values = np.random.default_rng(7).standard_normal(n)
    values[n // 10] = value
    return values


# Name: series of n values, window, and the share of rows before the first window that is checked.
DATA = {
    "1e9 + noise": (lambda n: 1e9 + np.random.default_rng(7).standard_normal(n), 1_000, 0.0),
    "±1e16 in turn + noise": (
        lambda n: np.resize([1e16, -1e16], n) + 1e3 * np.random.default_rng(7).standard_normal(n),
        1_000,
        0.0,
    ),
    "0.1 throughout": (lambda n: np.full(n, 0.1), 100_000, 0.0),
    "1e16 has left": (lambda n: _spoilt(1e16, n), 1_000, 0.1),
    "inf has left": (lambda n: _spoilt(np.inf, n), 1_000, 0.1),
    "NaN has left": (lambda n: _spoilt(np.nan, n), 1_000, 0.1),
}


def whole_numbers(window: np.ndarray) -> tuple[list[int], int]:
    """Return the values as integers, and the power of two that divides them."""
    ratios = [x.as_integer_ratio() for x in window.tolist()]
    divisor = max(denominator for _, denominator in ratios)
    return [numerator * (divisor // denominator) for numerator, denominator in ratios], divisor


def exact(window: np.ndarray) -> dict[str, float]:
    """Return every statistic of one window, rounded once or twice at the end."""
    integers, divisor = whole_numbers(window)
    m, total = len(integers), sum(integers)
    # Deviations from the mean, multiplied by m to make them integers.
    deviations = [m * x - total for x in integers]
    squares = Fraction(sum(x**2 for x in deviations), (m * divisor) ** 2)
    result = {"sum": float(Fraction(total, divisor)), "mean": float(Fraction(total, m * divisor))}
    result["var"] = float(squares / (m - 1))
    result["std"] = math.sqrt(result["var"])
    if squares == 0:
        return result | {"skew": math.nan, "kurt": math.nan}
    cubes = Fraction(sum(x**3 for x in deviations), (m * divisor) ** 3)
    fourth = Fraction(sum(x**4 for x in deviations), (m * divisor) ** 4)
    # The square of the skewness is a ratio; so is the kurtosis.
    squared = cubes**2 * m * m * (m - 1) / (squares**3 * (m - 2) ** 2)
    result["skew"] = math.copysign(math.sqrt(float(squared)), cubes)
    kurtosis = (m + 1) * m * fourth / squares**2 - 3 * (m - 1)
    result["kurt"] = float(kurtosis * (m - 1) / ((m - 2) * (m - 3)))
    return result


def worst(name: str, found: np.ndarray, wanted: np.ndarray) -> str:
    """Return the largest error of some windows."""
    if np.isnan(wanted).all():
        return "NaN" if np.isnan(found).all() else "a number"
    if not np.isfinite(found).all():
        return "not finite"
    error = np.abs(found - wanted)
    if name not in ABSOLUTE and wanted.any():
        error = error / np.abs(wanted)
    return f"{error.max():.0e}" if error.any() else "0"


def compare(values: np.ndarray, window: int, first: float, samples: int) -> dict[str, dict[str, str]]:
    """Return the largest errors by statistic and library on one series."""
    rows = np.linspace(window + first * len(values), len(values) - 1, samples).astype(int)
    reference = [exact(values[i - window + 1 : i + 1]) for i in rows]
    errors: dict[str, dict[str, str]] = {}
    for name in STATISTICS:
        wanted = np.array([row[name] for row in reference])
        errors[name] = {}
        for library, run in libraries(name, window).items():
            found = np.asarray(run(Job(values, window)), np.float64)[rows]
            errors[name][library] = worst(name, found, wanted)
    return errors


def _number(cell: str) -> float:
    """Return the number by which cells are compared; all exact libraries are equal."""
    try:
        return float(cell)
    except ValueError:
        return math.inf


def main() -> None:
    """Compare, print, and write the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--n", type=int, default=N)
    parser.add_argument("--samples", type=int, default=40)
    parser.add_argument("--output", type=Path)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")

    table: dict[str, list[list[str]]] = {name: [] for name in STATISTICS}
    for title, (make, window, first) in DATA.items():
        errors = compare(make(arguments.n), window, first, arguments.samples)
        for name in STATISTICS:
            cells = [errors[name].get(library, "") for library in LIBRARIES]
            best = min((_number(cell) for cell in cells[1:] if cell), default=math.inf)
            if _number(cells[0]) > best:
                cells[0] = f"**{cells[0]}**"
            table[name].append([name, title, f"{window:,}", *cells])
            print("  ".join(f"{cell:>12}" for cell in table[name][-1]), flush=True)

    header = ["", "data", "window", *LIBRARIES]
    lines = list_table([header, *(row for rows in table.values() for row in rows)])
    lines += [f"Largest error of {arguments.samples} windows spread over {arguments.n:,} values, relative"]
    lines += [
        "to the exact result; absolute for skew and kurt, and where the exact result is 0. Bold: another"
    ]
    lines += ["library is more accurate. Empty: the library has no such function."]
    lines += [f"{versions()}; Python {platform.python_version()}.", ""]
    write(arguments.output, lines)


if __name__ == "__main__":
    main()
