"""Short parts, with fixed seeds, of the searches of tests/fuzz."""
