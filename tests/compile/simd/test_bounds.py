"""Vectors of the bounds of eight windows."""

import numpy as np
import pytest

from rollstat.compile.jit import kernel
from rollstat.compile.simd.bounds import add_if_less, are_consecutive, load_at, rows_between
from rollstat.compile.simd.vectors import load, store, store_2d


@kernel
def write_loaded(values, bound, i, offset, out):
    store_2d(load_at(values, bound, i, offset, load(out[0], 0)), out, 0)


@kernel
def write_rows(start, end, i, out):
    store(rows_between(start, end, i), out, 0)


@kernel
def write_counts(counts, time, edges, out):
    store(add_if_less(load(counts, 0), time, load(edges, 0)), out, 0)


@kernel
def consecutive(bound, i):
    return are_consecutive(bound, i)


def test_elements_at_bounds():
    values, out = np.arange(40.0).reshape(1, 40) ** 2, np.empty((1, 8))
    bound = np.array([0, 1, 1, 4, 9, 9, 20, 21, 22, 30])
    write_loaded(values, bound, 1, 3, out)
    assert (out[0] == values[0, bound[1:9] + 3]).all()


def test_rows_between_bounds():
    start, end, out = np.arange(10), np.arange(10) * 3 + 2, np.empty(8)
    write_rows(start, end, 2, out)
    assert (out == (end - start)[2:]).all()


def test_consecutive_bounds():
    bound = np.array([0, 1, 2, 3, 4, 5, 6, 7, 8, 8, 10])
    assert consecutive(bound, 1)
    assert not consecutive(bound, 2)
    assert not consecutive(bound, 3)  # the last one is as far from the first as if they were consecutive


@pytest.mark.parametrize("dtype", [np.int64, np.float64])
def test_counts_of_edges_after_a_time(dtype):
    counts, out = np.arange(8), np.empty(8, np.int64)
    edges = np.array([1, 1, 2, 3, 5, 8, 9, 9], dtype)
    write_counts(counts, dtype(3), edges, out)
    assert (out == counts + (edges > 3)).all()
