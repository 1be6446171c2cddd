"""Every threshold says what it decides, and the script that measures thresholds knows only these."""

import ast
from pathlib import Path

from rollstat import thresholds

NAMES = [name for name in vars(thresholds) if name.isupper()]


def test_every_threshold_has_a_docstring():
    body = ast.parse(Path(thresholds.__file__).read_text(encoding="utf-8")).body
    for number, text in zip(body[1::2], body[2::2], strict=True):
        assert isinstance(number, ast.Assign)
        assert ast.literal_eval(text.value).endswith(".")
    assert len(body) == 1 + 2 * len(NAMES)


def test_the_script_measures_thresholds_that_exist():
    script = Path(__file__).parent.parent / "asv_bench" / "crossovers.py"
    tree = ast.parse(script.read_text(encoding="utf-8"))
    texts = {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)}
    measured = {text for text in texts if isinstance(text, str) and text.isupper() and "_" in text}
    assert measured
    assert measured <= set(NAMES)
