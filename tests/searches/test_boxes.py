"""A short part of the search over boxes."""

import numpy as np
import pytest

from tests.fuzz import boxes


@pytest.mark.parametrize("dtype", ["f8", "i8", "M8[s]"])
@pytest.mark.filterwarnings("ignore::rollstat.PrecisionWarning")
def test_boxes_against_padded_arrays(dtype):
    rng, compared = np.random.default_rng([20261125, ord(dtype[0])]), 0
    for _ in range(60):
        compared += boxes.fuzz(rng, {}, (dtype,))
    assert compared
