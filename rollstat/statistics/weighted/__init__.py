"""Statistics with a weight for each row of a window, by position or from another series.

- `functions`: the public functions.
- `convolution`: weighted sums, means and deviations.
- `order_statistics`: weighted quantiles.
"""
