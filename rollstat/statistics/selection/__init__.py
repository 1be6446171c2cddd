"""Order statistics: medians, quantiles and the k-th smallest.

- `functions`: the public functions.
- `computation`: chooses the algorithm, and turns a statistic into ranks and an interpolation.
- `quantile_range`: the difference of two quantiles.
- `small_window`, `networks`: selection networks and sorted samples, for windows of up to some hundred rows.
- `rank_bits`, `ranking`: bit sets of ranks, for all other windows, and how a block is ranked.
- `sorted_window`, `two_heaps`, `three_trees`: the other algorithms.
"""
