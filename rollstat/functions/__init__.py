"""``rolling_*`` on arrays, one module a family. Importing the package fills the registry.

A public function is named in ``__all__`` of its module and nowhere else.
"""

from typing import TYPE_CHECKING

from rollstat.functions import (
    aggregate,
    extrema,
    moments,
    order_statistics,
    pairs,
    ranks,
    reductions,
    robust,
    sums,
)
from rollstat.functions.aggregate import *
from rollstat.functions.extrema import *
from rollstat.functions.moments import *
from rollstat.functions.order_statistics import *
from rollstat.functions.pairs import *
from rollstat.functions.ranks import *
from rollstat.functions.reductions import *
from rollstat.functions.robust import *
from rollstat.functions.sums import *

if not TYPE_CHECKING:  # for type checkers, every name imported with * is public
    __all__ = []
    __all__ += aggregate.__all__
    __all__ += extrema.__all__
    __all__ += moments.__all__
    __all__ += order_statistics.__all__
    __all__ += pairs.__all__
    __all__ += ranks.__all__
    __all__ += reductions.__all__
    __all__ += robust.__all__
    __all__ += sums.__all__
