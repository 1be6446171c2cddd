"""Rings of states that change their length: every state stays, and so do the extra cells."""

import numpy as np
import pytest

from rollstat.kernels.aggregate.ring_queue import (
    END,
    FRONT,
    MASK,
    create_queue,
    fetch,
    resize,
    store,
    well_formed,
)


@pytest.mark.parametrize("size", [8, 16, 64])
@pytest.mark.parametrize("first", [0, 5, 1000])
def test_resizing_keeps_states_and_extra_cells(size, first):
    header, cells = create_queue(np.dtype(np.int64), 13, 4, 2)
    assert header[MASK] == 15
    assert len(header) == 4
    header[FRONT], header[END] = first, first + 8
    for i in range(first, first + 8):
        store(cells, i, header[MASK], 10 * i)
    cells[-2:] = 1, 2
    resized = resize(header, cells, size)
    assert well_formed(header, resized, 2)
    assert not well_formed(header, resized, 1)
    assert [fetch(resized, i, header[MASK]) for i in range(first, first + 8)] == [
        10 * i for i in range(first, first + 8)
    ]
    assert resized[-2:].tolist() == [1, 2]
    header[END] += size - 7
    assert not well_formed(header, resized, 2)
