"""What must not be written down: values under some names, and whatever fits some patterns (settings 2.11)."""

from collections.abc import Mapping, Set
from dataclasses import dataclass
from typing import Any

from convengine.domain import settings
from convengine.domain.catalogue import audit
from convengine.domain.redaction import MASK, mentions, redacted
from convengine.domain.session import Session
from convengine.domain.snapshot import Snapshot
from convengine.rules.patterns import Pattern, PatternError, compile_pattern

#: Shorter whole numbers are ids and counts of the product itself.
_LONG_NUMBER = 10_000_000
#: What of a lifecycle's detail the next message is judged by.
_STANDS = frozenset({"lifecycle", "reason", "by", "at", "asked_at", "turn_no"})


@dataclass(frozen=True)
class Redaction:
    """The rules of one release."""

    #: Names in lower case.
    keys: frozenset[str] = frozenset()
    patterns: tuple[Pattern, ...] = ()

    @classmethod
    def of(cls, snapshot: Snapshot) -> "Redaction":
        """The rules in force on a snapshot; read once a snapshot."""
        return snapshot.memo.get("redaction", lambda: cls._read(snapshot))

    @classmethod
    def _read(cls, snapshot: Snapshot) -> "Redaction":
        keys = settings.read(snapshot, audit.REDACT_KEYS).value
        patterns = []
        for text in settings.read(snapshot, audit.REDACT_PATTERNS).value:
            try:
                patterns.append(compile_pattern(text))
            except PatternError:
                # The form refuses such a pattern; one that came past it must not keep the others from masking.
                continue
        return cls(frozenset(key.lower() for key in keys), tuple(patterns))

    def touches(self, text: str) -> bool:
        """True when a JSON text may hold something to mask: the cheap test before the walk."""
        return bool(self.patterns) or mentions(text, self.keys)

    def document(self, value: Any, spared: Set[str] = frozenset()) -> Any:
        """A JSON value without what must not be written; `spared` are names of a structure that readers need."""
        return self.values(redacted(value, self.keys, spared))

    def values(self, value: Any) -> Any:
        """A JSON value without what fits a pattern."""
        if not self.patterns:
            return value
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, dict):
            return {name: self.values(item) for name, item in value.items()}
        if isinstance(value, (list, tuple)):
            return [self.values(item) for item in value]
        if isinstance(value, int) and abs(value) >= _LONG_NUMBER:
            return MASK if self.text(str(value)) != str(value) else value
        return value

    def text(self, text: str) -> str:
        """A text without what fits a pattern."""
        for pattern in self.patterns:
            text = pattern.replaced(text, MASK)
        return text

    def session(self, session: Session) -> Session:
        """A session as its turn is stored: what was said, without what fits a pattern.

        Its context and its params stay: later turns go on with them.
        """
        if not self.patterns:
            return session
        return session.evolve(
            user_text=session.user_text and self.text(session.user_text),
            last_assistant=self.values(session.last_assistant),
            context_summary=self.text(session.context_summary),
            lifecycle_detail=self._detail(session.lifecycle_detail),
        )

    def _detail(self, detail: Mapping[str, Any]) -> dict[str, Any]:
        """What a lifecycle carries: what was asked and said, masked; where the session stands, as it is."""
        return {
            name: item if name in _STANDS else self._detail(item) if isinstance(item, Mapping) else self.values(item)
            for name, item in detail.items()
        }
