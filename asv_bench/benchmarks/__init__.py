"""Benchmarks of every registered statistic and its peers."""
