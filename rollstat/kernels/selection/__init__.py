"""Order statistics of sliding windows: the k-th smallest observation, its position and the next one.

Equal windows of up to a few hundred rows: `selection_network` runs a network over many windows at once, from
a list of comparisons, or compiled into the loop. It also finds observations among missing values.

Equal windows of any width: `bulk_select` ranks the values of a few windows at a time. It sorts (`radix_sort`)
only a band of values, gathers the rows that can change the answer (`band_codes`), and moves a cursor over a
bit set (`bitset_fixed`), or skips rows where branches are predictable (`slide_predictable`).

Windows of any shape, and positions: `rank_set`, over the ranks of all values. Windows in any order:
`wavelet_matrix`.

Boxes over rows and columns of an image: networks for small ones, `rank_bins` for all others.
`extended_image` reads the image beyond its edges.

Streams, and windows row by row at a guaranteed cost: `two_heaps` takes any window, O(log m) a row;
`three_trees` (over `weight_balanced_tree`) takes a fixed number of rows, O(log k) a row. Both compare rows by
their order in a ring.

`quantiles` has the ranks of quantiles and the points between two order statistics.
"""
