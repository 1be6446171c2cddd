"""Windows over several axes.

- `boxes`: resolves a box, its edges and its missing values, and runs it.
- `separable`: extrema, one axis after the other.
- `selection`: order statistics of all values of a box.
"""
