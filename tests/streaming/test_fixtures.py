"""Snapshots that earlier code wrote are restored, and their streams go on exactly as they did."""

import base64
import gzip
import json
from pathlib import Path

import pytest

import rollstat
from tests.streaming.fixtures import AFTER, BEFORE, cases, feed

KEPT = json.loads(gzip.decompress((Path(__file__).parent / "data" / "snapshots_2.json.gz").read_bytes()))


CASES = cases()


def group(name):
    """Return the class of a stream, and whether its snapshot is one of float64."""
    return name.split("-")[0], "-f8" in name


def marks(is_float):
    return () if is_float else pytest.mark.long  # each dtype compiles the streams once more


@pytest.mark.parametrize(
    ("name", "is_float"),
    [pytest.param(*each, marks=marks(each[1])) for each in sorted(set(map(group, KEPT)))],
)
def test_restored_streams_go_on_as_they_did(name, is_float):
    for name in [each for each in KEPT if group(each) == (name, is_float)]:
        build, columns, stamps = CASES[name]
        restored = rollstat.restore(base64.b64decode(KEPT[name]["snapshot"]))
        assert type(restored) is type(build())
        assert feed(restored, columns, stamps, BEFORE, BEFORE + AFTER) == KEPT[name]["answers"], name


def test_no_class_is_gone():
    """Classes added after the snapshots were written have none."""
    assert set(KEPT) <= set(CASES)
