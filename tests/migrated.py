"""A migrated SQLite database, made once a run and copied by every test and server that needs one of its own.

Migrating takes seconds of a processor, copying none. What proves the migrations themselves does not use it.
"""

import atexit
import fcntl
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
#: Names the folder of the run; the processes that it starts inherit it.
_VARIABLE = "CE_TEST_FOLDER"


def get_run_folder() -> Path:
    """The folder that this process and those that it starts share; who makes it removes it at the end."""
    if _VARIABLE not in os.environ:
        # In the temp folder on purpose: short, as a socket's path must be, and readable for PostgreSQL's own user.
        os.environ[_VARIABLE] = tempfile.mkdtemp(prefix="ce-")
        atexit.register(shutil.rmtree, os.environ[_VARIABLE], ignore_errors=True)
    return Path(os.environ[_VARIABLE])


def copy_migrated(target: Path | str) -> None:
    """Put a migrated database in place of a file; the first call of a run migrates it for all."""
    folder = get_run_folder()
    migrated = folder / "migrated.sqlite3"
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not migrated.exists():
            _migrate(folder / "unfinished.sqlite3")
            (folder / "unfinished.sqlite3").rename(migrated)
    shutil.copy(migrated, target)


def _migrate(file: Path) -> None:
    file.unlink(missing_ok=True)
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith(("CE_", "DATABASE_", "DJANGO_"))},
        "CE_SECRET_KEY": "only-for-tests",
        "CE_VAR_DIR": str(file.parent),
        "DATABASE_URL": f"sqlite:///{file}",
    }
    command = [sys.executable, "manage.py", "migrate", "--verbosity", "0"]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"The database of the tests cannot be migrated:\n{done.stderr}")
