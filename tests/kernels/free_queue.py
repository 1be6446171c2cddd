"""A queue of states of free size, whose moves from ring to ring are counted."""

import numpy as np

from rollstat.kernels.aggregate.ring_queue import (
    END,
    FRONT,
    MASK,
    MOVED,
    SMALLEST,
    STOP,
    carry,
    free_size,
    is_idle,
    rehouse,
)


class FreeQueue:
    """The queue of an algorithm, pushed to as window_stream.py does."""

    def __init__(self, algorithm, header, cells):
        self.algorithm, self.header = algorithm, header
        self.cells, self.stamps = free_size([cells, np.zeros(int(header[MASK]) + 1, np.int64)])

    def push(self, operator, element):
        """Push; assert that no more than two states move, and that the ring fits what it holds."""
        header = self.header
        at_home = self.cells[2][MOVED] == self.cells[2][STOP]
        if is_idle(header, self.cells) or not self.algorithm.push(operator, header, self.cells, element):
            self.cells, self.stamps = rehouse(header, [self.cells, self.stamps])
            assert header[MASK] + 1 >= 2 * (header[END] - header[FRONT])
            assert self.algorithm.push(operator, header, self.cells, element)
        self.stamps[0][(header[END] - 1) & header[MASK]] = element
        moving = self.cells[2]
        before = max(int(moving[MOVED]), min(int(header[FRONT]), int(moving[STOP])))
        carry(header, self.cells, self.stamps)
        assert 0 <= moving[MOVED] - before <= 2
        assert not at_home or header[MASK] < max(SMALLEST, 16 * (header[END] - header[FRONT]))
