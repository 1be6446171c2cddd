"""What kernels of extrema know of NaN, do with it, and report: constants.

Typed, since what a literal is given to would be compiled once more.
"""

import numpy as np

__all__ = ["ALL", "ANY", "CAREFUL", "HOPEFUL", "NAN", "NO", "ONE", "PASS", "STAND_IN", "SURE", "YES"]

# What is known of NaN: that there is none, that there may be, and nothing, so that one is looked for.
SURE, CAREFUL, HOPEFUL = map(np.int64, range(3))
# Which windows give NaN: none, and whoever calls counts; those with any NaN; those where all is NaN.
PASS, ANY, ALL = map(np.int64, range(3))
# What was found: a NaN, and where that was looked for, a value of those that stand for NaN.
NAN, STAND_IN = 1, 2
ONE, NO, YES = np.int64(1), np.bool_(False), np.bool_(True)
