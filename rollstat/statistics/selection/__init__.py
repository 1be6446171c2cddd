"""Order statistics: medians, quantiles and the k-th smallest.

- `functions`: the public functions.
- `computation`: chooses the algorithm, and turns a statistic into ranks and an interpolation.
- `small_window`, `networks`: selection networks (`algorithm="small_window"`), for windows of up to some
  hundred rows; the kernel is :mod:`rollstat.kernels.selection.selection_network`.
- `rank_bits`, `ranking`: bit sets of ranks (`algorithm="rank_bits"`), for all other windows, and how a block
  is ranked; the kernels are :mod:`rollstat.kernels.selection.bulk_select` and what it calls.
- `row_by_row`: the other algorithms: sorted arrays, two heaps and three trees.
"""
