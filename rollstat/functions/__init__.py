"""``rolling_*`` on arrays, one module a family. Importing the package fills the registry."""

from rollstat.functions import extrema, order_statistics, ranks, robust

__all__ = ["extrema", "order_statistics", "ranks", "robust"]
