"""Sums over windows and the statistics that follow from sums: mean, moments, covariance, least squares.

- `moment_formulas`: what is summed (powers and products about a shift), and the results that follow.
- `fixed_windows`: windows of one width, by a block scan of eight windows at once.
- `short_windows`: windows of fewer than 32 values, eight at once, and the code that both share.
- `variable_windows`: any monotone windows with any missing values, by two stacks.
- `regression`: least squares on several series, from centred products that are merged.

No sum is ever updated by subtraction: a window is put together from suffixes and prefixes of blocks. So
errors do not accumulate and infinite or huge values leave no trace after they leave the window.
"""
