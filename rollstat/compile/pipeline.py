"""Numba's pipeline of compiler passes, without what kernels do not need.

Around each of its 25 passes over a function Numba notes events, times and a text of all arguments and
options. It makes the list of passes anew for each function, and compares all options of the compiler whenever
it types a call of an overloaded function. All this, and passes that change no kernel, took an eighth of the
time to compile.
"""

from numba.core.compiler import CompilerBase, DefaultPassBuilder, Flags
from numba.core.compiler_machinery import PassManager
from numba.core.typed_passes import NopythonRewrites
from numba.core.untyped_passes import InlineClosureLikes, WithLifting

# Options that do not affect how the functions that a kernel calls are compiled.
_OWN = {"inline", "no_compile", "no_cpython_wrapper", "no_cfunc_wrapper"}
# Kernels have neither closures nor `with` statements, and make no arrays of expressions.
_UNNEEDED = {InlineClosureLikes, WithLifting, NopythonRewrites}


class KernelFlags(Flags):
    """Options of the compiler; equal where functions that kernels call are compiled in the same way."""

    __slots__ = ()
    _hash = hash(Flags())  # depends on the names of the options alone

    def __eq__(self, other):
        if not isinstance(other, Flags):
            return NotImplemented
        names = {*self._values, *other._values} - _OWN
        return all(getattr(self, name) == getattr(other, name) for name in names)

    def __hash__(self):
        return self._hash


class _Passes(PassManager):
    def _runPass(self, index, pss, internal_state):  # of a compiler that holds Numba's lock
        pss.analysis = self._analysis
        pss.run_initialization(internal_state)
        pss.run_pass(internal_state)
        pss.run_finalizer(internal_state)


_made = {}


class Pipeline(CompilerBase):
    """The passes of Numba's compiler for any function without Python objects."""

    _left_out = frozenset()

    def define_pipelines(self):
        """Return the passes that translate bytecode or, if there is some already, intermediate code."""
        key = type(self), self.state.func_ir is None
        if key not in _made:
            passes = _made[key] = _Passes("nopython")
            usual = DefaultPassBuilder.define_nopython_pipeline(self.state).passes
            passes.passes = [each for each in usual if each[0] not in self._left_out]
            passes.finalize()
        return [_made[key]]

    def _compile_core(self):
        # Numba's number of the function is the number of another function in another process.
        identity, library = self.state.func_id, self.state.library
        identity.unique_id = getattr(library, "digest", identity.unique_id)
        return super()._compile_core()


class KernelPipeline(Pipeline):
    """The passes that kernels need."""

    _left_out = _UNNEEDED
