"""Machine vectors and what other kernels build from them.

- `vectors`: functions of vectors, 64 bytes in one variable: loads, stores, shifts, arithmetic, tests for
  NaN, and channels, which are several vectors in one value.
- `codegen`: the type `Vector`, and generators of LLVM code for all these functions.
- `comparator`: minimum or maximum as a type, and comparison and selection by it.
- `float64x8_math`: functions of eight floats, such as division by a known inverse, for `kernels.sums`.
- `pairs`: operations on one operand or on a pair, for an extremum, with or without its position.
- `bounds`: elements at the bounds of eight windows, numbers of their rows, comparisons of bounds and times.
- `masks`: tests of up to 64 rows at once, and appending the rows that pass.
- `compare_exchange`: the steps of selection networks on rows of lanes.
- `float_flags`: whether floating numbers have left their range in a kernel.
- `fill_copy`: loops that write whole arrays.

Nothing here depends on windows. All other families of kernels may import from this one.
"""
