"""The pandas accessors: ``Series.rollstat`` and ``DataFrame.rollstat``.

Importing this module registers them::

    import rollstat.pandas

    series.rollstat.rolling(100).median()
    series.rollstat.kth(2, 100)

After ``.rollstat``, ``rolling(...)``, ``expanding(...)`` and ``ewm(...)`` take pandas' parameters and have
pandas' methods, results and errors. Every other rollstat statistic is a method too. Other calls fall back to
pandas.

========================  =============================================================================
``calls.py``              a statistic of columns in place of a pandas kernel, and conversions of columns
``functions.py``          functions in ``apply`` that statistics compute
``windows.py``            the window objects: subclasses of pandas' classes
``exponential.py``        exponentially weighted windows
``groups.py``             groupby, and windows within groups
``accessors.py``          the accessors, :func:`rolling` and :func:`expanding` as functions, and the methods
                          that pandas does not have, of the accessors and the window objects
========================  =============================================================================

The window classes inherit from pandas' classes, which check the parameters, select columns and shape results.
pandas' methods pass a kernel and the name of a statistic to ``_apply``, which replaces the kernel with a
:class:`~rollstat.pandas.calls.ColumnCall`. Methods with parameters, and methods that pandas does
not have, pass a ``ColumnCall`` themselves. ``_apply`` computes the statistic over the columns of
``_create_data``, with the window and the options that ``_row_windows`` returns. Windows within groups add
``segments`` to these options, and the index of groups and rows to the result.

The package uses these private parts of pandas, as in pandas 2.2.3 and 3.1.1:

- what weighted windows call: ``_apply_columnwise``, ``_scipy_weight_generator``
- what exponentially weighted windows hold: ``_com``, ``_deltas``
- what window objects call, and the classes here replace: ``_apply``, ``_create_data``, ``_gotitem``,
  ``_numba_apply``, ``_validate``, ``_validate_datetimelike_monotonic``, ``_attributes``
- further parts of window objects: ``_apply_pairwise``, ``_as_index``, ``_check_window_bounds``,
  ``_get_window_indexer``, ``_grouper``, ``_index_array``, ``_on``, ``_prep_values``,
  ``_raise_monotonic_error``, ``_resolve_output``, ``_selected_obj``, ``_selection``,
  ``_validate_numeric_only``, ``_win_freq_i8``
- how results are made: ``_constructor``, ``_constructor_expanddim``, ``_from_mgr``, ``_mgr``, ``_name``,
  ``_values``, ``pandas.core.internals.SingleBlockManager``, ``pandas.core.internals.blocks.NumpyBlock`` and
  ``pandas._libs.internals.BlockPlacement``
- attributes of the grouper: ``codes``, ``ids``, ``indices``, ``levels``, ``names``, ``result_index``
"""

from rollstat.pandas.accessors import DataFrameAccessor, SeriesAccessor, expanding, rolling
from rollstat.pandas.exponential import ExponentialMovingWindow
from rollstat.pandas.groups import (
    ExpandingGroupBy,
    ExponentialMovingWindowGroupBy,
    GroupBy,
    RollingGroupBy,
)
from rollstat.pandas.windows import Expanding, Rolling, handed_back

__all__ = [
    "DataFrameAccessor",
    "Expanding",
    "ExpandingGroupBy",
    "ExponentialMovingWindow",
    "ExponentialMovingWindowGroupBy",
    "GroupBy",
    "Rolling",
    "RollingGroupBy",
    "SeriesAccessor",
    "expanding",
    "handed_back",
    "rolling",
]
