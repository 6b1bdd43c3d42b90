"""Asking registered memory stores: on the tape, faults as answers (pipeline-2 10.1)."""

from collections.abc import Callable
from typing import Any

from convengine.codec import plain
from convengine.domain.facts import session_dict
from convengine.domain.ports import MemoryAnswer, StoreFault
from convengine.domain.recording import Tape
from convengine.domain.session import Session
from convengine.domain.text import blank
from convengine.extensions.registry import Registry


class Memories:
    """The memory port."""

    def __init__(self, registry: Registry, tape: Tape) -> None:
        self._stores = registry.memory_stores
        self._tape = tape

    def read(self, session: Session) -> MemoryAnswer:
        """What the first store says that says anything; the stores after it are not asked."""
        return self._asked("memory.read", lambda: self._read(session))

    def write(self, session: Session, summary: str) -> MemoryAnswer:
        """Give the summary to every store."""
        return self._asked("memory.write", lambda: self._write(session, summary))

    def _asked(self, port: str, call: Callable[[], MemoryAnswer]) -> MemoryAnswer:
        # Asked without stores as well: a replay must not depend on which stores there are by then.
        found: dict[str, Any] = self._tape.ask(port, None, lambda: plain(call()))
        faults = tuple(StoreFault(**fault) for fault in found["faults"])
        return MemoryAnswer(found["text"], tuple(found["stores"]), faults)

    def _read(self, session: Session) -> MemoryAnswer:
        faults: list[StoreFault] = []
        for name, store in self._stores.items():
            try:
                text = store.read(plain(session_dict(session)))
            except (Exception, SystemExit) as error:
                faults.append(_fault(name, error))
                continue
            if isinstance(text, str) and not blank(text):
                return MemoryAnswer(text, (name,), tuple(faults))
        return MemoryAnswer(faults=tuple(faults))

    def _write(self, session: Session, summary: str) -> MemoryAnswer:
        faults: list[StoreFault] = []
        written: list[str] = []
        for name, store in self._stores.items():
            try:
                store.write(plain(session_dict(session)), summary)
                written.append(name)
            except (Exception, SystemExit) as error:
                faults.append(_fault(name, error))
        return MemoryAnswer(None, tuple(written), tuple(faults))


def _fault(store: str, error: BaseException) -> StoreFault:
    return StoreFault(store, type(error).__name__, str(error))
