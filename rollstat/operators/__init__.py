"""Associative operators, which combine the elements of a window.

An operator is an instance of a NamedTuple class; its fields are parameters. The method ``combine(self, older,
newer)`` returns the state of two adjacent runs of rows from their states. It must be associative, but need
not be commutative or invertible. Three more members are optional: ``lift(self, x)`` returns the state of one
element, ``lower(self, state)`` the result, and ``identity`` is the state of an empty window. A state is a
scalar, a small array of a fixed shape, or a tuple of these.

- `interface`: the protocol, and operators made of plain functions.
- `layout`: dtypes of the states and results of an operator.
- `checks`: a test of the laws on samples.
- `sums`, `moments`, `choices`, `maps`: the operators of the package.
"""

from rollstat.operators.checks import check_operator
from rollstat.operators.choices import (
    AllTrue,
    AnyTrue,
    ArgMaximum,
    ArgMinimum,
    First,
    Last,
    Maximum,
    Minimum,
)
from rollstat.operators.interface import Operator, as_operator, function_operator
from rollstat.operators.layout import Layout, describe
from rollstat.operators.maps import (
    AffineMap,
    BitAnd,
    BitOr,
    BitXor,
    DecayedMean,
    DecayedSum,
    GreatestCommonDivisor,
    LogSumExp,
    MatrixProduct,
)
from rollstat.operators.moments import (
    Correlation,
    Covariance,
    Kurtosis,
    LinearFit,
    Skewness,
    Slope,
    StandardDeviation,
    StandardError,
    Variance,
)
from rollstat.operators.sums import (
    Count,
    IntegerProduct,
    IntegerSum,
    Mean,
    Product,
    Sum,
    UnsignedProduct,
    UnsignedSum,
    WeightedMean,
)

__all__ = [
    "AffineMap",
    "AllTrue",
    "AnyTrue",
    "ArgMaximum",
    "ArgMinimum",
    "BitAnd",
    "BitOr",
    "BitXor",
    "Correlation",
    "Count",
    "Covariance",
    "DecayedMean",
    "DecayedSum",
    "First",
    "GreatestCommonDivisor",
    "IntegerProduct",
    "IntegerSum",
    "Kurtosis",
    "Last",
    "Layout",
    "LinearFit",
    "LogSumExp",
    "MatrixProduct",
    "Maximum",
    "Mean",
    "Minimum",
    "Operator",
    "Product",
    "Skewness",
    "Slope",
    "StandardDeviation",
    "StandardError",
    "Sum",
    "UnsignedProduct",
    "UnsignedSum",
    "Variance",
    "WeightedMean",
    "as_operator",
    "check_operator",
    "describe",
    "function_operator",
]
