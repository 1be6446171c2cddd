"""The last observation up to each row, or the first one from each row on.

::

    values          5.0  N   N  2.0  N
    forward_fill    5.0 5.0 5.0 2.0 2.0      (before the first observation: the first value)
    backward_fill   5.0 2.0 2.0 2.0  N       (after the last observation: the last value)

State: the last observation so far. Cost: O(1) per row.
"""

from rollstat.compile.jit import kernel
from rollstat.kernels.missing.counting import has_nan

__all__ = ["backward_fill", "backward_fill_nan", "copy_until_nan", "forward_fill", "forward_fill_nan"]

# Values that stay in the fastest cache between the search for NaN and the copy.
_BLOCK = 2048


@kernel
def forward_fill(values, missing, out):
    """Write the last observation up to each row; before the first one, the first value."""
    last = values[0]
    for i in range(len(values)):
        last = last if missing[i] else values[i]
        out[i] = last


@kernel
def backward_fill(values, missing, out):
    """Write the first observation from each row on; after the last one, the last value."""
    last = values[len(values) - 1]
    for i in range(len(values) - 1, -1, -1):
        last = last if missing[i] else values[i]
        out[i] = last


@kernel
def copy_until_nan(values, out):
    """Copy floats up to a block that has a NaN; return whether all were copied."""
    for first in range(0, len(values), _BLOCK):
        block = values[first : first + _BLOCK]
        if has_nan(block):
            return False
        target = out[first : first + len(block)]
        for i in range(len(block)):
            target[i] = block[i]
    return True


@kernel
def forward_fill_nan(values, out):
    """Write the last value that is not NaN up to each of the last ``len(out)`` rows."""
    skipped = len(values) - len(out)
    last = values[0]
    for i in range(skipped):
        last = values[i] if values[i] == values[i] else last
    for i in range(len(out)):
        value = values[skipped + i]
        last = value if value == value else last
        out[i] = last


@kernel
def backward_fill_nan(values, out):
    """Write the first value that is not NaN from each of the first ``len(out)`` rows on."""
    last = values[len(values) - 1]
    for i in range(len(values) - 1, len(out) - 1, -1):
        last = values[i] if values[i] == values[i] else last
    for i in range(len(out) - 1, -1, -1):
        last = values[i] if values[i] == values[i] else last
        out[i] = last
