"""Associative operators to combine the elements of a window.

An operator is an instance of a NamedTuple class; its fields are parameters. The method ``combine(self, older,
newer)`` returns the state of two adjacent runs of rows from their states. It must be associative, but need
not be commutative or invertible. Three more members are optional: ``lift(self, x)`` returns the state of one
element, ``lower(self, state)`` the result, and ``identity`` is the state of an empty window. A state is a
scalar, a small array of a fixed shape, or a tuple of these.

- `interface`: the protocol, operators made of plain functions, and `compiled`, to freeze an operator of a
  user under the digest of its code (:mod:`rollstat.compile.code`).
- `layout`: dtypes of the states and results of an operator.
- `checks`: a test of the laws on samples.
- `scaled`: numbers of any size, for the states of products and weighted sums.
- `sums`, `moments`, `choices`, `maps`: the operators of the package.
"""

from rollstat.operators import choices, maps, moments, sums
from rollstat.operators.checks import check_operator
from rollstat.operators.choices import *
from rollstat.operators.interface import Operator, as_operator, function_operator
from rollstat.operators.layout import Layout, describe
from rollstat.operators.maps import *
from rollstat.operators.moments import *
from rollstat.operators.sums import *

__all__ = ["Layout", "Operator", "as_operator", "check_operator", "describe", "function_operator"]
__all__ += choices.__all__
__all__ += maps.__all__
__all__ += moments.__all__
__all__ += sums.__all__
