"""Format, lint, types, arrows, dependencies, system checks: each in turn, all of them told."""

import os
import subprocess
import sys
from pathlib import Path

BIN = Path(sys.executable).parent
CHECKS = {
    "format": ["ruff", "format", "--check", "--quiet", "."],
    "lint": ["ruff", "check", "--quiet", "."],
    "types": ["mypy"],
    "arrows": ["lint-imports", "--no-cache"],
    "dependencies": ["deptry", "."],
    "system checks": ["python", "manage.py", "check"],
    "migrations": ["python", "manage.py", "makemigrations", "--check", "--dry-run"],
}


def main() -> int:
    """Run every check; 0 only when all hold."""
    os.environ.setdefault("CE_DEBUG", "true")
    failed = []
    for name, (command, *arguments) in CHECKS.items():
        done = subprocess.run([str(BIN / command), *arguments], capture_output=True, text=True, check=False)
        print(f"{name:<14} {'ok' if done.returncode == 0 else 'FAILED'}", flush=True)
        if done.returncode:
            failed.append(name)
            print(done.stdout + done.stderr, flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
