"""What streams keep of their windows, one class for each representation.

All have ``push`` (add a row), ``pop`` (drop the oldest rows), a way to take in arrays (``extend`` or
``load``), their value, and their state as arrays, which snapshots hold.

- heaps: rows in two indexed heaps or three trees, for order statistics.
- extrema: rows in a wedge or a monotonic deque.
- sorted: rows beside a sorted array, for statistics of all observations.
- operator: states of any associative operator, one an observation: ``NumberWindow`` in compiled code, for
  windows by row, by time, expanding or of free size; ``ObjectWindow`` for Python objects.
- operator_trees: the greedy algorithm online, for windows that are asked for by bounds.
- operator_results: memory for results, copying and pickling, shared by those above.
"""
