r"""The LLVM code of kernels: when it is optimised, and the files of inner kernels.

::

    inner --> LLVM code of the kernel and of all that it calls --+--> linked into its callers
                                                                 \--> file --> callers in other processes

A process that compiles an entry loads the inner kernels that other processes have stored. LLVM takes two
functions of one name for the same, so the names in an inner kernel have the digest of what it depends on.
"""

import inspect
from typing import Any

from llvmlite import binding
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import compile_result

from rollstat.compile.cache import KernelCache

_CACHE_LINE = 64


class Library(JITCodeLibrary):  # type: ignore[misc]  # Numba has no types
    """Code of a kernel.

    Each run of a pass manager of llvmlite takes 30 KB that are never released, also over a function that is
    only declared.
    """

    def _optimize_functions(self, ll_module: Any) -> None:
        if inspect.signature(self._codegen._function_pass_manager).parameters:  # as in Numba 0.61
            super()._optimize_functions(ll_module)
            return
        ll_module.data_layout = self._codegen._data_layout
        for function in ll_module.functions:
            if not function.is_declaration:
                manager, builder = self._codegen._function_pass_manager()
                manager.run(function, builder)

    def add_ir_module(self, ir_module: Any) -> None:
        """Add code whose functions align their frames to cache lines.

        LLVM saves vector registers in a frame, but aligns it to 16 bytes by itself: vectors would lie across
        cache lines, or even pages, depending on how deep the calls are.
        """
        for function in ir_module.functions:
            if not function.is_declaration:
                function.attributes.add("nounwind")  # true, and llvmlite writes no alignment without it
                function.attributes.alignstack = _CACHE_LINE
        super().add_ir_module(ir_module)

    def finalize(self) -> None:
        """Link, optimise and compile the code."""
        super().finalize()
        self._linking_libraries.clear()  # their code has been copied


class InnerLibrary(Library):
    """LLVM code of an inner kernel; the entry that it is linked into is optimised as a whole."""

    digest: str
    """Makes the names of its functions unique."""

    def finalize(self) -> None:
        """Link the code."""
        for library in dict.fromkeys(self._linking_libraries):
            if hasattr(self, "_reload_init"):  # Numba has it from 0.62 on
                self._reload_init.update(library._reload_init)
            self._final_module.link_in(library._get_module_for_linking(), preserve=True)
        self._finalize_dynamic_globals()
        self._finalized = True


class InlinedLibrary(InnerLibrary):
    """Code of a small function; optimising the entry simplifies this code where it is inlined."""

    def _optimize_functions(self, ll_module: Any) -> None:
        ll_module.data_layout = self._codegen._data_layout


class Address:
    """Stands for the address that an inner kernel does not have; Numba finds its code by this object."""


class InnerCache(KernelCache):
    """The stored LLVM code of one inner kernel."""

    ending = ".inner"

    def key_without_target(self, sig: Any) -> str | None:
        """Return None also for closures: their sources, names and types do not tell them apart."""
        function = self._function
        of_package = str(function.__module__).partition(".")[0] == __name__.partition(".")[0]
        named = function.__closure__ is None and "<locals>" not in function.__qualname__
        return super().key_without_target(sig) if of_package and named else None

    def packed(self, result: Any) -> Any:
        """Return what is stored of a result of the compiler."""
        library, descriptor = result.library, result.fndesc
        descriptor.typemap = descriptor.calltypes = None  # nothing needs these, and some cannot be pickled
        code = library._get_module_for_linking().as_bitcode()
        return library.name, code, getattr(library, "_reload_init", ()), descriptor, result.signature

    def unpacked(self, parts: Any, sig: Any, target_context: Any) -> Any:
        """Return the result of the compiler from what is stored of it."""
        name, code, reload_init, descriptor, signature = parts
        for prepare in reload_init:
            prepare()
        library = InnerLibrary(target_context.codegen(), name)
        library._final_module, library._reload_init = binding.parse_bitcode(code), reload_init
        library._finalized = True
        return compile_result(
            target_context=target_context,
            entry_point=Address(),
            library=library,
            fndesc=descriptor,
            signature=signature,
            objectmode=False,
        )
