"""What all tests of streams share."""

import pytest

from rollstat.streaming import extending, named_operator


@pytest.fixture(autouse=True)
def any_length(monkeypatch):
    """Arrays as short as those of tests go to the functions over arrays too, as only longer ones do else."""
    monkeypatch.setattr(extending, "_STEPS", 0)
    monkeypatch.setattr(named_operator, "_FEW", 4)
