"""What streams of operators keep of their windows.

- operator: states of any associative operator, one an observation: ``NumberWindow`` in compiled code, for
  windows by row, by time, expanding or of free size; ``ObjectWindow`` for Python objects.
- operator_trees: the greedy algorithm online, for windows that are asked for by bounds.
- operator_results: memory for results, copying and pickling, shared by those above.
"""
