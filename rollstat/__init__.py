"""Exact statistics over sliding windows.

The best known algorithms, each written once as a JIT kernel, behind one window language and one
missing-value rule: the same in NumPy, in pandas, on a stream and on Spark.
"""

__version__ = "0.1.0"
