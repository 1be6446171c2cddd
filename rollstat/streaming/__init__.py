r"""Streams: the statistics of rolling windows, one element at a time, with windows that survive a restart.

::

    named (RollingMedian, ...)   general (FixedAggregate, ...)      the classes
                     \           /
                      base: Stream, RollingStream                   push, pop, extend, value, snapshots
                                |
    statistic_window   operator_window   greedy_window              windows: bounds, codec, answers
            |                   |           /
    representations    operator_states                              rows, or states of operators, in arrays
    kernels.steps                                                   one compiled call for a push

``lagged_window`` wraps a window that leaves out its newest row, ``calendar_window`` one of calendar units.
``table`` has one row for each named class, with the window that its default algorithm uses (two heaps for
order statistics). ``answers`` is what those rows compute. ``named`` makes the classes, ``named_classes``
lists them by name. ``window_spec`` says which rows a window holds, and ``operator_adapter`` prepares an
operator. A snapshot is decoded by :mod:`rollstat.snapshots`; ``restore``, ``codec`` and the method
``from_state`` of each window check it.
``__init__.pyi`` lists the public names; each is loaded on first use.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
