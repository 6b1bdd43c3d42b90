"""Debug mode: extensions are loaded again when their files change."""

import importlib
import importlib.util
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from types import ModuleType
from typing import Any

from convengine.engine.rules import vocabulary
from convengine.engine.rules.conditions import rule
from convengine.server import wiring
from convengine.server.deployment import conf
from convengine.server.extensions.registry import Registry, registry

#: How often files are looked at, and how long a server may take to end.
_SECONDS, _END_SECONDS = 0.5, 15
_PRODUCT = frozenset({"convengine", "config_admin", "audit"})


def list_extension_modules() -> dict[str, ModuleType]:
    """The loaded modules of the extensions: those of the setting EXTENSIONS, and of the packages that they are in."""
    roots = {name.partition(".")[0] for name in conf.get("EXTENSIONS")}
    # The product's own code does not change while it runs.
    return {
        name: module
        for name, module in list(sys.modules.items())
        if name.partition(".")[0] in roots - _PRODUCT
        and getattr(module, "__file__", None)
        # Django knows each model once.
        and not {"models", "apps", "migrations"} & set(name.split("."))
    }


def find_extension_files() -> dict[Path, int]:
    """The source files of the extensions, with the time of their last change."""
    files = {Path(str(module.__file__)) for module in list_extension_modules().values()}
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
        """True once for each change."""
        files = find_extension_files()
        if files == self.files:
            return False
        self.files = files
        return True


def reload_extensions() -> None:
    """Load the extensions again. If one cannot be imported, the earlier ones stay, and its exception is raised."""
    modules, earlier = list_extension_modules(), {each.name: getattr(registry, each.name) for each in fields(Registry)}
    customs: tuple[dict[str, Any], ...] = (rule.custom_registry(), vocabulary.custom_registry())
    earlier_customs = [dict(custom) for custom in customs]
    _fill_registry(vars(Registry()))
    for custom in customs:
        custom.clear()
    for name, module in modules.items():
        # A change within the same second leaves the compiled file as it is.
        Path(importlib.util.cache_from_source(str(module.__file__))).unlink(missing_ok=True)
        del sys.modules[name]
    importlib.invalidate_caches()
    conf.forget()
    for cached in (wiring.load_extensions, wiring.engine, conf.import_from_path):
        cached.cache_clear()
    try:
        wiring.load_extensions()
    except BaseException:
        for name in list_extension_modules():
            del sys.modules[name]
        sys.modules.update(modules)
        _fill_registry(earlier)
        for custom, entries in zip(customs, earlier_customs, strict=True):
            custom.clear()
            custom.update(entries)
        raise


def _fill_registry(values: dict[str, Any]) -> None:
    for name, value in values.items():
        setattr(registry, name, value)


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
