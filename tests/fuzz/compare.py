"""The answers of the oracles for drawn windows, and the comparison with results."""

from typing import Any, NamedTuple

import numpy as np

from rollstat.registry import Statistic
from tests.oracles import ORACLES, View
from tests.test_contract import is_missing, python_values


class Answer(NamedTuple):
    """What the oracle says of one output row; `short` where the window has too few observations."""

    values: tuple[Any, ...]
    short: bool


class Rule(NamedTuple):
    """What is missing: `min_periods`, the policy, and the masks of the series as one."""

    min_periods: int
    propagate: bool
    missing: np.ndarray


def answers(
    statistic: Statistic, columns: list[np.ndarray], rows: Any, sample: dict[str, Any], rule: Rule
) -> list[Answer]:
    """Return the oracle's answers for windows ``(own row, start, end)``."""
    values = [python_values(column) for column in columns]
    missing, outputs = rule.missing, len(statistic.outputs)
    found = []
    for own, start, end in rows:
        seen = [i for i in range(start, end) if not missing[i]]
        view = View(
            [values[0][i] for i in seen],
            seen,
            [[column[i] for i in seen] for column in values[1:]],
            own,
            start,
            end,
            None if own < 0 or missing[own] else values[0][own],
            None if end == start or missing[end - 1] else values[0][end - 1],
            columns[0].dtype.newbyteorder("="),
            [None if is_missing(each)[own] else v[own] for each, v in zip(columns[1:], values[1:])]
            if own >= 0
            else [],
        )
        short = len(seen) < rule.min_periods or (rule.propagate and len(seen) < end - start)
        answer = None if short else ORACLES[statistic.name](view, **sample)
        found.append(Answer(answer if isinstance(answer, tuple) else (answer,) * outputs, short))
    return found


def check(statistic: Statistic, results: list[Any], wanted: list[Answer], fill: Any = None) -> None:
    """Raise AssertionError unless results equal the answers: exactly, or closely if the statistic rounds."""
    for output, array in enumerate(results):
        assert array.shape == (len(wanted),), f"shape {array.shape} for {len(wanted)} rows"
        masked = isinstance(array, np.ma.MaskedArray)
        data, gone = np.asarray(np.ma.getdata(array)), is_missing(array)
        tolerance = 1e-4 if data.dtype == np.float32 else 1e-8
        for row, (value, answer) in enumerate(zip(python_values(data), wanted)):
            expected = answer.values[output]
            if statistic.name == "hampel" and data.dtype.kind == "b":  # flags are false where missing
                assert bool(value) == bool(expected), (output, row, value, expected)
            elif expected is None and not masked and fill is not None and (answer.short or value == fill):
                assert value == fill, (output, row, value, fill)
            elif expected is None:
                place = value == -1 and data.dtype.kind == "i"
                assert gone[row] or value != value or place, (output, row, value)
            else:
                assert not (masked and gone[row]), (output, row, value, expected)
                if statistic.exact:
                    if data.dtype.kind == "f":
                        expected = float(data.dtype.type(expected))
                    equal = value == expected or (value != value and expected != expected)
                else:
                    with np.errstate(over="ignore"):  # beyond the range of float32
                        expected = float(data.dtype.type(expected))
                    equal = np.isclose(value, expected, tolerance, tolerance, equal_nan=True)
                assert equal, (output, row, value, expected)
