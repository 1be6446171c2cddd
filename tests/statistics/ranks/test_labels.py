"""Distinct counts and modes of strings."""

from collections import Counter

import numpy as np
import polars as pl
import pyarrow as pa
import pytest

import rollstat

WORDS = ["b", "a", None, "b", "c", "c", "a", "b"]


def windows(m):
    return [[x for x in WORDS[max(i + 1 - m, 0) : i + 1] if x is not None] for i in range(len(WORDS))]


def mode(words):
    return min(words, key=lambda x: (-Counter(words)[x], x)) if words else None


def test_against_counters():
    array = np.array(WORDS, object)
    assert rollstat.rolling_nunique(array, 3, min_periods=1).tolist() == [len(set(w)) for w in windows(3)]
    assert rollstat.rolling_mode(array, 3, min_periods=1).tolist() == [mode(w) for w in windows(3)]
    found = rollstat.rolling_mode(array, 3, fill_value="?").tolist()
    assert found == [mode(w) if len(w) == 3 else "?" for w in windows(3)]
    masked = np.ma.MaskedArray(["b", "a", "x", "b"], [False, False, True, False])
    assert rollstat.rolling_mode(masked, 3, min_periods=1).tolist() == ["b", "a", "a", "a"]


@pytest.mark.parametrize(
    "series",
    [
        pl.Series(WORDS),
        pl.Series(WORDS, dtype=pl.Categorical),
        pa.array(WORDS),
        pa.array(WORDS).dictionary_encode(),
        pa.chunked_array([WORDS[:3], WORDS[3:]]),
    ],
)
def test_other_libraries(series):
    found = rollstat.rolling_mode(series, 2, min_periods=1)
    assert (found.to_list() if isinstance(found, pl.Series) else found.to_pylist()) == [
        mode(w) for w in windows(2)
    ]
    counted = rollstat.rolling_nunique(series, 2, min_periods=1)
    assert np.array(counted).tolist() == [len(set(w)) for w in windows(2)]


def test_other_objects_are_rejected():
    for bad in ([1, "a"], [b"a", "a"], [(1,)]):
        with pytest.raises(TypeError, match="arr must hold"):
            rollstat.rolling_mode(np.array([*bad, None], object), 2)
    with pytest.raises(ValueError, match="out must be None for strings"):
        rollstat.rolling_mode(["a"], 1, out=np.empty(1, object))
