"""A resizable queue of states that counts the states which each push moves."""

import numpy as np

from rollstat.kernels.aggregate.operator_calls import lift_element
from rollstat.kernels.aggregate.ring_queue import (
    END,
    FRONT,
    MASK,
    MOVED,
    SMALLEST,
    STOP,
    is_oversized,
    move_some,
    resizable,
    resize,
)


def push(algorithm, operator, header, cells, element):
    """Push an element as windows do."""
    return algorithm.push_state(operator, header, cells, lift_element(operator, cells, element))


class ResizableQueue:
    """The queue of an algorithm, pushed to as ``window.advance`` does."""

    def __init__(self, algorithm, header, cells):
        self.algorithm, self.header = algorithm, header
        self.cells, self.stamps = resizable([cells, np.zeros(int(header[MASK]) + 1, np.int64)])

    def push(self, operator, element):
        """Push; assert that at most two states move, and that the ring is neither too small nor too large."""
        header = self.header
        complete = self.cells[2][MOVED] == self.cells[2][STOP]
        if is_oversized(header, self.cells) or not push(
            self.algorithm, operator, header, self.cells, element
        ):
            self.cells, self.stamps = resize(header, [self.cells, self.stamps])
            assert header[MASK] + 1 >= 2 * (header[END] - header[FRONT])
            assert push(self.algorithm, operator, header, self.cells, element)
        self.stamps[0][(header[END] - 1) & header[MASK]] = element
        moving = self.cells[2]
        before = max(int(moving[MOVED]), min(int(header[FRONT]), int(moving[STOP])))
        move_some(header, self.cells, self.stamps)
        assert 0 <= moving[MOVED] - before <= 2
        assert not complete or header[MASK] < max(SMALLEST, 16 * (header[END] - header[FRONT]))
