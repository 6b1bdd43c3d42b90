"""The programs that a cluster needs: installed where that is possible, or named."""

import os
import shutil
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

#: Debian's packages, each with a program that it brings.
PACKAGES = {
    "etcd-server": "etcd",
    "haproxy": "haproxy",
    "pgbouncer": "pgbouncer",
    "postgresql": "pg_ctl",
    "redis-server": "redis-server",
}
PATRONI = "patroni[etcd3,psycopg3]>=4.1,<5"
#: Folders of programs that are on no path: those of PostgreSQL, newest first.
_FOLDERS = ("/usr/sbin", *map(str, sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)))


def find_program(name: str) -> str | None:
    """The path of a program, or null."""
    return shutil.which(name, path=os.pathsep.join((*_FOLDERS, os.environ.get("PATH", os.defpath))))


def find_patroni() -> str | None:
    """Patroni, which is installed into a folder of its own if need be: the user of PostgreSQL must be able to read it.

    Null when it cannot be installed.
    """
    folder = Path(tempfile.gettempdir()) / f"convengine-patroni-{os.geteuid()}"
    program = folder / "bin/patroni"
    if not program.exists():
        venv.create(folder, with_pip=True)
        pip = [str(folder / "bin/python"), "-m", "pip", "install", "-qq", "--disable-pip-version-check"]
        subprocess.run([*pip, PATRONI, "psycopg[binary]"], check=False)
    return str(program) if program.exists() else None


def list_missing() -> list[str]:
    """The packages whose program is not installed."""
    return [package for package, program in PACKAGES.items() if find_program(program) is None]


def install_requirements() -> bool:
    """Install what is missing, as root with apt-get; else print what is missing. True when everything is there."""
    if (missing := list_missing()) and os.geteuid() == 0 and shutil.which("apt-get"):
        print(f"Installing {', '.join(missing)} …", flush=True)
        for command in (["update", "-qq"], ["install", "-y", "-qq", "--no-install-recommends", *missing]):
            subprocess.run(["apt-get", *command], check=False, stdout=subprocess.DEVNULL)
    if missing := list_missing():
        print(f"These packages are missing: {', '.join(missing)}. Install them: apt-get install {' '.join(missing)}")
    patroni = find_patroni()
    if not patroni:
        print(f"Patroni cannot be installed: pip install '{PATRONI}'", file=sys.stderr)
    return not missing and bool(patroni)
