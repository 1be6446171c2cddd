"""Keys compare as the values do."""

import numpy as np
import pytest

from rollstat.kernels.selection.sort_keys import keys_of_floats, keys_of_integers


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_floats(dtype):
    info = np.finfo(dtype)
    ascending = [-np.inf, info.min, -1.5, -1, -info.tiny, -info.smallest_subnormal, 0, info.tiny, 1, np.inf]
    values = np.array(ascending, dtype)
    bits = values.view(f"i{values.itemsize}")
    key = np.empty(len(values), np.uint64)
    keys_of_floats(bits, np.iinfo(bits.dtype).max, key)
    assert np.all(key[1:] > key[:-1])
    zeros = np.array([0.0, -0.0], dtype).view(bits.dtype)
    keys_of_floats(zeros, np.iinfo(bits.dtype).max, key[:2])
    assert key[0] == key[1]


@pytest.mark.parametrize("dtype", ["i1", "u1", "i8", "u8"])
def test_integers(dtype):
    info = np.iinfo(dtype)
    values = np.array([info.min, info.min + 1, info.max // 2, info.max - 1, info.max], dtype)
    key = np.empty(len(values), np.uint64)
    keys_of_integers(values, np.uint64(2**63 if info.min else 0), key)
    assert np.all(key[1:] > key[:-1])
