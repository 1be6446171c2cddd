"""Functions that kernels call: the compiled form does what the Python form does."""

import numpy as np
import pytest
from numba import config, njit, types
from numba.core.errors import TypingError

from rollstat.compile.jit import kernel
from rollstat.compile.lowering import (
    constant,
    count_leading_zeros,
    count_ones,
    count_trailing_zeros,
    dispatched,
    lowered,
    prefetch,
    prefetch_to_write,
)


@kernel
def bits(word):
    return count_leading_zeros(word), count_trailing_zeros(word), count_ones(word)


@pytest.mark.parametrize("word", [0, 1, 2, 40, 2**63, 2**64 - 1, 0x0F0F0F0F00000000])
def test_bit_intrinsics_agree_with_their_python_form(word):
    word = np.uint64(word)
    wanted = (count_leading_zeros(word), count_trailing_zeros(word), count_ones(word))
    assert tuple(int(n) for n in bits(word)) == wanted


@kernel
def ask_for(array, index):
    prefetch(array, index)
    prefetch_to_write(array, index)
    return array[0]


@pytest.mark.parametrize("index", [0, 1, 2**40, -(2**40)])
def test_a_prefetch_of_any_address_has_no_effect(index):
    assert ask_for(np.array([7.0]), index) == 7.0


@pytest.mark.skipif(config.DISABLE_JIT, reason="nothing is compiled")
def test_a_prefetch_is_compiled_to_a_prefetch_instruction():
    compiled = njit(ask_for.py_func)  # code from the cache cannot be inspected
    compiled(np.array([7.0]), 0)
    [code] = compiled.inspect_llvm().values()
    reading, writing = (line for line in code.splitlines() if "call void @llvm.prefetch" in line)
    assert "i32 0, i32 3" in reading
    assert "i32 1, i32 3" in writing


def is_whole(value):
    return isinstance(value, int)


@lowered(is_whole)
def _is_whole(value):
    return constant(types.boolean(value), isinstance(value, types.Integer))


@kernel
def halved(value):
    return value // 2


@kernel
def divided(value):
    return value / 2


def half(value):
    return (halved if is_whole(value) else divided)(value)


@dispatched(half)
def _half(value):
    return halved if isinstance(value, types.Integer) else divided


def halves(one, other):
    return half(one), half(other), is_whole(one), is_whole(other)


def test_known_and_chosen_functions_agree_with_python():
    assert halves(7, 7.0) == kernel(halves)(7, 7.0) == (3, 3.5, True, False)


def only_floats(value):
    return value


@lowered(only_floats)
def _only_floats(value):
    return constant(types.float64(value), 1.0) if isinstance(value, types.Float) else None


@pytest.mark.skipif(config.DISABLE_JIT, reason="nothing is compiled")
def test_other_types_raise():
    with pytest.raises(TypingError, match="only_floats"):
        njit(lambda value: only_floats(value))(7)
