"""Snapshots that earlier code wrote are restored, and their streams go on exactly as they did."""

import base64
import gzip
import json
from pathlib import Path

import pytest

import rollstat
from tests.streaming.fixtures import AFTER, BEFORE, cases, feed

KEPT = json.loads(gzip.decompress((Path(__file__).parent / "data" / "snapshots_2.json.gz").read_bytes()))


@pytest.fixture(scope="module")
def streams():
    return cases()


@pytest.mark.parametrize("group", sorted({name.split("-")[0] for name in KEPT}))
def test_restored_streams_go_on_as_they_did(streams, group):
    names = [name for name in KEPT if name.split("-")[0] == group]
    for name in names:
        stream, columns, stamps = streams[name]
        restored = rollstat.restore(base64.b64decode(KEPT[name]["snapshot"]))
        assert type(restored) is type(stream)
        assert feed(restored, columns, stamps, BEFORE, BEFORE + AFTER) == KEPT[name]["answers"], name


def test_no_class_is_gone(streams):
    """Classes added after the snapshots were written have none."""
    assert set(KEPT) <= set(streams)
