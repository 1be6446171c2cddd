"""Any associative operator over windows.

Arrays:

- van_herk: prefixes and suffixes around a pivot; the fastest kernel, and the meaning of ``auto``.
- greedy: the fewest combinations, planned from the bounds alone; also online, and for Python objects.
- static_tree: combinations of blocks, for windows in any order; all others need bounds that never decrease.
- apply_windows: any function of the values of a window, called for each.

Streams, on a queue of operator states (ring_queue, also with suffixes or the total of many elements at once).
The module operator_calls compiles the methods of an operator into the kernels:

- two_stacks: two buffers, amortised O(1) combinations a step; its docstring explains the idea.
- daba: the same two buffers with the flip spread over the steps, so O(1) combinations in every step.
- base_intervals: states of intervals of 1, 2, 4, ... rows, for rows that arrive late.
- window: a window by row or by time on any of them: push, pop, value.
- window_extend: many rows at once through such a window, with the combinations of the pushes.
"""
