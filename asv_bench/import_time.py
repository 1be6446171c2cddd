"""Print the time of ``import rollstat`` on top of that of its dependencies.

    python asv_bench/import_time.py

Each time is the median over fresh processes, which run in turn so that a change of the machine's speed
affects all of them equally. A first run of each writes the bytecode and is not counted. "First use" is the
time from the end of the imports until a name of the package is loaded, without any call. The difference is
the median over pairs of processes; on a busy machine, the time in a process after them is more exact.
"""

import platform
import statistics
import subprocess
import sys

from numpy import __version__ as numpy_version

PROCESSES = 11
BASE = "import numba, numpy, pandas"
USES = ("rolling_median", "rolling_mean", "rolling_min", "RollingMedian", "RollingMean")
CODE = """
import time
start = time.perf_counter()
{first}
middle = time.perf_counter()
{second}
print(middle - start, time.perf_counter() - middle)
"""


def measure(first: str, second: str) -> tuple[float, float]:
    """Return the milliseconds that each of two statements takes in a fresh process, one after the other."""
    code = CODE.format(first=first, second=second)
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    took = [1000 * float(seconds) for seconds in run.stdout.split()]
    return took[0], took[1]


def main() -> None:
    """Print the medians."""
    imports = {"without": BASE, "with": f"{BASE}, rollstat"}
    uses = {name: f"rollstat.{name}" for name in USES}
    times: dict[str, list[float]] = {name: [] for name in (*imports, "after", *uses)}
    for number in range(PROCESSES + 1):
        for name, statement in imports.items():
            took = measure(statement, "pass")[0]
            times[name] += [took] * (number > 0)
        times["after"] += [measure(BASE, "import rollstat")[1]] * (number > 0)
        for name, statement in uses.items():
            took = measure(f"{BASE}, rollstat", statement)[1]
            times[name] += [took] * (number > 0)
    medians = {name: statistics.median(values) for name, values in times.items()}
    print(
        f"Python {platform.python_version()}, numpy {numpy_version}, {PROCESSES} processes each; milliseconds"
    )
    print(f"{BASE:<40}{medians['without']:8.1f}")
    print(f"{BASE + ', rollstat':<40}{medians['with']:8.1f}")
    difference = statistics.median(b - a for a, b in zip(times["without"], times["with"]))
    print(f"{'difference':<40}{difference:8.1f}")
    print(f"{'import rollstat in a process after them':<40}{medians['after']:8.1f}")
    for name in USES:
        print(f"{'first use of rollstat.' + name:<40}{medians[name]:8.1f}")


if __name__ == "__main__":
    main()
