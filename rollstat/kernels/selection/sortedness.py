"""Whether a series only rises or only falls: its windows are sorted then, and nothing need be compared.

::

    values    1 2 2 5 7 8          rises: rank 1 of every window of three is the value one row on
              [---]                                                       2 2 5 7
                [---]

State: none. Invariant: no strip so far has a step against the direction. Cost: O(1) expected where steps
of both kinds are common, since the search ends with the strip that has one; O(length) at worst, in vector
instructions.
"""

from rollstat._jit import kernel

__all__ = ["direction"]


@kernel
def direction(values):
    """Return 1 if no value is less than the one before it, -1 if none is greater, otherwise 0.

    Constant values count as rising. There must be no NaN.
    """
    strip = 256
    rising = falling = True
    for first in range(0, len(values) - 1, strip):
        after = values[first + 1 : first + 1 + strip]
        before = values[first : first + len(after)]
        ups = downs = 0
        for i in range(len(after)):
            ups += after[i] > before[i]
            downs += after[i] < before[i]
        rising = rising and downs == 0
        falling = falling and ups == 0
        if not rising and not falling:
            return 0
    return 1 if rising else -1
