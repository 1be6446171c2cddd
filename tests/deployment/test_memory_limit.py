"""Calls in processes whose memory is limited, over files that are larger than the limit."""

import subprocess
import sys
import tracemalloc

import numpy as np
import pytest

import rollstat

# The limit counts private memory, and no pages of mapped files.
SCRIPT = """
import resource, sys
import numpy as np, rollstat
path, name, rows = *sys.argv[1:], 16_000_000
given = np.memmap(path + "/in", np.float64, "w+", shape=rows)
given[::1000] = np.arange(0, rows, 1000)
function = getattr(rollstat, "rolling_" + name)
outputs = len(function(given[:9], 3)) if name == "minmax" else 1
function(given[:3_000_000], 100, min_periods=1)  # loads kernels and makes scratch memory
out = [np.memmap(f"{path}/out{i}", np.float64, "w+", shape=rows) for i in range(outputs)]
used = next(int(row.split()[1]) for row in open("/proc/self/status") if row.startswith("VmData"))
resource.setrlimit(resource.RLIMIT_DATA, (used * 1024 + (64 << 20), -1))
result = function(given, 100, min_periods=1, out=tuple(out) if outputs > 1 else out[0])
last = result[0] if outputs > 1 else result
assert last is out[0]
expected = function(np.array(given[-1000:]), 100, min_periods=1)
np.testing.assert_array_equal(last[-900:], (expected[0] if outputs > 1 else expected)[-900:])
"""


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not limit private memory alone")
@pytest.mark.parametrize("name", ["median", "mean", "minmax"])
def test_results_in_a_mapped_file_take_no_memory_of_their_length(name, tmp_path):
    run = [sys.executable, "-c", SCRIPT, str(tmp_path), name]
    done = subprocess.run(run, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_memory_while_a_stream_grows():
    """The guide states 121 bytes for each row."""
    rows = 2**19  # the capacity is full
    stream = rollstat.RollingMedian(rollstat.Expanding())
    stream.extend(np.random.default_rng(1).standard_normal(rows))
    copy = stream.copy()
    copy.push(1.0)  # loads code
    del copy
    tracemalloc.start()
    try:
        stream.push(1.0)
        held, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert held < 57 * rows
    assert most < 122 * rows
