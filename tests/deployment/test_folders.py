"""The folders of compiled kernels: other users, read-only systems, and what killed processes left."""

import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from tests.small_package import make_package

NOBODY = 65534
AS_NOBODY = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
CALL = """
import os
{before}
from rollstat.kernels.low import low
from rollstat.compile.cache import compiled_kernels
assert low(20) == 21
print(",".join(kernel.origin for kernel in compiled_kernels))
{after}
"""


def run(package, home, *, user=None, before="", after="", umask=0o022, **environment):
    """Call the kernel in a new process, perhaps as another user; return what was printed and logged."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("NUMBA_", "XDG_", "ROLLSTAT_", "TMP"))}
    kept |= {"HOME": str(home), "PYTHONDONTWRITEBYTECODE": "1", "TMPDIR": str(home / "temporary")}
    done = subprocess.run(
        [*([] if user is None else AS_NOBODY), sys.executable, "-c", CALL.format(before=before, after=after)],
        cwd=package.parent,
        env={k: v for k, v in {**kept, **environment}.items() if v is not None},
        capture_output=True,
        text=True,
        check=False,
        umask=umask,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split(), done.stderr


def let_others_read(folder):
    """Let every user read a folder below the temporary one, which pytest makes for its own user."""
    for each in (folder, *folder.parents):
        if Path(tempfile.gettempdir()) in each.parents:
            each.chmod(0o755)


@pytest.fixture
def package(tmp_path):
    """A small package with one kernel, in a folder that every user can read."""
    let_others_read(tmp_path)
    return make_package(tmp_path / "installed")


@pytest.fixture
def home(tmp_path):
    """The home of a user, with a temporary folder."""
    (tmp_path / "home" / "temporary").mkdir(parents=True)
    return tmp_path / "home"


@pytest.fixture(scope="session")
def other_user():
    """Run as root, and let another user start Python."""
    if shutil.which("setpriv") is None or os.geteuid() != 0:
        pytest.skip("only root can start processes of another user, with setpriv")
    trial = [*AS_NOBODY, sys.executable, "-c", "import numba"]
    if subprocess.run(trial, capture_output=True, check=False, cwd="/").returncode:
        pytest.skip("the interpreter or Numba is in a folder that other users cannot read")
    return NOBODY


def test_a_process_that_drops_its_privileges_computes(package, home, other_user):
    home.chmod(0o700)
    # Numba imports parts of the standard library, perhaps from a folder of root, when it first compiles.
    compiles = "import numba; numba.njit(lambda x: x)(1)"
    drop = f"{compiles}; os.setgroups([]); os.setgid({other_user}); os.setuid({other_user})"
    for _ in range(2):
        printed, logged = run(
            package, home, before=f"from rollstat.compile import cache; cache.cache_folder(); {drop}"
        )
        assert printed == ["compiled"]
        assert "Traceback" not in logged


def test_a_process_that_drops_its_privileges_after_a_call_computes(package, home, other_user):
    home.chmod(0o700)
    later = f"os.setgroups([]); os.setgid({other_user}); os.setuid({other_user}); assert low(2.5) == 3.5"
    logged = run(package, home, after=later)[1]
    assert "Traceback" not in logged
    assert logged.count("\n") <= 1


def test_another_user_reads_the_folder_that_root_has_warmed(package, home, other_user, tmp_path):
    image = {"NUMBA_CACHE_DIR": str(tmp_path / "image")}
    assert run(package, home, **image)[0] == ["compiled"]
    (file,) = (tmp_path / "image" / "rollstat").iterdir()
    assert file.stat().st_mode & 0o777 == 0o644
    user_home = tmp_path / "user"
    user_home.mkdir()
    assert run(package, user_home, user=other_user, **image)[0] == ["cache"]


def test_new_files_follow_the_umask(package, home):
    run(package, home, umask=0o077)
    (file,) = (home / ".cache" / "rollstat").iterdir()
    assert file.stat().st_mode & 0o777 == 0o600


def test_files_and_folders_of_other_users_are_not_loaded(package, home, other_user, tmp_path):
    folder = home / ".cache" / "rollstat"
    run(package, home)
    (file,) = folder.iterdir()
    os.chown(file, other_user, other_user)
    assert run(package, home)[0] == ["compiled"]
    assert run(package, home)[0] == ["cache"]  # the file was written again
    folder.chmod(0o777)
    assert run(package, home)[0] == ["compiled"]
    folder.chmod(0o755)
    assert run(package, home)[0] == ["cache"]
    os.chown(folder, other_user, other_user)
    say = "from rollstat.compile.folders import folders; print(folders()[0].reason)"
    assert run(package, home, after=say)[0][1:] == [
        "not",
        "read:",
        "other",
        "users",
        "can",
        "write",
        "to",
        "it",
    ]


def test_no_folder_is_made_in_the_current_one_if_the_home_is_unknown(package, home):
    before = "import os; os.path.expanduser = lambda path: path"
    run(package, home, before=before)
    assert sorted(path.name for path in package.parent.iterdir()) == ["rollstat"]
    relative = {"NUMBA_CACHE_DIR": "here"}
    say = "from rollstat.compile.folders import folders; print(folders()[0])"
    assert "absolute" in " ".join(run(package, home, after=say, **relative)[0])
    assert sorted(path.name for path in package.parent.iterdir()) == ["rollstat"]


def test_a_system_without_any_writable_folder_computes(package, home, other_user):
    temporary = "import tempfile; tempfile._candidate_tempdir_list = lambda: []; os.chdir('/')"
    printed, logged = run(
        package, home, user=other_user, before=temporary, PYTHONPATH=str(package.parent), TMPDIR=None
    )
    assert printed == ["compiled"]
    assert "Traceback" not in logged


def test_a_full_disk_is_reported_in_the_same_words_and_nothing_is_marked(package, home):
    limit = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))"
    mark = "from rollstat.compile import cache; cache.mark(low.py_func, 'int64')"
    mark += "; print(cache.is_marked(low.py_func, 'int64'))"
    texts = set()
    for _ in range(2):
        printed, logged = run(package, home, before=limit, after=mark)
        assert printed == ["compiled", "False"]
        texts.add("".join(line for line in logged.splitlines() if "cannot be stored" in line))
    assert len(texts) == 1
    assert texts.pop().count("cannot be stored") == 1
    assert not [*(home / ".cache" / "rollstat").iterdir()]


def test_the_next_write_removes_what_killed_processes_have_left(package, home):
    folder = home / ".cache" / "rollstat"
    folder.mkdir(parents=True)
    old, new = folder / "new-old", folder / "new-new"
    for file in (old, new):
        file.touch()
    os.utime(old, (time.time() - 7200,) * 2)
    run(package, home)
    assert not old.exists()
    assert new.exists()  # another process may be writing it


def test_commands_show_and_empty_the_folders(home):
    environment = {**os.environ, "HOME": str(home), "TMPDIR": str(home / "temporary"), "NUMBA_CACHE_DIR": ""}
    environment.pop("XDG_CACHE_HOME", None)
    folder = home / ".cache" / "rollstat"

    def command(name):
        run = [sys.executable, "-m", "rollstat", name]
        return subprocess.run(run, env=environment, capture_output=True, text=True, check=True).stdout

    assert f"{folder}, read and written: 0 files" in command("info")
    (folder / "kernel").touch()
    assert f"{folder}: 1 files removed" in command("clean")
    assert not [*folder.iterdir()]
