"""Tests of what README and the documentation show."""
