"""Inner kernels on disk: other processes link them, and never one in place of another."""

import pytest
from llvmlite import ir
from numba.core.compiler_lock import global_compiler_lock
from numba.core.registry import cpu_target

from rollstat.compile.libraries import Library
from tests.small_package import call_high, make_two_kernels

CLOSURES = """
from rollstat.compile.jit import kernel

def _adding(number):
    @kernel
    def _add(x):
        return x + number
    return _add

_one, _two = _adding(1), _adding(2)

@kernel
def _first(x):
    return _one(x)

@kernel
def _second(x):
    return _two(x)
"""
CALLER = """
from rollstat.compile.jit import kernel
from rollstat.kernels.closures import _first, _second

@kernel
def high(x):
    return {}
"""


def stored(folder):
    """Return the files of inner kernels and when each was written."""
    return {file: file.stat().st_mtime_ns for file in folder.rglob("*.inner")}


def test_other_kernels_link_what_is_stored(tmp_path):
    package = make_two_kernels(tmp_path)
    assert call_high(tmp_path) == (20, 0)
    before = stored(tmp_path)
    assert len(before) == 1
    high = package / "kernels" / "high.py"
    high.write_text(high.read_text().replace("10", "100"))
    assert call_high(tmp_path) == (200, 0)
    assert stored(tmp_path) == before


def test_a_damaged_file_is_compiled_again(tmp_path):
    make_two_kernels(tmp_path)
    assert call_high(tmp_path) == (20, 0)
    (file,) = stored(tmp_path)
    damaged = file.read_bytes()[:-9]
    file.write_bytes(damaged)
    for entry in file.parent.iterdir():
        if entry != file:
            entry.unlink()
    assert call_high(tmp_path) == (20, 0)
    assert file.read_bytes() != damaged


def test_inner_kernels_link_what_is_stored(tmp_path):
    kernels = make_two_kernels(tmp_path) / "kernels"
    assert call_high(tmp_path) == (20, 0)
    low = (kernels / "high.py").read_text()
    (kernels / "middle.py").write_text(low.replace("high", "middle"))
    (kernels / "high.py").write_text(low.replace("low", "middle"))
    assert call_high(tmp_path) == (200, 0)
    assert len(stored(tmp_path)) == 2


@pytest.mark.parametrize("order", ["_first(x) * 100 + _second(x)", "_second(x) + _first(x) * 100"])
def test_closures_that_differ_in_a_variable(tmp_path, order):
    package = make_two_kernels(tmp_path)
    (package / "kernels" / "closures.py").write_text(CLOSURES)
    for expression, result in (("_first(x)", 11), ("_second(x)", 12), (order, 1112)):
        # Each process begins to count its functions anew.
        (package / "kernels" / "high.py").write_text(CALLER.format(expression))
        assert call_high(tmp_path, "10") == (result, 0)
    assert len(stored(tmp_path)) == 2


def test_frames_are_aligned_to_cache_lines():
    module = ir.Module("aligned")
    function = ir.Function(module, ir.FunctionType(ir.VoidType(), []), "aligned")
    ir.IRBuilder(function.append_basic_block()).ret_void()
    library = Library(cpu_target.target_context.codegen(), "aligned")
    with global_compiler_lock:
        library.add_ir_module(module)
        library.finalize()
    assert "alignstack=64" in library.get_llvm_str()
