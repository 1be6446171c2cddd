"""Kernels for several CPU levels from one LLVM code, while a wheel is built.

::

    Python --> LLVM code --+--> optimised and compiled for this process
       most of the time    +--> optimised and compiled for every other level, and stored beside

Kernels whose code has instructions of one level, such as VPCOMPRESS of AVX-512, are left to processes for the
other levels.
"""

import os

from llvmlite import binding
from numba.core.codegen import JITCPUCodegen

from rollstat.compile.cache import LEVELS, KernelCache
from rollstat.compile.jit import _UncountedCompiler
from rollstat.compile.libraries import Library

BUILD_LEVEL = "ROLLSTAT_BUILD_LEVEL"
"""Variable of the environment that names the level for which kernels are stored."""


class _Codegen(JITCPUCodegen):
    """Generates code for a level that this process does not run."""

    def __init__(self, level):
        self._level = level
        super().__init__(f"rollstat.{level}")

    def _get_host_cpu_name(self):
        return self._level

    def _get_host_cpu_features(self):
        return ",".join(f"+{feature}" for feature in LEVELS[self._level])


class _KeptLibrary(Library):
    """Code of a kernel that keeps its LLVM code from before optimisation."""

    def _optimize_final_module(self):
        self.plain_code = self._final_module.as_bitcode()
        super()._optimize_final_module()


def _compiled(codegen, library):
    """Return machine code of a kernel for the level of `codegen`; None if its code fits one level only."""
    module = binding.parse_bitcode(library.plain_code)
    if any(function.name.startswith("llvm.x86.avx512") for function in module.functions):
        return None
    other = Library(codegen, library.name)
    other._final_module = module
    other._optimize_final_module()
    return codegen._tm.emit_object(module)


def compile_also(levels):
    """From now on, have this process store what it compiles for other CPU levels too.

    Return a set of the names of the files that it stores for its own level. A kernel that cannot be stored
    raises RuntimeError.
    """
    codegens, save, stored = {level: _Codegen(level) for level in levels}, KernelCache.save_overload, set()

    def save_for_all(cache, sig, data):
        key = save(cache, sig, data)
        if cache.ending:  # an inner kernel is linked into entries before these are optimised for a level
            return
        if key is None:
            raise RuntimeError(f"{data.fndesc.qualname}{sig} cannot be stored")
        stored.add(key)
        own, library = os.environ[BUILD_LEVEL], data.library
        own_code = library._compiled_object
        for level, codegen in codegens.items():
            code = _compiled(codegen, library)
            if code is not None:
                os.environ[BUILD_LEVEL], library._compiled_object = level, code
                save(cache, sig, data)
        os.environ[BUILD_LEVEL], library._compiled_object = own, own_code

    KernelCache.save_overload = save_for_all
    _UncountedCompiler.library_class = _KeptLibrary
    return stored
