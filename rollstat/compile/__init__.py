"""How kernels are compiled and stored: all that the library needs of Numba's and llvmlite's private parts.

- `sources`: digests of the source files that a kernel depends on.
- `code`: digests of what operators of users mean, and copies of their functions that cannot change.
- `interrupts`: Ctrl-C waits until a kernel is compiled or loaded, and until Numba is imported.
- `cache`: machine code on disk: keys, folders, files, CPU levels.
- `pipeline`: Numba's compiler passes that kernels need.
- `libraries`: LLVM code of kernels: when it is optimised, and files of inner kernels.
- `jit`: the kernel decorator.
- `levels`: kernels for several CPU levels from one LLVM code.
- `lowering`: compilation of functions that kernels call; bit operations, prefetching.
- `entries`: methods that Python calls like methods written in C, for single pushes.
- `bound_calls`: compiled functions for arguments whose types are known in advance.
- `simd`: machine vectors as instructions.

No other module imports ``numba.core``, ``numba.extending``, ``numba.misc`` or ``llvmlite``, so that a new
release of Numba breaks this package or nothing.
"""

import rollstat.compile.interrupts  # noqa: F401  # imports Numba, before all that needs it
