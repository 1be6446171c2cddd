"""Where one algorithm begins to beat another: all the numbers by which ``algorithm="auto"`` chooses.

They were measured; ``python asv_bench/crossovers.py`` measures them again and prints each beside what it
finds. None of them changes a result of selection, since all algorithms agree to the bit.
"""

__all__ = [
    "BLOCKWISE_BOTH_BYTES",
    "BLOCKWISE_BYTES",
    "COMPARED_RANK",
    "COUNTED_LEVELS",
    "FEW_EXTREMA_ROWS",
    "NETWORK",
    "NETWORK_OF_LONG_SERIES",
    "NETWORK_OF_NOISE",
    "NETWORK_OF_OTHER_DTYPES",
    "NETWORK_ROWS_A_ROW",
    "RANKED_ROWS",
    "RANKED_WINDOWS",
    "RANKED_WINDOWS_AT_LEAST",
    "SAMPLED",
    "SORTED_BY_NETWORK",
    "SORTED_WINDOW_OF_DEVIATIONS",
    "SORTED_WINDOW_OF_TRIMMED_MEANS",
]

NETWORK = 64
"""Widest window of which a selection network finds order statistics, however short the series is."""

NETWORK_OF_LONG_SERIES = 320
"""Widest window of float64 of which a selection network finds order statistics in a long series."""

NETWORK_OF_NOISE = 220
"""The same for a long series of float64 in which neighbours are as far apart as values a window apart."""

NETWORK_OF_OTHER_DTYPES = 512
"""The same for every other dtype: more of them go into a vector, or ranking them takes a conversion."""

NETWORK_ROWS_A_ROW = 2500
"""Windows for every row of one that make a series long: a network costs no more to build than to use."""

RANKED_ROWS = 1 << 14
"""Rows that are ranked at a time: as many as the nearer caches hold, if windows suit."""

RANKED_WINDOWS = 16
"""Widths of a window that are ranked at a time at most: more leave the values of a window far apart."""

RANKED_WINDOWS_AT_LEAST = 3.3
"""Widths of a window that are ranked at a time at least: with fewer, most values are ranked twice."""

SAMPLED = 4096
"""Narrowest window of which a sample tells between which values its order statistics lie."""

COUNTED_LEVELS = 10
"""Most distinct values whose windows are counted level by level instead of ranked."""

SORTED_BY_NETWORK = 24
"""Widest window that a network sorts whole, for deviations and trimmed means."""

SORTED_WINDOW_OF_DEVIATIONS = 512
"""Widest window that is kept as a sorted array for the median absolute deviation."""

SORTED_WINDOW_OF_TRIMMED_MEANS = 80
"""Widest window that is kept as a sorted array for trimmed and winsorized means."""

COMPARED_RANK = 448
"""Widest window whose newest value is compared with every other to find its rank."""

FEW_EXTREMA_ROWS = 64
"""Below this number of rows, extrema are found by one scan, which is done before vectors are set up."""

BLOCKWISE_BYTES = 4_000
"""Bytes of a window from which extrema and positions are found block by block."""

BLOCKWISE_BOTH_BYTES = 5_000
"""The same for both extrema in one pass."""
