"""Machine vectors as values, and the machine code of kernels that use them."""

import numba
import numpy as np
import pytest
from llvmlite import binding
from numba import config

from rollstat.compile.jit import kernel
from rollstat.compile.simd import vectors
from rollstat.kernels.comparator import (
    Greatest,
    Least,
    better,
    prefer,
    worst,
    worst_of,
)
from rollstat.kernels.extrema import blockwise, doubling, separable

LANES = 8


@kernel
def every_operation(values, out):
    one, two = vectors.load(values, 0), vectors.load(values, 8)
    vectors.store(vectors.shift_in_previous(one, two, 3), out, 0)
    vectors.store(vectors.shift_in_previous(one, two, 100), out, 8)
    vectors.store(prefer(Least(), one, two), out, 16)
    vectors.store(prefer(Least(), two, one), out, 24)
    vectors.store(prefer(Greatest(), one, two), out, 32)
    vectors.store(vectors.broadcast(values[3]), out, 40)
    vectors.store(vectors.shift_in_next(one, two, 3), out, 48)
    vectors.store(vectors.shift_in_next(one, two, 100), out, 56)
    vectors.store(vectors.broadcast_lane(one, 0), out, 73)
    vectors.store(vectors.broadcast_lane(one, -1), out, 81)
    vectors.store(vectors.zeros_like(vectors.load(values, 0)), out, 89)
    vectors.store(vectors.shift_in_zeros(two, 3), out, 97)
    vectors.store(vectors.shift_in_zeros(two, 100), out, 105)
    out[64] = vectors.contains_nan(one)
    out[65] = vectors.contains_nan(two)
    out[66] = vectors.contains_nan(vectors.propagate_nan(two, one))
    out[67] = vectors.first_lane(two)
    out[68] = vectors.lanes_of(values)
    out[69] = worst_of(Least(), values)
    out[70] = worst_of(Greatest(), values)
    out[71] = better(Greatest(), values[0], values[1])
    out[72] = prefer(Greatest(), values[0], values[1])
    out[113] = vectors.nan_lanes(one)
    out[114] = vectors.nan_lanes(vectors.stack_channels((two, vectors.shift_in_next(one, two, 1))))


@kernel
def scan_of_suffixes(values, entries):
    blockwise._scan_suffixes(Least(), values, 0, vectors.broadcast(values[0]), entries)


@kernel
def place_of(values):
    return vectors.unaligned(values)


def test_distance_to_the_next_whole_vector():
    memory = vectors.aligned_empty(40, np.float32)
    assert [int(place_of(memory[i:])) for i in (0, 1, 15, 16, 17)] == [0, 15, 1, 0, 15]


def test_every_operation():
    one = np.array([3.0, 1.0, np.nan, 7.0, -np.inf, 0.0, -0.0, 2.0])
    two = np.array([2.0, 5.0, 9.0, 7.0, 1.0, -0.0, 0.0, np.inf])
    out = np.zeros(115)
    every_operation(np.concatenate([one, two]), out)
    rows = out[:64].reshape(8, LANES)
    np.testing.assert_array_equal(rows[0], [*one[5:], *two[:5]])
    np.testing.assert_array_equal(rows[1], one)
    np.testing.assert_array_equal(rows[2], np.where(one < two, one, two))
    np.testing.assert_array_equal(rows[3], np.where(two < one, two, one))
    np.testing.assert_array_equal(rows[4], np.where(one > two, one, two))
    np.testing.assert_array_equal(rows[5], np.full(8, 7.0))
    np.testing.assert_array_equal(rows[6], [*one[3:], *two[:3]])
    np.testing.assert_array_equal(rows[7], two)
    assert out[64:73].tolist() == [1, 0, 1, 2, LANES, np.inf, -np.inf, 1, 3]
    shifted = [0, 0, 0, 2, 5, 9, 7, 1]
    assert out[73:113].reshape(5, LANES).tolist() == [[3] * 8, [2] * 8, [0] * 8, shifted, [0] * 8]
    assert out[113:].tolist() == [4, 2]


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int8, np.uint64, np.int16])
def test_values_that_never_win(dtype):
    low, high = worst(Greatest(), dtype), worst(Least(), dtype)
    assert low.dtype == high.dtype == dtype
    limits = (-np.inf, np.inf) if np.dtype(dtype).kind == "f" else (np.iinfo(dtype).min, np.iinfo(dtype).max)
    assert (low, high) == limits


@pytest.mark.parametrize("dtype", [np.float64, np.uint8])
def test_aligned_memory(dtype):
    memory = vectors.aligned_empty(100, dtype)
    assert memory.ctypes.data % 64 == 0
    assert memory.shape == (100,)
    assert memory.dtype == dtype


def assembly(function, *arguments):
    """Return the machine code of a kernel, compiled anew: code from the cache cannot be inspected."""
    compiled = numba.njit(error_model="numpy", _nrt=False)(function.py_func)
    compiled(*arguments)
    (text,) = compiled.inspect_asm().values()
    return text


def minimum_instruction(dtype):
    """Return the instruction of this machine for the minimum of two vectors, or skip the test."""
    features = binding.get_host_cpu_features()
    if config.DISABLE_JIT or config.BOUNDSCHECK:
        pytest.skip("kernels are not compiled as they are for users")
    if not features.get("sse2"):
        pytest.skip("only the vector instructions of x86-64 are known here")
    prefix = "v" if features.get("avx") else ""
    if np.dtype(dtype).kind == "f":
        return prefix + ("minpd" if dtype == np.float64 else "minps")
    return prefix + "pminub"


@pytest.mark.parametrize("dtype", [np.float64, np.uint8])
def test_the_hot_loops_are_vector_code(dtype):
    instruction = minimum_instruction(dtype)
    memory = np.zeros(300, dtype)
    out = vectors.aligned_empty(64, dtype)
    scratch = doubling.allocate(Least(), memory.dtype, out, 300)
    assert instruction in assembly(doubling.rolling, Least(), memory, 237, 64, scratch, 0, out)
    assert instruction in assembly(blockwise.best_in, Least(), memory)
    assert instruction in assembly(scan_of_suffixes, memory, scratch.entries)
    assert instruction in assembly(separable._fold, Least(), memory, 0, memory, memory.copy())
