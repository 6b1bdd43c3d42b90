"""Format, lint, complexity, rooms, types, arrows, dependencies, system checks: each in turn, all of them told."""

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

BIN = Path(sys.executable).parent
KEPT = Path(".mypy_cache")
CHECKS = {
    "format": ["ruff", "format", "--check", "--quiet", "."],
    "lint": ["ruff", "check", "--quiet", "."],
    "complexity": ["python", "-m", "tests.complexity"],
    "rooms": ["python", "-m", "tests.rooms"],
    "types": ["mypy"],
    "arrows": ["lint-imports", "--no-cache"],
    "dependencies": ["deptry", "."],
    # `makemigrations` runs the system checks first.
    "system checks and migrations": ["python", "manage.py", "makemigrations", "--check", "--dry-run"],
}


def main() -> int:
    """Run every check; 0 only when all hold."""
    os.environ.setdefault("CE_DEBUG", "true")
    failed, before = [], 0.0
    for name, (command, *arguments) in CHECKS.items():
        done = _run(command, arguments)
        if done.returncode and name == "types" and KEPT.exists():
            # What mypy keeps of an earlier run misleads it about Django's models now and then.
            shutil.rmtree(KEPT)
            done = _run(command, arguments)
        used, before = _read_processor_seconds() - before, _read_processor_seconds()
        print(f"{name:<28} {'ok' if done.returncode == 0 else 'FAILED':<6} {used:4.0f} s of a processor", flush=True)
        if done.returncode:
            failed.append(name)
            print(done.stdout + done.stderr, flush=True)
    return 1 if failed else 0


def _read_processor_seconds() -> float:
    used = os.times()
    return used.children_user + used.children_system


def _run(command: str, arguments: Sequence[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run([str(BIN / command), *arguments], capture_output=True, text=True, check=False)


if __name__ == "__main__":
    sys.exit(main())
