"""What each family asks of its algorithms, one block at a time."""
