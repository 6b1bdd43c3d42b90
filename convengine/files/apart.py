"""Read a large file in a process of its own, so that turns of this one go on, and that it ends within its limits."""

import io
import os
import pickle
import resource
import subprocess
import sys
import zipfile
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from threading import BoundedSemaphore
from typing import Any, ParamSpec, TypeVar

from convengine.files import Unreadable

P = ParamSpec("P")
T = TypeVar("T")
#: The largest file that is read where it came in: a hundredth of a second; and what an archive may unpack to there.
_SMALL, _SMALL_UNPACKED = 64 * 1024, 1024 * 1024
#: Limits of one reading: seconds of processor time and in all, and bytes of memory.
SECONDS, _PATIENCE, MEMORY = 30, 90, 2 * 1024**3
#: Files that a process has read at once; others wait.
_places = BoundedSemaphore(2)
_ROOT = str(Path(__file__).parents[2])
#: Functions for which no file is small.
_always_apart: set[Callable[..., object]] = set()


def always_apart(read: Callable[P, T]) -> Callable[P, T]:
    """Has a function read in a process of its own whatever its file: few bytes may take long, as those of PDF do."""
    _always_apart.add(read)
    return read


def read_apart(data: bytes, read: Callable[P, T], *arguments: P.args, **options: P.kwargs) -> T:
    """What a function of a module makes of a file; `data` is the file, and one of the arguments.

    Raises what the function raises, and Unreadable when it takes too long or too much memory.
    """
    if read not in _always_apart and _is_small(data):
        return read(*arguments, **options)
    refusal = Unreadable(f"The file takes more than {SECONDS} seconds or {MEMORY // 1024**3} GB to read. Split it.")
    call = pickle.dumps((read.__module__, read.__qualname__, arguments, options))
    # A reader of this package needs no Django, whose start takes longer than most files.
    settings = "" if read.__module__.startswith(f"{__package__}.") else os.environ.get("DJANGO_SETTINGS_MODULE", "")
    path = os.pathsep.join([_ROOT, *filter(None, sys.path)])
    environment = {**os.environ, "DJANGO_SETTINGS_MODULE": settings, "PYTHONPATH": path}
    command = [sys.executable, "-c", f"from {__name__} import answer; answer({SECONDS}, {MEMORY})"]
    with _places:
        try:
            done = subprocess.run(  # noqa: S603 - this program itself
                command, input=call, env=environment, stdout=subprocess.PIPE, timeout=_PATIENCE, check=False
            )
        except subprocess.TimeoutExpired:
            raise refusal from None
    if done.returncode or not done.stdout:
        raise refusal
    error, result = pickle.loads(done.stdout)  # noqa: S301 - our own process wrote it
    if isinstance(error, MemoryError):
        raise refusal
    if error is not None:
        raise error
    return result  # type: ignore[no-any-return]


def _is_small(data: bytes) -> bool:
    if len(data) > _SMALL:
        return False
    # Not by its first bytes: an archive may have others before it.
    if not zipfile.is_zipfile(io.BytesIO(data)):
        return True
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            return sum(part.file_size for part in archive.infolist()) <= _SMALL_UNPACKED
    # A damaged archive: its reader says what is wrong. `zipfile` raises NotImplementedError for an unknown version.
    except (zipfile.BadZipFile, NotImplementedError, EOFError, OSError, ValueError):
        return True


def answer(seconds: int, memory: int) -> None:
    """The process that reads: the call comes in, and its error or its result goes out.

    `seconds` of processor time, and `memory` in bytes, are the most that it takes.
    """
    output = sys.stdout.buffer
    sys.stdout = sys.stderr
    # A system without these limits still has that of the caller, who waits no longer than its patience.
    with suppress(OSError, ValueError):
        os.nice(10)
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    outcome: tuple[Exception | None, Any]
    try:
        if os.environ.get("DJANGO_SETTINGS_MODULE"):
            import django

            django.setup()
        module, name, arguments, options = pickle.load(sys.stdin.buffer)  # noqa: S301 - our own process wrote it
        outcome = None, getattr(import_module(module), name)(*arguments, **options)
    except Exception as error:
        outcome = error, None
    output.write(pickle.dumps(outcome))
    output.flush()
