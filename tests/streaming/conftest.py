"""What all tests of streams share."""

import pytest

from rollstat import thresholds


@pytest.fixture(autouse=True)
def any_length(monkeypatch):
    """Let arrays as short as those of tests go to the functions over arrays, as longer ones do otherwise."""
    monkeypatch.setattr(thresholds, "STREAM_STEPS", 0)
    monkeypatch.setattr(thresholds, "STREAM_SEPARATE_ROWS", 0)
    monkeypatch.setattr(thresholds, "STREAM_OPERATOR_STEPS", 4)
