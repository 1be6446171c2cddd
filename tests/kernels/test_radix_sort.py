"""The radix sort against a stable argsort, over keys that suit it and keys that do not."""

import numpy as np
import pytest

from rollstat.kernels.radix_sort import DIGITS, RADIX, check, pack, radix_sort, settle

ALL = np.uint64(2**64 - 1)
NONE = np.empty(0, np.bool_)


def sort(key, missing=NONE, lowest=None, highest=None, budget=None):
    """Words in order, bits of a row, and whether the insertion stayed in its budget."""
    lowest = key.min() if lowest is None else np.uint64(lowest)
    highest = key.max() if highest is None else np.uint64(highest)
    spread = int(highest - lowest).bit_length()
    row_bits = max(1, (len(key) - 1).bit_length())
    words = np.empty(len(key) + 1, np.uint64)
    words = words[: pack(key, missing, lowest, highest, min(64 - spread, 63), row_bits, words)]
    radix_sort(words, np.empty_like(words), np.empty((DIGITS, RADIX), np.int64))
    exact = spread + row_bits <= 64
    return words, row_bits, settle(words, key, row_bits, exact, 8 * len(key) if budget is None else budget)


def draw(name, n):
    rng = np.random.default_rng(n)
    return {
        "uniform": lambda: rng.integers(0, 2**64, n, np.uint64, endpoint=False),
        "small": lambda: rng.integers(0, 1000, n).astype(np.uint64),
        "one": lambda: np.full(n, 12345, np.uint64),
        "both ends": lambda: rng.choice(np.array([0, 2**63, 2**64 - 1], np.uint64), n),
        "floats": lambda: rng.standard_normal(n).view(np.uint64),
        "descending": lambda: np.arange(n, 0, -1).astype(np.uint64) << np.uint64(40),
    }[name]()


@pytest.mark.parametrize("name", ["uniform", "small", "one", "both ends", "floats", "descending"])
@pytest.mark.parametrize("n", [1, 2, 300, 5000])
def test_order_is_that_of_a_stable_sort(name, n):
    key = draw(name, n)
    words, row_bits, settled = sort(key)
    assert settled
    assert check(words, key, row_bits)
    rows = (words & np.uint64((1 << row_bits) - 1)).astype(np.int64)
    np.testing.assert_array_equal(rows, np.argsort(key, kind="stable"))


def test_bounds_and_missing_rows_are_left_out():
    key = draw("small", 700)
    missing = np.random.default_rng(1).random(700) < 0.4
    words, row_bits, _ = sort(key, missing, 200, 600)
    rows = (words & np.uint64((1 << row_bits) - 1)).astype(np.int64)
    kept = np.flatnonzero(~missing & (key >= 200) & (key <= 600))
    np.testing.assert_array_equal(rows, kept[np.argsort(key[kept], kind="stable")])
    words, _, _ = sort(key, NONE, 200, 600)
    assert len(words) == np.sum((key >= 200) & (key <= 600))


def test_what_was_cut_off_is_settled_by_the_whole_key():
    # The lowest bits do not fit beside the row; half of the keys differ in them alone.
    key = np.append(np.arange(500, 0, -1).astype(np.uint64), ALL - np.arange(500).astype(np.uint64))
    words, row_bits, settled = sort(key, budget=300_000)
    assert settled
    assert check(words, key, row_bits)
    assert not sort(key, budget=1000)[2]


def test_insertion_gives_up_past_its_budget():
    words = np.arange(64, 0, -1).astype(np.uint64) << np.uint64(32)
    key = words.copy()
    assert not settle(words.copy(), key, 6, True, 100)
    assert settle(words, key, 6, True, 64 * 32)
    np.testing.assert_array_equal(words, np.sort(key))


def test_check_sees_disorder_and_instability():
    key = np.array([5, 5, 7], np.uint64)
    assert check(np.array([0, 1, 2], np.uint64), key, 2)
    assert not check(np.array([1, 0, 2], np.uint64), key, 2)
    assert not check(np.array([2, 0, 1], np.uint64), key, 2)
