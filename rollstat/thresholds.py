"""Where one algorithm becomes faster than another: all the numbers by which ``algorithm="auto"`` chooses.

They are measured; ``python asv_bench/crossovers.py`` measures them again and prints each beside what it
finds. None of them changes a result of selection, since all algorithms agree to the bit. A kernel that probes
its data to choose between two loops keeps the number for that itself.
"""

__all__ = [
    "COMPARED_RANK",
    "COUNTED_LEVELS",
    "NETWORK",
    "NETWORK_OF_LONG_SERIES",
    "NETWORK_OF_NOISE",
    "NETWORK_OF_OTHER_DTYPES",
    "NETWORK_ROWS_A_ROW",
    "RANKED_ROWS",
    "RANKED_VALUES",
    "RANKED_WINDOWS",
    "RANKED_WINDOWS_AT_LEAST",
    "SAMPLED",
    "SHORT_LINE",
    "SORTED_BY_NETWORK",
    "SORTED_WINDOW_OF_DEVIATIONS",
    "SORTED_WINDOW_OF_MEAN_DIFFERENCES",
    "SORTED_WINDOW_OF_TRIMMED_MEANS",
]

NETWORK = 64
"""Widest window for which a selection network is used, however short the series is."""

NETWORK_OF_LONG_SERIES = 320
"""Widest window for which a selection network is used in a long series of float64."""

NETWORK_OF_NOISE = 220
"""The same for a long series of float64 in which neighbours differ as much as values a window apart."""

NETWORK_OF_OTHER_DTYPES = 512
"""The same for all other dtypes: more of them fit into a vector, or ranking converts them first."""

NETWORK_ROWS_A_ROW = 2500
"""A series is long if it has so many windows per row of a window: building a network then pays."""

RANKED_ROWS = 1 << 14
"""Rows that are ranked at a time: as many as the first two caches hold, within the next two limits."""

RANKED_WINDOWS = 16
"""Most widths of a window that are ranked at a time: with more, the ranks of a window lie far apart."""

RANKED_WINDOWS_AT_LEAST = 3.3
"""Fewest widths of a window that are ranked at a time: with fewer, most values are ranked twice."""

RANKED_VALUES = 1 << 12
"""Fewest values that are ranked at a time where windows vary in size."""

SAMPLED = 4096
"""Narrowest window for which a sample estimates between which values the order statistics lie."""

COUNTED_LEVELS = 10
"""Most distinct values that are counted one by one instead of ranked."""

SORTED_BY_NETWORK = 24
"""Widest window that a network sorts completely, for deviations and trimmed means."""

SORTED_WINDOW_OF_DEVIATIONS = 512
"""Widest window that is kept as a sorted array for the median absolute deviation."""

SORTED_WINDOW_OF_MEAN_DIFFERENCES = 128
"""Widest window that is kept as a sorted array for the Gini mean difference."""

SORTED_WINDOW_OF_TRIMMED_MEANS = 80
"""Widest window that is kept as a sorted array for trimmed and winsorized means."""

COMPARED_RANK = 448
"""Widest window whose newest value is compared with all others to find its rank."""

SHORT_LINE = 4096
"""Lines of fewer rows are laid end to end: to set up a block for each would cost more than its work."""
