"""Machine vectors as instructions: functions of Python that kernels call as LLVM code.

- `codegen`: the type `Vector`, and generators of LLVM code for all these functions.
- `vectors`: functions of vectors, 64 bytes in one variable: loads, stores, shifts, arithmetic, tests for
  NaN, and channels (several vectors in one value).
- `float64x8_math`: functions of eight floats, such as division by a known inverse, for `kernels.sums`.
- `bounds`: elements at the bounds of eight windows, numbers of their rows, comparisons of bounds and times.
- `register_networks`: selection networks as code, with most values in registers.
- `masks`: tests of up to 64 rows at once, and appending the rows that pass.
- `float_flags`: whether floating numbers have left their range in a kernel.
"""
