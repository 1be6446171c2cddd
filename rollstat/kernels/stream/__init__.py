"""Streams of float64: a push is one call of a compiled step from Python.

``steps`` has the steps: each pushes a number into a window and returns the finished answer, and ``run`` takes
an array through a step in one call. ``rollstat.compile.fast_call`` compiles them for the shortest call: they
keep the interpreter's lock and read their arguments without conversions. The arrays of heaps and
trees are packed into one, because each array argument costs time. The windows themselves are kernels of other
families (heaps and trees in ``selection``, the wedge and the monotonic deque in ``extrema``, queues of
operator states in ``aggregate``), except ``sorted_window``, which keeps all observations in order.
"""
