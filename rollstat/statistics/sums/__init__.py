"""Sums, means, moments, products, and what the ends of windows tell.

- `functions`: the public functions.
- `window_sums`: statistics that follow from sums of powers and products.
- `ends`: counts, the oldest and newest observation, whether any or all are true.
- `regression`: least squares on several series.
- `float_range`: whether sums of powers may leave the range of float64.
"""
