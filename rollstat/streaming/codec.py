"""Elements of a stream: what may be pushed, as what it is computed, and what comes out.

::

    pushed            word                 answered
    3.5, None, NaN    float64              float, NaN
    7, True, None     int64 or uint64      int or bool, None
    datetime64, NaT   int64                datetime64, NaT
"""

import math
import operator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

__all__ = ["MISSING", "Elements", "Objects"]

_WHOLE = (int, np.integer)
# timedelta64 is a kind of integer to NumPy, but no number here.
_NUMBERS = (int, np.signedinteger, np.unsignedinteger, np.floating, np.bool_)


class _Missing:
    """Stands for an answer that there is none of."""


MISSING = _Missing()


class Elements:
    """The elements of a stream of `dtype`.

    Parameters
    ----------
    dtype : dtype
        Of the elements: float64, float32, an integer, bool, or datetimes or timedeltas with a unit.
    kinds : str
        Kinds of dtype that the statistic takes.
    """

    def __init__(self, dtype: DTypeLike, kinds: str = "fiubMm") -> None:
        self.dtype: Any
        try:
            self.dtype = np.dtype(dtype).newbyteorder("=")
        except TypeError:
            raise TypeError(f"dtype must name a dtype; it was {dtype!r}") from None
        kind = self.dtype.kind
        if kind not in kinds or kind not in "fiubMm" or self.dtype.itemsize > 8 or self.dtype == np.float16:
            names = {
                "f": "float64, float32",
                "i": "integers",
                "b": "bool",
                "M": "datetimes",
                "m": "timedeltas",
            }
            served = ", ".join(name for key, name in names.items() if key in kinds)
            raise TypeError(f"dtype must be one of {served}; it was {self.dtype}")
        if kind in "mM" and np.datetime_data(self.dtype)[0] in ("generic", "Y", "M"):
            raise TypeError(f"dtype must have a unit of a fixed length; it was {self.dtype}")
        self.kind = kind
        self.computing: Any = np.dtype(np.float64)
        if kind != "f":
            self.computing = np.dtype(np.uint64 if self.dtype == np.uint64 else np.int64)
        if kind in "iu":
            limits = np.iinfo(self.dtype)
            self._least, self._most = int(limits.min), int(limits.max)
        elif kind == "b":
            self._least, self._most = 0, 1

    def encode(self, x: Any) -> tuple[Any, bool]:
        """Return the word of an element and whether it is missing, or raise."""
        if x is None:
            return (math.nan if self.kind == "f" else 0), True
        if self.kind == "f":
            return self._encode_number(x)
        if self.kind in "mM":
            return self._encode_time(x)
        if isinstance(x, (float, np.floating)) and math.isnan(x):
            return 0, True
        duration: Any = np.timedelta64
        if not isinstance(x, (*_WHOLE, np.bool_)) or isinstance(x, duration):
            raise TypeError(f"x must be a whole number or None for {self.dtype}; it was {x!r}")
        word = operator.index(int(x))
        if not self._least <= word <= self._most:
            raise ValueError(f"x must lie in {self._least}..{self._most} for {self.dtype}; it was {x!r}")
        return word, False

    def _encode_number(self, x: Any) -> tuple[float, bool]:
        if not isinstance(x, (float, *_WHOLE, np.floating, np.bool_)):
            if isinstance(x, (str, bytes, complex, np.generic)) or not hasattr(x, "__float__"):
                raise TypeError(f"x must be a real number or None; it was {x!r}")
            if isinstance(x, np.ndarray) and x.ndim:
                raise TypeError("x must be one number; extend takes an array")
        try:
            word = float(x)
        except OverflowError:
            raise ValueError(f"x must lie within float64; it was {x!r}") from None
        if self.dtype == np.float32 and math.isfinite(word):
            with np.errstate(over="ignore"):
                single = float(np.float32(word))
            if math.isinf(single):
                raise ValueError(f"x must lie within float32; it was {x!r}")
            word = single
        return word, word != word

    def _encode_time(self, x: Any) -> tuple[int, bool]:
        name = "datetime64" if self.kind == "M" else "timedelta64"
        duration: Any = np.timedelta64
        if isinstance(x, (str, bytes, float, *_NUMBERS)) and not isinstance(x, duration):
            raise TypeError(f"x must be a {name} or None; it was {x!r}")
        try:
            given = np.asarray(x.to_numpy() if hasattr(x, "to_numpy") else x)
            if given.dtype.kind != self.kind:
                given = given.astype(f"{self.kind}8[us]")
            word = given.astype(self.dtype)
        except (TypeError, ValueError, OverflowError):
            raise TypeError(f"x must be a {name} or None; it was {x!r}") from None
        if np.isnat(word):
            return 0, True
        if given.dtype != self.dtype and word.astype(given.dtype) != given:
            raise ValueError(f"x must be exact in {self.dtype}; it was {x!r}")
        return int(word.astype(np.int64)), False

    def array(self, values: ArrayLike, name: str = "array") -> Any:
        """Return `values` as a 1-d array of the stream's dtype, masked if they are, or raise."""
        given = values if isinstance(values, np.ma.MaskedArray) else np.asarray(values)
        if given.ndim != 1:
            raise ValueError(f"{name} must be 1-d; its shape was {given.shape}")
        if given.dtype == self.dtype:
            return given
        if given.dtype.kind == "O" or (given.size == 0 and given.dtype == np.float64):
            encoded = [self.encode(x) for x in given.tolist()]
            return self.series(
                np.array([word for word, _ in encoded], self.computing),
                np.array([missing for _, missing in encoded], np.bool_),
            )
        if self.kind == "f" and given.dtype.kind in "fiub":
            return given.astype(self.dtype)
        if self.kind in "mM" and given.dtype.kind == self.kind:
            same = given.astype(self.dtype)
            if (same.astype(given.dtype) != given)[~np.isnat(given)].any():
                raise ValueError(f"{name} must be exact in {self.dtype}; its dtype was {given.dtype}")
            return same
        if self.kind in "iub" and given.dtype.kind in "iub":
            plain = np.ma.getdata(given)
            if plain.size and not self._least <= int(plain.min()) <= int(plain.max()) <= self._most:
                raise ValueError(f"{name} must lie in {self._least}..{self._most} for {self.dtype}")
            return given.astype(self.dtype)
        raise TypeError(f"{name} must hold elements of {self.dtype}; its dtype was {given.dtype}")

    def numbers(self, series: Any) -> NDArray[Any]:
        """Return the words of an array of the stream's floats, perhaps itself, NaN where they are missing."""
        plain: NDArray[Any] = np.ma.filled(series, np.nan)
        usable = plain.dtype == self.computing and plain.flags.carray
        return plain if usable else plain.astype(self.computing)

    def words(self, series: Any) -> tuple[NDArray[Any], NDArray[np.bool_]]:
        """Return the words of an array of the stream's dtype, perhaps itself, and which are missing."""
        if self.kind == "f":
            plain = self.numbers(series)
            return plain, np.isnan(plain)
        plain = np.ma.getdata(series)
        missing = np.isnat(plain) if self.kind in "mM" else np.zeros(len(plain), np.bool_)
        if self.kind in "mM":
            plain = plain.view(np.int64)
        masked = isinstance(series, np.ma.MaskedArray)
        if masked or plain.dtype != self.computing or not plain.flags.carray:
            plain = plain.astype(self.computing)
        if masked:
            missing |= np.ma.getmaskarray(series)
        return plain, missing

    def series(self, words: NDArray[Any], missing: NDArray[np.bool_]) -> Any:
        """Return words as an array of the stream's dtype, masked where that has no missing value."""
        if self.kind == "f":
            return words.astype(self.dtype, copy=False)
        if self.kind in "mM":
            plain = words.astype(np.int64)
            plain[missing] = np.iinfo(np.int64).min
            return plain.view(self.dtype)
        plain = words.astype(self.dtype)
        return np.ma.MaskedArray(plain, missing) if missing.any() else plain

    def decode(self, word: Any, kind: str = "value") -> Any:
        """Return an answer of one of the kinds of :class:`rollstat.engine.Output` as a Python object."""
        if kind in ("position", "offset"):
            return -1 if word is MISSING else int(word)
        if kind == "flag":
            return word is not MISSING and bool(word)
        if word is MISSING:
            return self.missing(kind)
        if self.kind == "f":
            return float(word) if self.dtype == np.float64 else float(np.float32(word))
        if kind == "float" or (kind == "interpolated" and self.kind not in "mM"):
            return float(word)
        if self.kind in "mM" and kind != "integer":
            unit = np.datetime_data(self.dtype)
            duration: Any = np.timedelta64
            return (duration if kind == "difference" else self.dtype.type)(int(word), unit)
        return bool(word) if self.kind == "b" and kind == "value" else int(word)

    def missing(self, kind: str = "value") -> Any:
        """Return what is answered where there is no answer."""
        if kind in ("position", "offset"):
            return -1
        if kind == "flag":
            return False
        if self.kind in "mM" and kind not in ("float", "integer"):
            name = np.datetime_data(self.dtype)[0]
            duration: Any = np.timedelta64
            return duration("NaT", name) if kind == "difference" else self.dtype.type("NaT", name)
        if self.kind == "f" or kind in ("float", "interpolated"):
            return math.nan
        return None


class Objects:
    """The elements of a stream of Python objects; None is missing."""

    dtype: Any = np.dtype(object)
    kind = "O"

    def encode(self, x: Any) -> tuple[Any, bool]:
        """Return the element, and whether it is missing."""
        return x, x is None

    def array(self, values: Any) -> list[Any]:
        """Return the elements of a sequence."""
        return list(values)

    def words(self, series: list[Any]) -> tuple[list[Any], NDArray[np.bool_]]:
        """Return the elements, and which are missing."""
        return series, np.array([x is None for x in series], np.bool_)
