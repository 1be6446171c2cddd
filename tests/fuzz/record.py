"""Record the results of fixed random calls, or compare two recordings, byte by byte.

::

    python -m tests.fuzz.record before.json --calls 15000        # on the code before the change
    python -m tests.fuzz.record after.json --calls 15000         # on the code after it, with the same tests
    python -m tests.fuzz.record before.json --compare after.json

The calls are those of the random comparison of each area, without the oracles. A recording holds one digest
per call, of the type and the bytes of every result, or of the type of the error. All zeros count as equal,
and so do all NaN.
"""

import argparse
import hashlib
import importlib
import json
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np

AREAS = {"arrays": 0.6, "boxes": 0.1, "streams": 0.15, "accessor": 0.15}
SHOWN = 20


class Recorder:
    """Takes the place of the comparison in an area, and digests the results that it is given."""

    def __init__(self, name: str) -> None:
        self.area = importlib.import_module(f"tests.fuzz.{name}")
        for oracle in ("answers", "_brute"):
            if hasattr(self.area, oracle):
                setattr(self.area, oracle, lambda *_: [])
        self.area.check = self.add  # type: ignore[attr-defined]  # replaces what the module imports

    def add(self, statistic: Any, results: list[Any], *_: Any) -> None:
        """Digest the results of one call."""
        for array in results:
            values = np.ascontiguousarray(np.ma.getdata(array))
            if values.dtype.kind == "f":
                values = np.where(np.isnan(values), np.nan, values + 0.0).astype(values.dtype)
            if isinstance(array, np.ma.MaskedArray):
                mask = np.ma.getmaskarray(array)
                values = np.where(mask, np.zeros((), values.dtype), values)
                self.digest.update(mask.tobytes())
            self.digest.update(f"{values.dtype.str}{values.shape}".encode() + values.tobytes())

    def call(self, seed: list[int]) -> tuple[str, str]:
        """Return the digest of one call, and the call as text."""
        self.digest, note = hashlib.sha256(), {}
        try:
            self.area.fuzz(np.random.default_rng(seed), note)
        except Exception as error:
            self.digest.update(type(error).__name__.encode())
        text = ", ".join(f"{key}={note[key]!r:.80}" for key in note if key not in ("columns", "steps"))
        return self.digest.hexdigest()[:16], text


def record(calls: int, seed: int) -> dict[str, tuple[str, str]]:
    """Return digest and text of each call by its name."""
    recording = {}
    for index, (name, share) in enumerate(AREAS.items()):
        recorder = Recorder(name)
        for number in range(round(calls * share)):
            recording[f"{name} {number}"] = recorder.call([seed, index, number])
    return recording


def compare(before: dict[str, Any], after: dict[str, Any]) -> int:
    """Print the calls whose results differ; return 1 if there are any."""
    changed = [name for name in before if before[name][0] != after.get(name, ("", ""))[0]]
    for name in changed[:SHOWN]:
        print(f"{name}: {before[name][1]}")
    print(f"{len(before):,} calls, {len(changed):,} differ")
    return int(bool(changed))


def main() -> int:
    """Write a recording, or compare two."""
    parser = argparse.ArgumentParser(prog="tests.fuzz.record", description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("--calls", type=int, default=15_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--compare", type=Path)
    given = parser.parse_args()
    if given.compare is not None:
        return compare(*(json.loads(path.read_text()) for path in (given.file, given.compare)))
    warnings.simplefilter("ignore")
    given.file.write_text(json.dumps(record(given.calls, given.seed), indent=0))
    return 0


if __name__ == "__main__":
    sys.exit(main())
