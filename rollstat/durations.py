"""Durations as text: one grammar for windows, half-lives, lateness and watermarks of every interface.

::

    "10 minutes"  "5m"  "5min"  "1h30m"  "1d"  "PT1H30M"   --> nanoseconds
    "1 month"  "2q"  "1 year 6 months"  "P1Y6M"            --> months
"""

import re
from fractions import Fraction
from functools import lru_cache

UNITS = {"ns": 1, "us": 10**3, "ms": 10**6, "s": 10**9, "min": 60 * 10**9, "h": 3600 * 10**9}
UNITS |= {"D": 86400 * 10**9, "W": 7 * 86400 * 10**9}
"""Nanoseconds of the units of fixed length."""

_MONTHS = {"mo": 1, "q": 3, "y": 12}
_SHORT = {"m": "min", "d": "D", "w": "W", "S": "s", "H": "h", "µs": "us", "μs": "us"}
_SHORT |= {unit: unit for unit in (*UNITS, *_MONTHS)}
_WORDS = {"nanosecond": "ns", "microsecond": "us", "millisecond": "ms", "second": "s", "sec": "s"}
_WORDS |= {"minute": "min", "min": "min", "hour": "h", "hr": "h", "day": "D", "week": "W"}
_WORDS |= {"month": "mo", "quarter": "q", "year": "y", "yr": "y"}
_PART = re.compile(r"\s*([0-9]+(?:\.[0-9]*)?)?\s*([^\W\d_]+)\s*")
_NUMBER = r"[0-9]+(?:[.,][0-9]+)?"
_ISO_DATE, _ISO_TIME = ("y", "mo", "W", "D"), ("h", "min", "s")
_ISO = re.compile(
    "P"
    + "".join(f"(?:({_NUMBER}){unit})?" for unit in "YMWD")
    + "(?:T"
    + "".join(f"(?:({_NUMBER}){unit})?" for unit in "HMS")
    + ")?"
)

ALLOWED = (
    "a duration such as '5min', '10 minutes', '1h30m' or 'PT5M', in ns, us, ms, s, m or min (minutes), h, d, "
    "w, or of the calendar in mo (months), q, y"
)


def parts(text: str) -> list[tuple[str, str]] | None:
    """Return the counts and the units of a duration; None if `text` is none.

    ``m`` is a minute and ``mo`` a month. ``M`` is neither, except in the notation of ISO 8601.
    """
    iso = _ISO.fullmatch(text.strip())
    if iso is not None:
        counts = zip(iso.groups(), (*_ISO_DATE, *_ISO_TIME))
        return [(count.replace(",", "."), unit) for count, unit in counts if count] or None
    given = _PART.findall(text)
    if not given or _PART.sub("", text):
        return None
    found = []
    for count, name in given:
        unit = _SHORT.get(name) or _WORDS.get(name.lower()) or _WORDS.get(name.lower().removesuffix("s"))
        if unit is None or not (count or len(given) == 1):
            return None
        found.append((count or "1", unit))
    return found


def nanoseconds(text: str) -> Fraction | None:
    """Return a duration of fixed length; None for other text."""
    found = parts(text)
    if found is None or not all(unit in UNITS for _, unit in found):
        return None
    return sum((Fraction(count) * UNITS[unit] for count, unit in found), Fraction(0))


@lru_cache(maxsize=64)  # asked in every call of windows of time
def months(text: str) -> int | None:
    """Return a duration of whole months; None for other text."""
    found = parts(text)
    if found is None or not all(unit in _MONTHS and count.isdecimal() for count, unit in found):
        return None
    return sum(int(count) * _MONTHS[unit] for count, unit in found)


def normal(text: str) -> str:
    """Return a duration with the short names of its units: ``"1h30min"``; other text as it is."""
    found = parts(text)
    return text if found is None else "".join(f"{count}{unit}" for count, unit in found)
