"""What a compiled step takes: floats of all kinds, and nothing else."""

import math

import numpy as np
import pytest

import rollstat
from rollstat.compile.bound_calls import bind_step
from rollstat.compile.fast_call import plain, single_step


@single_step
def add(total, counts, number, x):
    """Add to a state of floats, and count in one of whole numbers."""
    total, counts, x = plain(total), plain(counts), plain(x)
    total[len(total) - 1] += number * x
    counts[0] += 1
    return total[len(total) - 1]


class Length(float):
    """A number of metres."""


def test_states_and_floats_are_read_where_they_lie():
    total, counts = np.zeros(3), np.zeros(2, np.int64)
    step = bind_step(add, total, counts, 2)
    given = [1.5, -0.25, Length(4.0), np.float64(1e300), math.inf]
    expected = [3.0, 2.5, 10.5, 2e300, math.inf]
    assert [step(total, counts, 2, x) for x in given] == expected
    assert total.tolist() == [0.0, 0.0, math.inf]
    assert counts.tolist() == [5, 0]
    other = np.zeros(1)
    assert step(other, counts, 2, 1.0) == 2.0
    assert math.isnan(step(other, counts, 2, math.nan))


@pytest.mark.parametrize("x", [1, True, "1.5", b"1.5", None, 1j, np.float32(1), np.array(1.0), [1.0]])
def test_whatever_is_no_float_changes_nothing(x):
    total, counts = np.zeros(1), np.zeros(1, np.int64)
    with pytest.raises(TypeError, match="must be a float"):
        bind_step(add, total, counts, 2)(total, counts, 2, x)
    assert total[0] == counts[0] == 0


@pytest.mark.parametrize("name", ["Median", "Min", "Argmax", "Mean"])
def test_streams_take_floats_of_all_kinds(name):
    streams = [getattr(rollstat, f"Rolling{name}")(3, min_periods=1) for _ in range(3)]
    for x in (3.0, 1.5, -2.0, math.nan, 8.0):
        answers = [
            str(float(stream.push(kind(x)))) for stream, kind in zip(streams, (float, Length, np.float64))
        ]
        assert len(set(answers)) == 1
