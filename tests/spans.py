"""An operator whose states show which elements they combine, and in which order; it counts combinations."""

from typing import Any, NamedTuple

import numpy as np


class Spans(NamedTuple):
    """State ``(first, last, sound)`` of elements that equal their positions; sound if none is left out."""

    combinations: Any

    def lift(self, x):
        return x, x, True

    def combine(self, older, newer):
        self.combinations[0] += 1
        sound = older[2] and newer[2] and older[1] + 1 == newer[0]
        return older[0], newer[1], sound

    def lower(self, state):
        return state[0], state[1], state[2]


STATE = np.dtype([("item0", np.int64), ("item1", np.int64), ("item2", np.bool_)], align=True)


def counting_operator():
    """Return a Spans operator and its counter."""
    counter = np.zeros(1, np.int64)
    return Spans(counter), counter
