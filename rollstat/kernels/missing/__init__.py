"""Missing values: how many a window has, and series without them.

- `counting`: observations of windows from a mask, and searches for NaN.
- `simd_counts`: observations of windows of one width from the values, eight windows at once.
- `nan_bitmap`: one bit per row, and from it the rows with too few observations, 64 rows at once.
- `compaction`: the observations alone, and the bounds of windows among them.
- `filling`: the last observation up to each row, or the first one from it on.

Values of floats are searched for NaN only where a mask or a count is needed.
"""
