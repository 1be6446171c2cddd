"""A kernel is compiled again if, and only if, a file that it depends on is edited."""

import pytest

from tests.small_package import call_high, make_two_kernels


def test_edit_of_an_imported_file(tmp_path):
    package = make_two_kernels(tmp_path)
    assert call_high(tmp_path) == (20, 0)
    assert call_high(tmp_path) == (20, 1)
    low = package / "kernels" / "low.py"
    low.write_text(low.read_text().replace("x + 1", "x + 2"))
    assert call_high(tmp_path) == (30, 0)
    assert call_high(tmp_path) == (30, 1)


@pytest.mark.parametrize(
    ("statement", "called", "exports"),
    [
        ("from rollstat.kernels.family import low", "low.low", ""),
        ("from rollstat.kernels.family import (  # a comment (in brackets)\n    low,\n)", "low.low", ""),
        ("import rollstat.kernels.family.low as module", "module.low", ""),
        ("from rollstat.kernels.family.low import low", "low", ""),
        ("from rollstat.kernels.family import low as other", "other", "import low"),
        ("from rollstat.kernels.family import function", "function", "import low as function"),
    ],
)
def test_edit_of_a_kernel_in_a_subfolder(tmp_path, statement, called, exports):
    package = make_two_kernels(tmp_path)
    family = package / "kernels" / "family"
    family.mkdir()
    (package / "kernels" / "low.py").rename(family / "low.py")
    (family / "__init__.py").write_text(f"from rollstat.kernels.family.low {exports}\n" if exports else "")
    (package / "kernels" / "high.py").write_text(
        f"from rollstat.compile.jit import kernel\n{statement}\n"
        f"@kernel\ndef high(x):\n    return {called}(x) * 10\n"
    )
    assert call_high(tmp_path) == (20, 0)
    assert call_high(tmp_path) == (20, 1)
    low = family / "low.py"
    low.write_text(low.read_text().replace("x + 1", "x + 2"))
    assert call_high(tmp_path) == (30, 0)


def test_edit_of_a_file_that_is_not_imported(tmp_path):
    package = make_two_kernels(tmp_path)
    kernels = package / "kernels"
    (kernels / "other.py").write_text("from rollstat.compile.jit import kernel\n")
    high = kernels / "high.py"
    high.write_text(
        high.read_text().replace("rollstat.kernels.low import low", "rollstat.kernels import low")
    )
    high.write_text(high.read_text().replace("low(x)", "low.low(x)"))
    assert call_high(tmp_path) == (20, 0)
    (kernels / "other.py").write_text("from rollstat.compile.jit import kernel\n# edited\n")
    assert call_high(tmp_path) == (20, 1)


def test_a_process_that_runs_older_code_stores_nothing(tmp_path):
    low = make_two_kernels(tmp_path) / "kernels" / "low.py"
    newer = low.read_text()
    low.write_text(newer.replace("x + 1", "x + 10 - 11"))  # bytecode is stale if the size is the same
    edit = f"(__import__('pathlib').Path({str(low)!r}).write_text({newer!r}), 1)[1]"
    assert call_high(tmp_path, argument=edit) == (0, 0)
    assert call_high(tmp_path) == (20, 0)
    assert call_high(tmp_path) == (20, 1)


def test_an_edit_may_remove_the_class_of_an_argument(tmp_path):
    package = make_two_kernels(tmp_path)
    high = package / "kernels" / "high.py"
    tuples = "from typing import NamedTuple\nclass Step(NamedTuple):\n    x: int\n"
    with_step = tuples + high.read_text().replace("low(x)", "low(x.x)")
    high.write_text(with_step)
    assert call_high(tmp_path, argument="Step(1)") == (20, 0)
    assert call_high(tmp_path, argument="Step(1)") == (20, 1)
    high.write_text(with_step.replace("Step", "Stride"))
    assert call_high(tmp_path, argument="Stride(1)") == (20, 0)
