"""JIT kernels: one algorithm a file, pure functions over preallocated arrays."""
