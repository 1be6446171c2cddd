"""Minima, maxima, their positions and their differences.

- `functions`: the public functions.
- `computation`: chooses the algorithm, and turns a statistic into extrema.
- `drivers`: runs the kernels over a block.
"""
