"""Snapshots that a release wrote, with the values that its streams gave afterwards.

    python -m tests.streaming.fixtures tests/streaming/data/snapshots_2.json.gz

The file is written once for each change of what snapshots hold, by the code before that change, and never
rewritten: ``test_fixtures.py`` restores every snapshot and compares what the restored streams return.
"""

import base64
import gzip
import json
import sys
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import rollstat
from rollstat import operators
from rollstat.registry import REGISTRY
from rollstat.streaming import STREAMS
from tests.streaming.cases import columns_of, make, samples

DTYPES = ("f8", "f4", "i8", "u8", "?", "M8[ns]", "m8[s]")
BEFORE, AFTER = 23, 20
ALGORITHMS = {
    "kth": ("three_trees",),
    "min": ("wedge",),
    "max": ("wedge",),
    "sum": ("two_stacks", "daba"),
    "mean": ("two_stacks", "daba"),
    "var": ("two_stacks", "daba"),
}
OPERATORS = {
    "Sum": operators.Sum(),
    "Maximum": operators.Maximum(),
    "Variance": operators.Variance(0),
    "Product": operators.Product(),
}


def cases() -> dict[str, tuple[Any, list[Any], Any]]:
    """A function that builds each stream by a name, with the columns and the times that are pushed."""
    found: dict[str, tuple[Any, list[Any], Any]] = {}
    times = np.cumsum(np.random.default_rng(3).integers(0, 4, BEFORE + AFTER))

    def add(name: str, build: Any, columns: list[Any], stamps: Any = None) -> None:
        found[name] = (build, columns, stamps)

    for name in STREAMS:
        for i, sample in enumerate(samples(name)):
            for dtype in DTYPES if i == 0 else ("f8",):
                if np.dtype(dtype).kind not in REGISTRY[name].kinds:
                    continue
                columns = columns_of(name, np.random.default_rng(i), BEFORE + AFTER, dtype)
                options = {"min_periods": 2, "dtype": dtype}
                windows: dict[str, Any] = {"rows": 5}
                if dtype in ("f8", "i8"):
                    windows |= {"width": 7.0, "expanding": rollstat.Expanding(), "unfilled": 50}
                for kind, window in windows.items():
                    label = f"{name}-{i}-{dtype}-{kind}"
                    stamps = times.astype(np.float64) if kind == "width" else None
                    add(label, partial(make, name, sample, window, **options), columns, stamps)
                for algorithm in ALGORITHMS.get(name, ()) if dtype in ("f8", "i8") else ():
                    add(
                        f"{name}-{i}-{dtype}-{algorithm}",
                        partial(make, name, sample, 5, **options, algorithm=algorithm),
                        columns,
                    )
    for name, operator in OPERATORS.items():
        for dtype in ("f8", "i8"):
            columns = [np.random.default_rng(9).integers(1, 4, BEFORE + AFTER).astype(dtype)]
            for algorithm in ("two_stacks", "daba"):
                label, options = f"{name}-{dtype}-{algorithm}", {"dtype": dtype, "algorithm": algorithm}
                add(
                    f"FixedAggregate-{label}",
                    partial(rollstat.FixedAggregate, operator, 5, **options),
                    columns,
                )
                add(
                    f"TimeAggregate-{label}",
                    partial(rollstat.TimeAggregate, operator, 7.0, **options),
                    columns,
                    times.astype(np.float64),
                )
                add(
                    f"SlidingAggregate-{label}",
                    partial(rollstat.SlidingAggregate, operator, **options),
                    columns,
                )
            add(
                f"GreedyAggregate-{name}-{dtype}",
                partial(rollstat.GreedyAggregate, operator, dtype=dtype),
                columns,
            )
    return found


def feed(stream: Any, columns: list[Any], stamps: Any, first: int, last: int) -> list[str]:
    """Push the rows ``first, ..., last - 1``; the answers, exactly."""
    answers = []
    for i in range(first, last):
        row = [column[i] if column.dtype.kind in "mM" else column[i].item() for column in columns]
        answer = stream.push(*row) if stamps is None else stream.push(*row, float(stamps[i]))
        if isinstance(stream, rollstat.GreedyAggregate):
            answer = stream.move(max(i - 6, 0), i)
        elif isinstance(stream, rollstat.SlidingAggregate) and len(stream) > 6:
            answer = (answer, stream.pop(2))
        answers.append(repr(_plain(answer)))
    return answers


def _plain(answer: Any) -> Any:
    """Return an answer with numbers of Python, where steps without the JIT return those of NumPy."""
    if isinstance(answer, tuple):
        return getattr(answer, "_make", tuple)(map(_plain, answer))
    return answer.item() if isinstance(answer, np.generic) and answer.dtype.kind in "fiub" else answer


def main(path: Path) -> None:
    """Write the snapshots and what their streams give next."""
    written = {}
    for name, (build, columns, stamps) in cases().items():
        try:
            stream = build()
        except (TypeError, ValueError):
            continue  # a class that refuses this dtype, window or algorithm has no snapshots of it
        feed(stream, columns, stamps, 0, BEFORE)
        data = base64.b64encode(stream.snapshot()).decode()
        written[name] = {"snapshot": data, "answers": feed(stream, columns, stamps, BEFORE, BEFORE + AFTER)}
    path.write_bytes(gzip.compress(json.dumps(written).encode(), mtime=0))
    print(len(written), "snapshots")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
