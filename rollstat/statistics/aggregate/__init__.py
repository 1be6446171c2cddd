"""Any associative operator, over numbers, arrays and Python objects.

- `functions`: the public functions.
- `computation`: what the operators ask of their algorithms.
- `drivers`, `objects`: run the kernels over a block, and Python operators over objects.
"""
