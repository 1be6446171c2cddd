"""Associative operators: what combines the elements of a window.

An operator is an instance of a NamedTuple class. Its method ``combine(self, older, newer)`` joins the
states of two neighbouring stretches; ``lift(self, x)`` makes the state of one element, ``lower(self,
state)`` takes what is asked for out of a state; both are optional, as is ``identity``, the state of an
empty window. ``combine`` must be associative; it need be neither commutative nor invertible. Fields are
parameters. A state is a scalar, a small array of a fixed shape, or a tuple of these.
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
