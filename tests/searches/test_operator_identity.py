"""Operators of users mean what their code means now; ``python -m tests.fuzz --area identity`` searches on."""

import os
import subprocess
import sys

import numpy as np
import pytest
from numba import config

from tests.fuzz import identity
from tests.fuzz.__main__ import Area
from tests.fuzz.identity import FORMS, PLACES, Program


@pytest.fixture(scope="module")
def programs():
    rng = np.random.default_rng(0)
    return {form: Program(form, identity.draw(rng)) for form in FORMS}


@pytest.mark.parametrize("place", PLACES)
def test_every_change_is_seen_and_leaves_what_was_compiled_before(programs, place):
    forms = FORMS[1:] if place in ("lift", "lower", "identity") else FORMS
    form = forms[PLACES.index(place) % len(forms)]
    program = programs[form]
    before, wanted = (
        identity.compiled(identity.as_operator(program.operator)),
        identity.as_python(program.operator),
    )
    program.edit(place, program.numbers[place] + 1.0)
    assert identity.as_python(before) == wanted or config.DISABLE_JIT
    assert identity.as_python(program.operator) != wanted
    identity.check(identity.as_python, program)


def test_results_of_compiled_code():
    area = Area("identity", identity)
    area.run(0, 0)
    assert area.failures == []


@pytest.mark.skipif(bool(config.DISABLE_JIT), reason="nothing is stored where nothing is compiled")
def test_new_processes_find_exactly_the_code_of_the_same_meaning(tmp_path):
    numbers = identity.draw(np.random.default_rng(0))

    def run():
        results, compiled = identity.in_child(tmp_path, "class", numbers)
        assert results == identity.expected("class", numbers)[:-1]
        return compiled > 0

    assert run()
    assert not run()
    numbers["module_nested"] += 1.0
    assert run()


_ONE_SEARCH = """
from tests.fuzz import identity
from tests.fuzz.__main__ import Area
area = Area("identity", identity)
area.run(0, 0)
print(*area.failures)
"""


def test_code_of_a_module_without_a_file(tmp_path):
    """Numba cannot load code that refers to such a module, so the next process compiles again."""
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path), "PYTHONPATH": str(identity.ROOT)}
    command = [sys.executable, "-c", _ONE_SEARCH]
    for _ in range(2):
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        assert done.stdout == "\n", done.stdout + done.stderr
