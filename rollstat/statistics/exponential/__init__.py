"""Exponentially weighted statistics.

- `functions`: the public functions.
- `computation`: a recursion for windows that begin with the first row, an operator for all others.
"""
