"""Call registered memory stores: recorded, faults as answers (pipeline-2 10.1)."""

from collections.abc import Callable
from typing import Any

from convengine.engine.text.compare import blank
from convengine.engine.turn.codec import to_plain
from convengine.engine.turn.facts import collect_session_facts
from convengine.engine.turn.ports import MemoryAnswer, StoreFault
from convengine.engine.turn.recording import Tape
from convengine.engine.turn.session import Session
from convengine.server.extensions.registry import Registry


class Memories:
    def __init__(self, registry: Registry, tape: Tape) -> None:
        self._stores = registry.memory_stores
        self._tape = tape

    def read(self, session: Session) -> MemoryAnswer:
        """The text of the first store that returns one; later stores are not asked."""
        return self._ask("memory.read", lambda: self._read(session))

    def write(self, session: Session, summary: str) -> MemoryAnswer:
        """Give the summary to every store."""
        return self._ask("memory.write", lambda: self._write(session, summary))

    def _ask(self, port: str, call: Callable[[], MemoryAnswer]) -> MemoryAnswer:
        # Recorded even without stores, so that a replay does not depend on the stores of its deployment.
        found: dict[str, Any] = self._tape.ask(port, None, lambda: to_plain(call()))
        faults = tuple(StoreFault(**fault) for fault in found["faults"])
        return MemoryAnswer(found["text"], tuple(found["stores"]), faults)

    def _read(self, session: Session) -> MemoryAnswer:
        faults: list[StoreFault] = []
        for name, store in self._stores.items():
            try:
                text = store.read(to_plain(collect_session_facts(session)))
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
                store.write(to_plain(collect_session_facts(session)), summary)
                written.append(name)
            except (Exception, SystemExit) as error:
                faults.append(_fault(name, error))
        return MemoryAnswer(None, tuple(written), tuple(faults))


def _fault(store: str, error: BaseException) -> StoreFault:
    return StoreFault(store, type(error).__name__, str(error))
