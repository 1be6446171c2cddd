"""Affine maps, whose composition is not commutative, as elements of windows of numbers and of objects."""

from rollstat.operators import function_operator
from rollstat.streaming.operator_adapter import OperatorAdapter


def compose(maps):
    """Affine maps applied one after the other."""
    slope, offset = 1.0, 0.0
    for a, b in maps:
        slope, offset = a * slope, a * offset + b
    return slope, offset


def composition():
    """Return an operator that composes affine maps, prepared for objects."""

    def join(older, newer):
        return newer[0] * older[0], newer[0] * older[1] + newer[1]

    return OperatorAdapter(function_operator(join), object)


def element(k):
    """Whole numbers, so that sums are exact; -1 and 1 alone, so that products stay small."""
    return (-1.0 if k % 3 else 1.0), float(k)
