"""Compilation in advance, by users and for wheels, and what a process runs on.

- `usual_calls`: the calls whose kernels are compiled in advance.
- `warmup`: compilation in advance, with progress.
- `versions`: versions, CPU levels, and where kernels come from.
- `prebuild`: compilation of the kernels that a wheel brings, for each CPU level.
"""
