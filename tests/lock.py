"""Do the locks say what pyproject.toml says? `--write` makes them say it."""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
#: The lock of the demonstration, of servers and the image, and of development; each holds the ones before it.
EXTRAS = {"requirements.lock": (), "requirements-production.lock": ("production",), "requirements-dev.lock": ("dev",)}


def compile_lock(name: str, target: Path) -> str:
    """Compile one lock into `target`, starting from what it holds, and give its text."""
    subprocess.run(
        [
            str(Path(sys.executable).parent / "uv"), "pip", "compile", "--universal", "--python-version", "3.11",
            "--generate-hashes", "--no-header", "--no-emit-index-url", "--quiet",
            *(f"--extra={extra}" for extra in EXTRAS[name]), "--output-file", str(target), str(ROOT / "pyproject.toml"),
        ],
        check=True, cwd=ROOT, capture_output=True,
    )  # fmt: skip
    return target.read_text()


def main() -> int:
    """0 when the locks are as they should be."""
    stale = []
    for name in EXTRAS:
        lock = ROOT / name
        if "--write" in sys.argv:
            compile_lock(name, lock)
            continue
        with tempfile.TemporaryDirectory() as folder:
            copy = Path(folder) / name
            shutil.copy(lock, copy)
            if compile_lock(name, copy) != lock.read_text():
                stale.append(name)
    if stale:
        print(f"Out of date: {', '.join(stale)}. Run `make lock`.")
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
