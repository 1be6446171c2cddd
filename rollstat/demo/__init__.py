"""A demonstration on real data; run it with ``python -m rollstat.demo``."""
