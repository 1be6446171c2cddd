r"""Streams: the statistics of rolling windows, one element at a time, with windows that survive a restart.

::

    named (RollingMedian, ...)   general (FixedAggregate, ...)      the classes
                     \           /
                      base: Stream, RollingStream                   push, pop, extend, value, snapshots
                                |
    statistic_window   operator_window   greedy_window              windows: bounds, codec, answers
                                |
    windows/                                                        rows and states in arrays
    kernels.stream.steps                                            one compiled call for a push

``table`` has one row for each named class, ``answers`` what those rows compute.
"""

from typing import TYPE_CHECKING, Any

from rollstat.streaming.base import restore
from rollstat.streaming.general import FixedAggregate, GreedyAggregate, SlidingAggregate, TimeAggregate
from rollstat.streaming.named import REASONS, STREAMS

_CLASSES = {cls.__name__: cls for cls in STREAMS.values()}
globals().update(_CLASSES)

if TYPE_CHECKING:  # the named classes are made from the table

    def __getattr__(name: str) -> Any: ...


__all__ = [  # noqa: PLE0604 - the names of the classes are strings
    "REASONS",
    "STREAMS",
    "FixedAggregate",
    "GreedyAggregate",
    "SlidingAggregate",
    "TimeAggregate",
    "restore",
    *_CLASSES,
]
