"""The main job on real data; run it with ``python -m rollstat.demo``."""
