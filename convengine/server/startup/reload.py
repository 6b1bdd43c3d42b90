"""For development: a server starts again when the files of extensions change."""

import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from convengine.server import wiring
from convengine.server.deployment import conf

#: How often files are looked at, and how long a server may take to end.
_SECONDS, _END_SECONDS = 0.5, 15
_PRODUCT = frozenset({"convengine", "config_admin", "audit"})


def find_extension_files() -> dict[Path, int]:
    """The source files of the extensions, with the time of their last change.

    Extensions are the modules of the setting EXTENSIONS, and of the packages that they are in.
    """
    # The product's own code does not change while it runs.
    roots = {name.partition(".")[0] for name in conf.get("EXTENSIONS")} - _PRODUCT
    files = {
        Path(str(module.__file__))
        for name, module in list(sys.modules.items())
        if name.partition(".")[0] in roots
        and getattr(module, "__file__", None)
        # A changed model needs a migration first.
        and not {"models", "apps", "migrations"} & set(name.split("."))
    }
    # A file that the package does not import yet may be the one that is missing.
    files |= {path for file in list(files) for path in file.parent.glob("*.py")}
    changed = ((file, _read_change_time(file)) for file in files)
    return {file: time_ns for file, time_ns in changed if time_ns is not None}


def _read_change_time(file: Path) -> int | None:
    """Returns None for a file that does not exist; an editor may have removed it just now."""
    try:
        return file.stat().st_mtime_ns
    except OSError:
        return None


@dataclass
class ExtensionWatcher:
    """Notices changes of the files of extensions."""

    files: dict[Path, int] = field(default_factory=find_extension_files)

    def has_changed(self) -> bool:
        files = find_extension_files()
        if files == self.files:
            return False
        self.files = files
        return True


def run_with_reload(command: Sequence[str], tell: Callable[[str], object]) -> int:
    """Run a server, and start it again whenever a file of the extensions changes; its status when it ends by itself."""
    # Else this process would end and leave the server behind.
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
    try:
        # To know their files, as far as possible.
        wiring.load_extensions()
    except Exception as error:
        tell(f"An extension cannot be loaded: {type(error).__name__}: {error}")
    watcher = ExtensionWatcher()
    while True:
        server = subprocess.Popen(command)  # noqa: S603 - this command itself
        try:
            while server.poll() is None and not watcher.has_changed():
                time.sleep(_SECONDS)
            if server.poll() is not None:
                return server.returncode
        finally:
            _end_server(server)
        tell("Extensions changed: starting again.")


def _end_server(server: "subprocess.Popen[bytes]") -> None:
    if server.poll() is None:
        server.terminate()
        try:
            server.wait(_END_SECONDS)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()
