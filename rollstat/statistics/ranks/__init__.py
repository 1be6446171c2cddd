"""Statistics over ranks: deviations, trimmed means, the mean difference, rank, mode, distinct values.

- `functions`: the public functions.
- `computation`: rank, mode, distinct values and the mean difference of a block.
- `mad`, `trimmed_mean`: deviations from the median, and means without the extremes.
- `rank_space`: what they share: the choice of the algorithm, ranked blocks, sorted windows.
"""
