"""Rows of keys with one hash are interleaved, and each key has a walk of its own."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from rollstat.spark.batch_walk import HashWalk, WalkJob
from tests.spark.test_batch_walk import ARROW, cut, expected, plan, table


def mix(lengths, hashes, coarse, seed):
    """Return sorted rows of series, and the same rows sorted by hash, coarse time, key and order."""
    rows = table(lengths, seed)
    number = np.repeat(np.arange(len(lengths)), lengths)
    hashed = np.array(hashes, np.int64)[number] if len(lengths) else number
    seconds = rows["time"].to_numpy().astype("M8[s]").astype(np.int64)
    mixed = rows.append_column("hash", pa.array(hashed))
    by = [np.arange(len(number)), number, seconds // coarse, hashed]
    return rows, mixed.take(pa.array(np.lexsort(by)))


def check(lengths, hashes, coarse, sizes, window, seed, enough, **options):
    rows, mixed = mix(lengths, hashes, coarse, seed)
    walk = HashWalk(plan(window, order=("time", "row"), **options), len(ARROW))
    walk.first.min_rows = walk.first.wait_rows = enough
    shared = max((hashes[: len(lengths)].count(h) for h in hashes), default=1)
    results = []
    for result in walk.run(cut(mixed, sizes)):
        assert len(walk.others) < max(shared, 1)
        results.append(result)
    assert sum(result.num_rows for result in results) == rows.num_rows
    if not results:
        return
    names = [*ARROW.names, "hash", "median", "low", "high", "where"]
    found = pa.Table.from_batches(results).rename_columns(names)
    if not options.get("center"):
        assert found["row"].equals(mixed["row"])
    found = found.sort_by("row")
    assert found.select(ARROW.names).equals(rows)
    for name, values in expected(rows, lengths, window, **options).items():
        assert found[name].to_pylist() == values, name


@given(
    lengths=st.lists(st.integers(1, 30), max_size=8),
    hashes=st.lists(st.sampled_from([-(2**31), -1, 0, 2**31 - 1]), min_size=8, max_size=8),
    coarse=st.sampled_from([1, 7, 100]),
    sizes=st.lists(st.integers(1, 25), min_size=1, max_size=4),
    window=st.sampled_from([2, 3, "5s"]),
    options=st.fixed_dictionaries({"center": st.booleans()}),
    seed=st.integers(0, 2**31),
    enough=st.sampled_from([1, 10, 4096]),
)
@example([30, 30, 30], [0] * 8, 1, [7], 3, {"center": True}, 5, 1)
@example([5, 1, 1, 20, 20], [0, -1, -1, 0, 0, 0, 0, 0], 7, [1], "5s", {"center": False}, 6, 1)
def test_each_key_is_a_series_of_its_own(lengths, hashes, coarse, sizes, window, options, seed, enough):
    check(lengths, hashes, coarse, sizes, window, seed, enough, **options)


def test_keys_of_one_hash_are_interleaved():
    """Otherwise the other tests would test only sorted rows."""
    _, mixed = mix([30, 30], [3, 3], 1, 5)
    key = np.array([value is None for value in mixed["key"].to_pylist()])
    assert np.count_nonzero(key[1:] != key[:-1]) > 10


@pytest.mark.parametrize("center", [False, True])
def test_memory_is_that_of_a_window_for_each_key(center):
    _, mixed = mix([4000, 4000, 4000], [0] * 3, 1, 5)
    walk = HashWalk(plan(10, order=("time", "row"), center=center), len(ARROW))
    walk.first.min_rows = walk.first.wait_rows = 50
    for batch in cut(mixed, [50]):
        list(walk.push(batch))
        for other in walk.others:
            other.min_rows = other.wait_rows = 50
        assert all(one.held <= 8 * 50 + 50 + 10 for one in [walk.first, *walk.others] if one.min_rows == 50)
    assert len(walk.others) == 2


def test_ties_and_disorder_are_found_within_a_key():
    _, mixed = mix([30, 30], [0, 0], 1, 5)
    wrong = pa.array(np.r_[0:20, 40, 21:40, 20, 41:60])
    with pytest.raises(RuntimeError, match="rows reached the worker out of order at key="):
        list(WalkJob(plan(3), len(ARROW))(cut(mixed.take(wrong), [9])))
    twice = mixed.take(pa.array(np.r_[0:10, 9, 10:60]))
    with pytest.raises(ValueError, match="two rows tie in the order at key="):
        list(WalkJob(plan(3), len(ARROW))(cut(twice, [9])))
