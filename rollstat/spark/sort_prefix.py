"""What rows are sorted by first: a number that decides nearly every comparison.

::

    bit   63          ...          32 31          ...          0
         |      hash of the keys     |  first column of the order  |     rounded: close values are the same

Spark's sort holds eight bytes of what it sorts by first, compares these by themselves, and fetches two rows
from memory only where they tie, which with few keys they nearly always do. So the keys and the order come
after a number made of both, of which the lower half never falls along the order: what ties in it is decided
by the columns after it. Rows of keys of one hash come mixed, and `mixed.py` takes them apart.

Whole numbers are rounded as a floating number of few exponents is: exact near zero, then in parts each eight
times as wide as the one before and as many places wide as it, with shifts and comparisons alone.

Source: Graefe, Implementing sorting in database systems, 2006, section 4.2 (poor man's normalized keys),
https://doi.org/10.1145/1132960.1132964.
"""

from collections.abc import Sequence

from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql import types as T

__all__ = ["HASH", "ORDER_BITS", "hash_of", "place_of", "prefix_of"]

HASH = "rollstat_hash"
ORDER_BITS = 32
_HALF = 2 ** (ORDER_BITS - 1)
_LARGEST = 2.0**63  # numbers beyond are taken as this
_FINEST = 2.0**20  # numbers closer to zero than one part of this are taken as zero
_LOGARITHM = 60.0  # no less than log1p of the largest number of the finest parts
_EXACT = 29  # bits of whole numbers that are told apart each
_PART = 3  # bits by which a part is wider than all before it
_COARSER = 5  # bits that the first part after the exact one drops; with fewer the last would have no room
_MIDDLE = 946_684_800  # seconds; the year 2000, around which timestamps are told apart for 136 years


def hash_of(keys: Sequence[Column]) -> Column:
    """Whole number of 32 bits that is the same for equal keys."""
    return F.hash(*keys)


def prefix_of(hashed: Column, order: Column, data_type: T.DataType, descending: bool) -> Column | None:
    """Number to sort by first, or None for an order that has none.

    Parameters
    ----------
    hashed : Column
        The hash of the keys that name the series.
    order, data_type, descending
        The first column of the order.
    """
    place = place_of(order, data_type, descending)
    return None if place is None else F.shiftleft(hashed.cast("long"), ORDER_BITS) + place


def place_of(order: Column, data_type: T.DataType, descending: bool) -> Column | None:
    """Lower half of the number, which is never negative; None for an order that has none."""
    place = _place(order, data_type)
    if place is None:
        return None
    place = F.when(order.isNull(), F.lit(0)).otherwise(place)  # `least` would pass over a null
    return F.lit(2 * _HALF - 1) - place if descending else place


def _place(column: Column, data_type: T.DataType) -> Column | None:
    """Whole number of `ORDER_BITS` bits that never falls where the column rises."""
    if isinstance(data_type, T.LongType):
        return _place_of_long(column)
    if isinstance(data_type, T.IntegralType):
        return column.cast("long") + F.lit(_HALF)
    if isinstance(data_type, T.FractionalType) and not isinstance(data_type, T.DecimalType):
        # Java's log1p rounds monotonically; NaN is above every number to Spark, in `least` and in `<` alike.
        number = column.cast("double")
        size = F.log1p(F.least(F.abs(number), F.lit(_LARGEST)) * F.lit(_FINEST)) * F.lit(1 / _LOGARITHM)
        part = F.when(number < F.lit(0.0), -size).otherwise(size)
        return ((part + F.lit(1.0)) * F.lit(float(_HALF))).cast("long")
    if isinstance(data_type, T.DateType):
        return F.unix_date(column).cast("long") + F.lit(_HALF)
    if isinstance(data_type, T.TimestampType):
        # Shifted first: the least long is a timestamp as well, from which nothing can be taken.
        seconds = F.shiftright(F.unix_micros(column), 20) - F.lit(_MIDDLE * 1_000_000 >> 20)
    elif isinstance(data_type, T.TimestampNTZType):
        middle = F.lit("2000-01-01 00:00:00").cast(data_type)
        seconds = F.timestamp_diff("SECOND", middle, column)
    else:
        return None
    return F.least(F.greatest(seconds, F.lit(-_HALF)), F.lit(_HALF - 1)) + F.lit(_HALF)


def _place_of_long(column: Column) -> Column:
    """Place of a whole number of 64 bits."""
    sign = F.shiftright(column, 63)
    size = column.bitwiseXOR(sign)  # of -1 that of 0, and so on: every number has one
    place = F.when(size < F.lit(2**_EXACT), size)
    for part, begin in enumerate(range(_EXACT, 63, _PART)):
        kept = _EXACT - _COARSER  # a part is the numbers from 2**kept to 2**(kept + _PART), shifted
        before = 2**_EXACT + part * (2 ** (kept + _PART) - 2**kept)
        shifted = F.shiftright(size, _COARSER + part * _PART) + F.lit(before - 2**kept)
        end = begin + _PART
        place = place.when(size < F.lit(2**end), shifted) if end < 63 else place.otherwise(shifted)
    return place.bitwiseXOR(sign) + F.lit(_HALF)
