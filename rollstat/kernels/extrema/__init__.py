"""Minimum, maximum and their positions.

For a fixed number of rows: `doubling` (short windows), `blockwise` (long windows) and `direct` (a few rows)
compute values; `doubling_arg` and `blockwise_arg` compute positions. One kernel serves minimum and maximum:
its order, a type, decides, see :mod:`rollstat.kernels.simd.comparator`. `variable_windows` scans any monotone
windows, `van_herk` whole blocks and boundary windows in vectors; `positions` finds the positions of known
extrema. `separable` applies them along the axes of images. `distances` subtracts extrema. For streams,
`wedge` keeps both extrema and `monotonic_deque` one; `wedge` serves any windows as well. `nan_policy` defines
what kernels know, do and report about NaN.
"""
