"""One call of a statistic over columns, including those that kernels do not take: decimals and strings.

Strings become integers in the order of the strings, so first, last, mode and distinct strings are those
of the integers.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from pyspark.sql import types as T

from rollstat.registry import REGISTRY
from rollstat.spark.aggregate_spec import Call, evaluate
from rollstat.spark.arrow_columns import MaskedColumn
from rollstat.spark.decimal_sums import DECIMAL_SUMS, rolling_decimals

__all__ = ["evaluate_call"]


def evaluate_call(
    call: Call, columns: Sequence[MaskedColumn], window: Any, options: Mapping[str, Any]
) -> list[NDArray[Any]]:
    """Return one array for each result of a call, from the columns that it takes."""
    if call.statistic in DECIMAL_SUMS and call.types and isinstance(call.types[0], T.DecimalType):
        return [rolling_decimals(call.statistic, columns[0], window, options)]
    statistic = REGISTRY[call.statistic]
    if columns[0].dtype != np.dtype(object):
        return evaluate(statistic, columns, window, call.parameters, options)
    codes, words = _encoded(columns[0])
    results = evaluate(statistic, [codes], window, call.parameters, options)
    if not isinstance(call.types[0], T.StringType):
        return results
    return [_decoded(result, words) for result in results]


def _encoded(column: MaskedColumn) -> tuple[MaskedColumn, NDArray[Any]]:
    """Return the place of each string among the sorted distinct strings, and these."""
    mask = np.ma.getmaskarray(column)
    encoded = pa.array(np.ma.getdata(column), pa.string(), mask=mask).dictionary_encode()
    order = pc.array_sort_indices(encoded.dictionary)  # by bytes, as Spark
    places = np.zeros(len(order) + 1, np.int64)
    places[order.to_numpy()] = np.arange(len(order))
    codes = places[encoded.indices.fill_null(0).to_numpy(zero_copy_only=False)]
    words = encoded.dictionary.take(order).to_numpy(zero_copy_only=False)
    return np.ma.MaskedArray(codes, mask), words


def _decoded(result: NDArray[Any], words: NDArray[Any]) -> MaskedColumn:
    """Return the strings of integers."""
    mask = np.ma.getmaskarray(result)
    strings = np.empty(len(mask), object)
    strings[~mask] = words[np.ma.getdata(result)[~mask]]
    return np.ma.MaskedArray(strings, mask)
