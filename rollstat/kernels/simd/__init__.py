"""Orders of extrema and what other kernels build from machine vectors.

- `comparator`: minimum or maximum as a type, and comparison and selection by it, with or without positions.
- `loops`: loops that write whole arrays, and the steps of selection networks on rows of lanes.

The vectors themselves are in :mod:`rollstat.compile.simd`. Nothing here depends on windows. All other
families of kernels may import from this one.
"""
