"""Benchmarks of every registered statistic and its peers."""

import os

# Repeated calls are timed with the fast kernels; `first_call.py` asks for tiers.
os.environ.setdefault("ROLLSTAT_TIERS", "fast")
