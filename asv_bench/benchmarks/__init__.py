"""Benchmarks made from the registry, beside the peers."""
