"""One call of a statistic over columns, including those that kernels do not take: decimals and strings.

Strings, and decimals of more than 64 bits, become integers in their order: first, last, mode and distinct
values, and for decimals all elements, are those of the integers.
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
from rollstat.spark.arrow_columns import WIDE, MaskedColumn
from rollstat.spark.decimal_sums import DECIMAL_SUMS, rolling_decimals

__all__ = ["evaluate_call"]


def evaluate_call(
    call: Call, columns: Sequence[MaskedColumn], window: Any, options: Mapping[str, Any]
) -> list[NDArray[Any]]:
    """Return one array for each result of a call, from the columns that it takes."""
    if call.statistic in DECIMAL_SUMS and call.types and isinstance(call.types[0], T.DecimalType):
        return [rolling_decimals(call.statistic, columns[0], window, options, call.scale, call.types[0])]
    statistic = REGISTRY[call.statistic]
    if columns[0].dtype == WIDE:
        codes, values = _encoded_decimals(columns[0])
    elif columns[0].dtype == np.dtype(object):
        codes, values = _encoded_strings(columns[0])
    else:
        return evaluate(statistic, columns, window, call.parameters, options)
    results = evaluate(statistic, [codes], window, call.parameters, options)
    if not isinstance(call.types[0], (T.StringType, T.DecimalType)):
        return results
    return [_decoded(result, values) for result in results]


def _encoded_decimals(column: MaskedColumn) -> tuple[MaskedColumn, NDArray[Any]]:
    """Return the place of each decimal among the sorted distinct ones, and these."""
    data = np.ascontiguousarray(np.ma.getdata(column))
    lower, upper = data.view(np.int64).reshape(-1, 2).T
    order = np.lexsort((lower.view(np.uint64), upper))
    ordered = data[order]
    new = np.append(True, ordered[1:] != ordered[:-1])[: len(order)]
    codes = np.empty(len(order), np.int64)
    codes[order] = np.cumsum(new) - 1
    return np.ma.MaskedArray(codes, np.ma.getmaskarray(column)), ordered[new]


def _encoded_strings(column: MaskedColumn) -> tuple[MaskedColumn, NDArray[Any]]:
    """Return the place of each string among the sorted distinct strings, and these."""
    mask = np.ma.getmaskarray(column)
    encoded = pa.array(np.ma.getdata(column), pa.string(), mask=mask).dictionary_encode()
    order = pc.array_sort_indices(encoded.dictionary)  # by bytes, as Spark
    places = np.zeros(len(order) + 1, np.int64)
    places[order.to_numpy()] = np.arange(len(order))
    codes = places[encoded.indices.fill_null(0).to_numpy(zero_copy_only=False)]
    words = encoded.dictionary.take(order).to_numpy(zero_copy_only=False)
    return np.ma.MaskedArray(codes, mask), words


def _decoded(result: NDArray[Any], values: NDArray[Any]) -> MaskedColumn:
    """Return the values at places."""
    mask = np.ma.getmaskarray(result)
    found = np.empty(len(mask), values.dtype)
    found[~mask] = values[np.ma.getdata(result)[~mask]]
    return np.ma.MaskedArray(found, mask)
