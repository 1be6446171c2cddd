"""The pandas accessors: ``Series.rollstat`` and ``DataFrame.rollstat``.

Importing this module registers them::

    import rollstat.pandas

    series.rollstat.rolling(100).median()
    series.rollstat.kth(2, 100)

After ``.rollstat``, ``rolling(...)`` and ``expanding(...)`` take the parameters of pandas and have its
methods, results and errors. Every other statistic of rollstat is a method too. pandas computes whatever
rollstat does not.

========================  =============================================================================
``columns.py``            columns as arrays, and results as columns
``calls.py``              a statistic of columns, in place of a kernel of pandas
``windows.py``            the window objects: pandas' classes, whose statistics rollstat computes
``groups.py``             groupby, and windows within groups
``methods.py``            the methods of the window objects and of the accessors that pandas does not have
``accessors.py``          the accessors, and :func:`rolling` and :func:`expanding` as functions
========================  =============================================================================

The window classes inherit from those of pandas, which check the parameters, select columns and shape results.
A method passes a :class:`~rollstat.pandas.calls.Call`, which names a statistic, to ``_apply`` where pandas
passes its own kernel. ``_apply`` computes it over the columns of ``_create_data``, with the window and the
options that ``_row_windows`` returns. Windows within groups add ``segments`` to these options, and the
index of groups and rows to the result.
"""

from rollstat.pandas.accessors import DataFrameAccessor, SeriesAccessor, expanding, rolling
from rollstat.pandas.groups import ExpandingGroupBy, GroupBy, RollingGroupBy
from rollstat.pandas.windows import Expanding, Rolling

__all__ = [
    "DataFrameAccessor",
    "Expanding",
    "ExpandingGroupBy",
    "GroupBy",
    "Rolling",
    "RollingGroupBy",
    "SeriesAccessor",
    "expanding",
    "rolling",
]
