"""``rolling_*`` on arrays, one module a family. Importing the package fills the registry."""

from rollstat.functions import order_statistics

__all__ = ["order_statistics"]
