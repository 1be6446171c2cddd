"""What all tests of streams share."""

import pytest

from rollstat.streaming import bulk_extend, operator_stream


@pytest.fixture(autouse=True)
def any_length(monkeypatch):
    """Arrays as short as those of tests go to the functions over arrays too, as only longer ones do else."""
    monkeypatch.setattr(bulk_extend, "_STEPS", 0)
    monkeypatch.setattr(operator_stream, "_FEW", 4)
