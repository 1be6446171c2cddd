"""Statistics of windows in rank space.

A driver sorts the values of a block once and replaces each of them by its rank. The kernels of this family
then keep the observations of the sliding window as a set of small integers. Equal values share the lowest of
their ranks, the *tied rank*.

- :mod:`rollstat.kernels.selection.rank_set` is that set, with cursors.
- :mod:`rank`, :mod:`mode` (and the number of distinct values), :mod:`mad_tree`, :mod:`trimmed_mean` and
  :mod:`gini` are one statistic each.
- :mod:`sorted_windows` keeps a small window sorted instead, at O(m) a row, and reads all statistics from it.
  :mod:`sorted_window` keeps the sorted window of a stream beside its rows.
- :mod:`distances` holds the arithmetic of distances from a median, shared by all forms of the median absolute
  deviation; one of them takes many small windows that a network has sorted.
"""
