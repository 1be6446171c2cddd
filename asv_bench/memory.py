"""Measure the memory of a call beyond its input and output, which are memory-mapped files.

    python asv_bench/memory.py
    python asv_bench/memory.py --n 4000000 --windows 1000

The input is a read-only ``np.memmap``. The script measures the peak of the process's anonymous memory
during the call, as reported by Linux, above its size after a short call that loads the kernels. It fails if
the peak exceeds the limit.
"""

import argparse
import sys
import tempfile
import threading
from pathlib import Path

import numpy as np

import rollstat

MEGABYTE = 1 << 20


def anonymous_memory() -> int:
    """Return the bytes of memory of this process that no file backs."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("RssAnon"):
            return int(line.split()[1]) * 1024
    raise RuntimeError("this system does not tell the anonymous memory of a process")


class Peak:
    """The peak of anonymous memory in a ``with`` block, above its size at the start."""

    def __enter__(self) -> "Peak":
        self.before = self.highest = anonymous_memory()
        self.done = threading.Event()
        self.watcher = threading.Thread(target=self.watch)
        self.watcher.start()
        return self

    def watch(self) -> None:
        """Look every few milliseconds; kernels leave other threads to run."""
        while not self.done.wait(0.002):
            self.highest = max(self.highest, anonymous_memory())

    def __exit__(self, *error: object) -> None:
        self.highest = max(self.highest, anonymous_memory())
        self.done.set()
        self.watcher.join()

    @property
    def bytes(self) -> int:
        """The difference."""
        return self.highest - self.before


def write_series(path: Path, n: int) -> None:
    """Write a file of noise in parts."""
    rng = np.random.default_rng(0)
    with path.open("wb") as file:
        for first in range(0, n, 1 << 20):
            rng.standard_normal(min(1 << 20, n - first)).tofile(file)


def main() -> None:
    """Measure every window; fail if one takes more than the limit."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--n", type=int, default=100_000_000)
    parser.add_argument("--windows", type=int, nargs="+", default=[5, 1_000, 100_000])
    parser.add_argument("--limit", type=float, default=100.0, help="megabytes")
    arguments = parser.parse_args()
    failed = False
    with tempfile.TemporaryDirectory() as folder:
        write_series(Path(folder, "input"), arguments.n)
        values = np.memmap(Path(folder, "input"), np.float64, mode="r")
        out = np.memmap(Path(folder, "output"), np.float64, mode="w+", shape=arguments.n)
        for window in arguments.windows:
            rollstat.rolling_median(np.array(values[: 3 * window]), window)
            with Peak() as peak:
                rollstat.rolling_median(values, window, out=out)
            row = arguments.n // 2
            assert out[row] == np.median(values[row - window + 1 : row + 1])
            taken = peak.bytes / MEGABYTE
            print(f"rolling_median, n={arguments.n:,}, m={window:,}: {taken:.1f} MB beyond input and output")
            failed |= taken > arguments.limit
    sys.exit(f"more than {arguments.limit:g} MB" if failed else 0)


if __name__ == "__main__":
    main()
