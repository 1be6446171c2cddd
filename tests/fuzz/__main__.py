"""Share the time among the areas, count what was compared, and show every failure with the call to repeat it.

Call number i of an area is drawn from ``(seed, area, i)`` alone, so ``--area arrays --number 17 --seed 0``
repeats one.
"""

import argparse
import importlib
import sys
import time
import traceback
import warnings
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

import numpy as np

SHARES = {
    "arrays": 0.3,
    "unwritten": 0.05,
    "boxes": 0.1,
    "streams": 0.15,
    "snapshots": 0.05,
    "warnings": 0.05,
    "stream_warnings": 0.05,
    "objects": 0.05,
    "accessor": 0.1,
    "spark": 0.1,
    "columns": 0.05,
    "scale": 0.1,
    "bits": 0.1,
    "identity": 0.05,
    "views": 0.05,
}
SHOWN = 12


@dataclass
class Area:
    """One face of the package, and what was compared there."""

    name: str
    module: ModuleType
    number: int = 0
    calls: int = 0
    rows: int = 0
    seconds: float = 0.0
    failures: list[str] = field(default_factory=list)

    def run(self, seed: int, number: int) -> None:
        """Make one call, and note what it compared, or how it failed."""
        index = list(SHARES).index(self.name)
        note: dict[str, Any] = {}
        began = time.perf_counter()
        try:
            rows = self.module.fuzz(np.random.default_rng([seed, index, number]), note)
        except Exception:
            again = f"python -m tests.fuzz --seed {seed} --area {self.name} --number {number}"
            drawn = "\n".join(f"    {key} = {value!r}" for key, value in note.items())
            self.failures.append(f"{again}\n{drawn}\n{traceback.format_exc(limit=-6)}")
        else:
            self.calls += rows > 0
            self.rows += rows
        self.seconds += time.perf_counter() - began


def _available(names: list[str]) -> list[Area]:
    """Return the areas whose packages are installed."""
    areas = []
    for name in names:
        try:
            if name == "spark":
                import pyspark  # noqa: F401  # only whether there is one
            areas.append(Area(name, importlib.import_module(f"tests.fuzz.{name}")))
        except ImportError as error:
            print(f"{name} is left out: {error}")
    return areas


def _report(areas: list[Area], seed: int) -> None:
    print(f"{'area':<10}{'calls':>9}{'rows':>12}{'failures':>10}{'seconds':>9}   seed {seed}")
    for area in areas:
        print(f"{area.name:<10}{area.calls:>9,}{area.rows:>12,}{len(area.failures):>10,}{area.seconds:>9.0f}")


def main() -> int:
    """Run for the time given; return 1 if any call failed."""
    parser = argparse.ArgumentParser(prog="tests.fuzz", description=__doc__)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--seed", type=int, default=None, help="default: a new one, which is reported")
    parser.add_argument("--area", choices=SHARES, action="append", help="default: all")
    parser.add_argument("--number", type=int, help="repeat one call of the area")
    given = parser.parse_args()
    seed = int(np.random.SeedSequence().generate_state(1)[0]) if given.seed is None else given.seed
    areas = _available(given.area or list(SHARES))
    warnings.simplefilter("ignore")
    if given.number is not None:
        areas[0].run(seed, given.number)
    end = time.monotonic() + (given.minutes * 60 if given.number is None else 0)
    while time.monotonic() < end and areas:
        area = min(areas, key=lambda area: area.seconds / SHARES[area.name])
        area.run(seed, area.number)
        area.number += 1
    for area in areas:
        for failure in area.failures[:SHOWN]:
            print(failure)
    _report(areas, seed)
    return int(any(area.failures for area in areas))


if __name__ == "__main__":
    sys.exit(main())
