"""Memory that is not written: no result, warning or error may depend on what new arrays hold."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from rollstat.registry import REGISTRY, Statistic
from tests.fuzz.draws import draw_values, draw_window
from tests.test_contract import DTYPES, call, fits, outputs, taken

FILLS = (1e308, -1e308, np.nan, np.inf, 5e-324)
"""What new arrays of floats hold; integers hold their extremes, in turn."""


@contextmanager
def filled(value: float) -> Iterator[None]:
    """Let `numpy.empty` and `numpy.empty_like` return arrays of `value`, or of an extreme of their dtype."""
    original, like = np.empty, np.empty_like

    def fill(array: np.ndarray) -> np.ndarray:
        if array.dtype.kind in "iu":
            limits = np.iinfo(array.dtype)
            array.fill(limits.max if value > 0 else limits.min if value < 0 else limits.max - 1)
        elif array.dtype.kind == "f":
            with np.errstate(over="ignore", under="ignore"):
                array.fill(value)
        elif array.dtype.kind == "b":
            array.fill(True)
        elif array.dtype.kind in "mM":
            array.view(np.int64).fill(np.iinfo(np.int64).max)
        elif array.dtype.names:
            for name in array.dtype.names:
                fill(array[name])
        return array

    np.empty = lambda *arguments, **options: fill(original(*arguments, **options))  # type: ignore[assignment]
    np.empty_like = lambda *arguments, **options: fill(like(*arguments, **options))  # type: ignore[assignment]
    try:
        yield
    finally:
        np.empty, np.empty_like = original, like  # type: ignore[assignment]


def outcome(statistic: Statistic, arrays: list[Any], window: Any, sample: Any, options: Any) -> list[Any]:
    """Return results as bytes and warnings as text, or the text of an error."""
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        try:
            results = outputs(call(statistic, arrays, window, sample, **options))
        except (ValueError, TypeError, OverflowError) as error:
            return [type(error), str(error)]
    texts = [str(warning.message) for warning in seen]
    return [*texts, *(f"{part.dtype} {part.tobytes()!r}" for part in results)]


def compare(statistic: Statistic, arrays: list[Any], window: Any, sample: Any, options: Any) -> int:
    """Make one call with several contents of new memory; return the number of compared calls."""
    found = []
    for value in FILLS:
        with filled(value):
            found.append(outcome(statistic, arrays, window, sample, options))
    assert all(each == found[0] for each in found), found
    return len(found)


def fuzz(rng: np.random.Generator, note: dict[str, Any]) -> int:
    """Compare one random call; return the calls compared."""
    statistic = REGISTRY[str(rng.choice(sorted(REGISTRY)))]
    sample = dict(statistic.samples[rng.integers(len(statistic.samples))])
    types = taken(statistic, [*DTYPES, "M8[3s]"])
    dtype = types[rng.integers(len(types))]
    n = int(rng.choice([0, 1, 2, 7, 30, 60, 200]))
    drawn = draw_window(rng, n)
    if "times" not in drawn.options and not fits(sample, drawn.window):
        return 0
    columns = [draw_values(rng, n, dtype, True, True) for _ in range(statistic.series)]
    options = dict(drawn.options)
    if rng.random() < 0.6:
        options["min_periods"] = int(rng.integers(0, rng.choice([1, drawn.most + 1])))
    if rng.random() < 0.3 and statistic.algorithms:
        options["algorithm"] = str(rng.choice(sorted(statistic.algorithms)))
    note.update(
        statistic=statistic.name, sample=sample, window=drawn.window, options=options, columns=columns
    )
    return compare(statistic, columns, drawn.window, sample, options)
