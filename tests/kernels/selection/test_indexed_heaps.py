"""Ages of rows in a ring, against counting them."""

from rollstat.kernels.selection.indexed_heaps import is_older


def test_all_pairs_in_a_ring_of_seven():
    for newest in range(7):
        rows = [(slot - newest - 1) % 7 for slot in range(7)]
        for slot in range(7):
            for other in range(7):
                assert is_older(slot, other, newest) == (rows[slot] < rows[other])
