"""Exponentially weighted statistics from the first row on.

- `means`: means and sums, eight rows at once.
- `moments`: variances, covariances and correlations.
"""
