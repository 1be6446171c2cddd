"""Settings that must be made before the library is imported, for tests and for the examples of pages."""

import os

# Tests are for the fast kernels, and examples show them; tests/test_tiers.py turns tiers on. The workers of
# Spark inherit this.
os.environ.setdefault("ROLLSTAT_TIERS", "fast")
