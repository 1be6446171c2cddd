"""Public names: each statistic and stream has one at the top; the stubs, which are committed, list them."""

import rollstat
from rollstat import statistics, streaming


def test_every_function_and_stream_class_is_public():
    public = set(rollstat.__all__)
    assert public > set(statistics.__all__)
    assert set(streaming.__all__) - public == {"REASONS", "STREAMS"}
    assert all(hasattr(rollstat, name) for name in public)
