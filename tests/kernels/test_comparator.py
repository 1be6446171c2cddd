"""The winner of two values with their positions."""

import numpy as np
import pytest

from rollstat.compile.jit import kernel
from rollstat.compile.simd.vectors import channels_of, load, stack_channels, store
from rollstat.kernels.comparator import Arg, Greatest, Least, Newest, Oldest, entry, prefer, store_result


@kernel
def better_of(order, newer, older, out):
    one = stack_channels((load(newer[0], 0), load(newer[1], 0)))
    two = stack_channels((load(older[0], 0), load(older[1], 0)))
    value, position = channels_of(prefer(order, one, two))
    store(value, out[0], 0)
    store(position, out[1], 0)


@pytest.mark.parametrize("ties", [Oldest(), Newest()])
@pytest.mark.parametrize("order", [Least(), Greatest()])
def test_positions_follow_the_values(order, ties):
    """Positions are the bits of integers, which are tiny numbers as floats."""
    older = np.array([1.0, 2, 3, 4, 5, 6, 7, 8]), np.arange(8).view(np.float64)
    newer = np.array([2.0, 2, 2, 2, 9, 6, 7, -8]), np.arange(10, 18).view(np.float64)
    out = np.zeros(8), np.zeros(8)
    better_of(Arg(order, ties), newer, older, out)
    extreme = np.minimum if isinstance(order, Least) else np.maximum
    np.testing.assert_array_equal(out[0], extreme(older[0], newer[0]))
    takes_newer = out[0] != older[0] if isinstance(ties, Oldest) else out[0] == newer[0]
    expected = np.where(takes_newer, newer[1].view(np.int64), older[1].view(np.int64))
    np.testing.assert_array_equal(out[1].view(np.int64), expected)


@kernel
def write_entry(order, values, start, shift, out):
    store_result(order, entry(order, load(values, 0), start), out, 0, shift)


@pytest.mark.parametrize("dtype", [np.float64, np.int64, np.float32, np.uint32])
def test_an_entry_holds_a_value_or_also_its_position(dtype):
    values = np.arange(16).astype(dtype)
    rows = 64 // values.itemsize
    out, position = np.zeros(rows, dtype), np.zeros(rows, np.int64)
    write_entry(Least(), values, 100, 2**40, out)
    np.testing.assert_array_equal(out, values[:rows])
    write_entry(Arg(Least(), Oldest()), values, 100, 2**40, position)
    np.testing.assert_array_equal(position, 2**40 + 100 + np.arange(rows))
