"""rank_space."""
