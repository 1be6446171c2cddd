"""A queue of states whose ring grows and shrinks as those of windows do."""

from rollstat.kernels.aggregate.operator_calls import lift_element
from rollstat.kernels.aggregate.ring_queue import END, FRONT, MASK, resize
from rollstat.kernels.rings import suitable_size


def push(algorithm, operator, header, cells, element):
    """Push an element as windows do."""
    return algorithm.push_state(operator, header, cells, lift_element(operator, cells, element))


class GrowingQueue:
    """The queue of an algorithm."""

    def __init__(self, algorithm, header, cells):
        self.algorithm, self.header, self.cells = algorithm, header, cells

    def push(self, operator, element):
        """Push; take a ring of another size if this one is full or too large."""
        header = self.header
        used, size = int(header[END] - header[FRONT]), int(header[MASK]) + 1
        suitable = suitable_size(used, size)
        if suitable != size or not push(self.algorithm, operator, header, self.cells, element):
            self.cells = resize(header, self.cells, suitable if suitable != size else 2 * size)
            assert push(self.algorithm, operator, header, self.cells, element)
