"""Order statistics: medians, quantiles and the k-th smallest.

- `functions`: the public functions.
- `computation`: chooses the algorithm, and turns a statistic into ranks and an interpolation.
- `small_window`, `networks`: selection networks, for windows of up to some hundred rows.
- `rank_bits`, `ranking`: bit sets of ranks, for all other windows, and how a block is ranked.
- `row_by_row`: the other algorithms: sorted arrays, two heaps and three trees.
"""
