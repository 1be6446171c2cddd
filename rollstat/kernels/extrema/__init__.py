"""Minimum, maximum and their positions.

For a fixed number of rows, `doubling` serves short windows and `blockwise` long ones. One kernel serves
minimum and maximum, values and positions: its order, a type, decides, see
:mod:`rollstat.kernels.comparator`.
`any_windows` scans any monotone windows, finds the positions of known extrema, and subtracts extrema.
`separable` computes extrema along the axes of images. For streams, `wedge` keeps both extrema and
`monotonic_deque` one; `wedge` serves any windows as well.
"""
