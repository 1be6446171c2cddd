"""extrema."""
