"""Frames of Spark, by the comparison of ``tests/spark/test_differential.py``."""

from functools import cache
from typing import Any

import numpy as np

import rollstat


@cache
def _session() -> Any:
    from rollstat.spark import session

    conf = {
        "spark.sql.shuffle.partitions": 3,
        "spark.sql.session.timeZone": "America/New_York",
        "spark.ui.showConsoleProgress": "false",
    }
    started = session(app="rollstat fuzz", conf=conf)
    started.sparkContext.setLogLevel("ERROR")
    return started


def fuzz(rng: np.random.Generator, note: dict[str, Any]) -> int:
    """Compare one random frame; return its rows."""
    from tests.spark import test_differential as differential

    def one_of(*values: Any) -> Any:
        return values[rng.integers(len(values))]

    case = {
        "seed": int(rng.integers(2**31)),
        "rows": int(rng.integers(0, 301)),
        "groups": int(rng.integers(1, 13)),
        "keys": rng.choice(sorted(differential.KEYS), rng.integers(0, 4), replace=False).tolist(),
        "time": one_of(*sorted(differential.TIMES)),
        "value": one_of(*sorted(differential.VALUES)),
        "window": one_of(
            1, 2, 17, 1000, "0", "3", "40", rollstat.Forward(1), rollstat.Forward(6), rollstat.Expanding()
        ),
        "options": {
            "center": one_of(False, True),
            "closed": one_of(None, "right", "left", "both", "neither"),
            "min_periods": one_of(None, 1, 2),
            "nan_policy": one_of("omit", "omit", "propagate"),
        },
        "descending": one_of(False, True),
        "split": one_of(None, 3, 7),
        "crowded": one_of(False, True),
        "parts": int(rng.integers(1, 5)),
        "shuffle": int(rng.integers(1, 6)),
        "batch": one_of(1, 2, 7, 101, 10_000),
        "adaptive": one_of(False, True),
    }
    note.update(case)
    differential.check(_session(), **case)
    return case["rows"]
