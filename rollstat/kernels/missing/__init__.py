"""Missing values: how many a window has, and series without them.

- `counting`: observations of windows and their ends, and searches for NaN.
- `nan_bitmap`: one bit per row, and from it the rows with too few observations, 64 rows at once.
- `observations`: the observations alone, the bounds of windows among them, and the nearest ones of each row.

Values of floats are searched for NaN only where a mask or a count is needed.
"""
