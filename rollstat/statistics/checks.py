"""Checks of the parameters of statistics, for functions and streams."""

import math
import numbers
from typing import Any

import numpy as np

__all__ = ["NORMAL", "check_decay", "check_flag", "check_number", "check_scale", "check_share"]

NORMAL = 0.6744897501960817  # the upper quartile of the standard normal distribution


def check_number(name: str, value: Any, least: float, most: float) -> float:
    """Return `value` as a float; raise unless it is a number from `least` to `most`."""
    span = f"a number of at least {least:g}" + (f" and at most {most:g}" if math.isfinite(most) else "")
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, numbers.Real):
        raise TypeError(f"{name} must be {span}; it was {value!r}")
    if not least <= float(value) <= most:
        raise ValueError(f"{name} must be {span}; it was {value!r}")
    return float(value)


def check_scale(scale: Any) -> float:
    """Return the divisor of a deviation; raise unless `scale` is a positive number or ``"normal"``."""
    if isinstance(scale, str):
        if scale != "normal":
            raise ValueError(f"scale must be a positive number or 'normal'; it was {scale!r}")
        scale = NORMAL
    scale = check_number("scale", scale, 0, math.inf)
    if not 0 < scale < math.inf:
        raise ValueError(f"scale must be a positive number or 'normal'; it was {scale!r}")
    return float(scale)


def check_share(proportion: Any) -> float:
    """Return the proportion to cut off at each end; raise unless it is a number from 0 to below 0.5."""
    share = check_number("proportion", proportion, 0, 0.5)
    if share == 0.5:
        raise ValueError(
            f"proportion must be below 0.5, since half at each end leaves nothing; it was {proportion!r}"
        )
    return share


def check_decay(decay: Any) -> float:
    """Return the decay as a float; raise unless it is a number above 0 and at most 1."""
    if isinstance(decay, (bool, np.bool_)) or not isinstance(decay, numbers.Real):
        raise TypeError(f"decay must be a number above 0, at most 1; it was {decay!r}")
    if not 0 < float(decay) <= 1:
        raise ValueError(f"decay must be above 0 and at most 1; it was {decay!r}")
    return float(decay)


def check_flag(name: str, value: Any) -> bool:
    """Return `value` as a bool; raise TypeError unless it is True or False."""
    if not isinstance(value, (bool, np.bool_)):
        raise TypeError(f"{name} must be True or False; it was {value!r}")
    return bool(value)
