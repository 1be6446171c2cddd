"""A sort prefix: one 64-bit number as the first sort column, which decides almost every comparison.

::

    bit   63          ...          32 31          ...          0
         |      hash of the keys     |  code of the first order column  |     rounded: close values are equal

Spark's sort keeps an eight-byte prefix of the first sort column beside each row and fetches two rows from
memory only if their prefixes tie. With few keys they almost always tie. So the first sort column is a
number made of the keys and the order; the key and order columns after it decide ties. The code never
decreases along the order, so the prefix never contradicts these columns. Rows whose keys share a hash are
interleaved; `hash_collisions` splits them.

A 64-bit integer is rounded like a floating-point number with few exponents: exact near zero, then in ranges
each eight times as wide as the one before but with equally many codes, by shifts and comparisons alone.

Source: Graefe, Implementing sorting in database systems, 2006, section 4.2 (poor man's normalized keys),
https://doi.org/10.1145/1132960.1132964.
"""

from collections.abc import Sequence

from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql import types as T

__all__ = ["HASH", "ORDER_BITS", "hash_of", "order_code", "order_columns", "prefix_of"]

HASH = "rollstat_hash"
ORDER_BITS = 32
_HALF = 2 ** (ORDER_BITS - 1)
_LARGEST = 2.0**63  # larger numbers are clipped to this
_RESOLUTION = 2.0**20  # numbers closer to zero than its reciprocal become zero
_MAX_LOG = 60.0  # at least log1p of the largest number times the resolution
_EXACT_BITS = 29  # integers of at most this many bits keep their value
_RANGE_BITS = 3  # each further range is wider than all before it by this many bits
_DROPPED_BITS = 5  # bits that the first such range drops; with fewer the codes of the last would not fit
_EPOCH = 946_684_800  # seconds; timestamps within 68 years of the year 2000 get distinct codes


def hash_of(keys: Sequence[Column]) -> Column:
    """Return a 32-bit integer that is the same for equal keys."""
    return F.hash(*keys)


def prefix_of(hashed: Column, order: Column, data_type: T.DataType, descending: bool) -> Column | None:
    """Return the number to sort by first, or None if the order column has no code.

    Parameters
    ----------
    hashed : Column
        The hash of the keys.
    order, data_type, descending
        The first order column.
    """
    code = order_code(order, data_type, descending)
    return None if code is None else F.shiftleft(hashed.cast("long"), ORDER_BITS) + code


def order_columns(columns: Sequence[Column], descending: Sequence[bool]) -> list[Column]:
    """Return the columns to sort by, each in its direction."""
    return [column.desc() if down else column.asc() for column, down in zip(columns, descending)]


def order_code(order: Column, data_type: T.DataType, descending: bool) -> Column | None:
    """Return the lower half of the prefix, which is never negative; None for a type that has no code."""
    code = _code(order, data_type)
    if code is None:
        return None
    code = F.when(order.isNull(), F.lit(0)).otherwise(code)  # `least` would ignore a null
    return F.lit(2 * _HALF - 1) - code if descending else code


def _code(column: Column, data_type: T.DataType) -> Column | None:
    """Return an integer of `ORDER_BITS` bits that never decreases where the column increases."""
    if isinstance(data_type, T.LongType):
        return _code_of_long(column)
    if isinstance(data_type, T.IntegralType):
        return column.cast("long") + F.lit(_HALF)
    if isinstance(data_type, T.FractionalType) and not isinstance(data_type, T.DecimalType):
        # Java's log1p rounds monotonically. Both `least` and `<` of Spark put NaN above every number.
        number = column.cast("double")
        size = F.log1p(F.least(F.abs(number), F.lit(_LARGEST)) * F.lit(_RESOLUTION)) * F.lit(1 / _MAX_LOG)
        signed = F.when(number < F.lit(0.0), -size).otherwise(size)
        return ((signed + F.lit(1.0)) * F.lit(float(_HALF))).cast("long")
    if isinstance(data_type, T.DateType):
        return F.unix_date(column).cast("long") + F.lit(_HALF)
    if isinstance(data_type, T.TimestampType):
        # Shift first: subtracting from the smallest long, which is a valid timestamp, would overflow.
        seconds = F.shiftright(F.unix_micros(column), 20) - F.lit(_EPOCH * 1_000_000 >> 20)
    elif isinstance(data_type, T.TimestampNTZType):
        epoch = F.lit("2000-01-01 00:00:00").cast(data_type)
        seconds = F.timestamp_diff("SECOND", epoch, column)
    else:
        return None
    return F.least(F.greatest(seconds, F.lit(-_HALF)), F.lit(_HALF - 1)) + F.lit(_HALF)


def _code_of_long(column: Column) -> Column:
    """Return the code of a 64-bit integer."""
    sign = F.shiftright(column, 63)
    size = column.bitwiseXOR(sign)  # -1 has the size of 0, -2 that of 1, and so on
    code = F.when(size < F.lit(2**_EXACT_BITS), size)
    kept = _EXACT_BITS - _DROPPED_BITS  # in each range the shifted sizes are 2**kept..2**(kept + _RANGE_BITS)
    for number, begin in enumerate(range(_EXACT_BITS, 63, _RANGE_BITS)):
        first_code = 2**_EXACT_BITS + number * (2 ** (kept + _RANGE_BITS) - 2**kept)
        shifted = F.shiftright(size, _DROPPED_BITS + number * _RANGE_BITS) + F.lit(first_code - 2**kept)
        end = begin + _RANGE_BITS
        code = code.when(size < F.lit(2**end), shifted) if end < 63 else code.otherwise(shifted)
    return code.bitwiseXOR(sign) + F.lit(_HALF)
