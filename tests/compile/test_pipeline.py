import re

import numpy as np
import pytest
from numba import config, typeof
from numba.core.compiler import Compiler, Flags

from rollstat.compile.jit import kernel
from rollstat.compile.pipeline import KernelFlags, KernelPipeline, Pipeline
from rollstat.kernels.numbers import magnitudes


@kernel
def _power(base, exponent):
    found = base
    for _ in range(1, exponent):
        found *= base
    return max(found, 0.0)


@kernel
def sum_of_powers(values, exponent):
    total = 0.0
    for i in range(len(values)):
        if not np.isnan(values[i]):
            total += _power(values[i], exponent)
    return total


VALUES = np.array([2.0, np.nan, 3.0])


def _code(kernel, passes, *arguments):
    """Return the LLVM code of a kernel, in which names are numbers in their order."""
    compiler = kernel.inner._compiler
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(compiler, "passes", passes)
        library = compiler._compile(tuple(map(typeof, arguments)), None).library
    names: dict[str, str] = {}
    text = str(library._final_module)
    return re.sub(r'@("[^"]*"|[\w.$]+)', lambda name: names.setdefault(name[0], f"@{len(names)}"), text)


@pytest.mark.skipif(config.DISABLE_JIT, reason="compares compiled code")
@pytest.mark.parametrize(
    ("kernel", "arguments"), [(sum_of_powers, (VALUES, 2)), (magnitudes, (VALUES.view(np.uint64), 1))]
)
def test_passes_that_are_left_out_would_not_change_the_code(kernel, arguments):
    codes = {_code(kernel, passes, *arguments) for passes in (KernelPipeline, Pipeline, Compiler)}
    assert len(codes) == 1
    assert "define" in codes.pop()


def test_result_of_a_compiled_kernel():
    assert sum_of_powers(VALUES, 2) == 13.0


def _flags(cls=KernelFlags, **options):
    flags = cls()
    for name, value in options.items():
        setattr(flags, name, value)
    return flags


@pytest.mark.parametrize("cls", [KernelFlags, Flags])
def test_flags_with_the_same_meaning_are_equal(cls):
    assert _flags(release_gil=True) == _flags(cls, release_gil=True)
    assert _flags(no_cpython_wrapper=True) == _flags(cls)
    assert hash(_flags(nrt=True)) == hash(_flags(cls, nrt=True))


@pytest.mark.parametrize("option", [{"nrt": True}, {"error_model": "numpy"}, {"forceinline": True}])
def test_flags_that_callees_inherit_tell_apart(option):
    assert _flags(**option) != _flags()
    assert _flags(**option) != _flags(Flags)
    assert _flags(**option) == _flags(Flags, **option)
    assert _flags() != option
