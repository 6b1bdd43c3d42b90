"""What must not be stored: values under certain names, and texts that match certain patterns (settings 2.11)."""

from collections.abc import Mapping, Set
from dataclasses import dataclass
from typing import Any

from convengine.engine.rules.patterns import Pattern, PatternError, compile_pattern
from convengine.engine.text.masking import MASK, may_mention, redact
from convengine.engine.turn import audit_settings, live_settings
from convengine.engine.turn.session import Session
from convengine.engine.turn.snapshot import Snapshot

#: Smaller whole numbers are ids and counts of the product itself.
_LONG_NUMBER = 10_000_000
#: Parts of a lifecycle's detail that the next message needs.
_STANDS = frozenset({"lifecycle", "reason", "by", "at", "asked_at", "turn_no"})


@dataclass(frozen=True)
class Redaction:
    """The redaction rules of one release."""

    #: Names in lower case.
    keys: frozenset[str] = frozenset()
    patterns: tuple[Pattern, ...] = ()

    @classmethod
    def of(cls, snapshot: Snapshot) -> "Redaction":
        """The rules of a snapshot, cached."""
        return snapshot.memo.get("redaction", lambda: cls._read(snapshot))

    @classmethod
    def _read(cls, snapshot: Snapshot) -> "Redaction":
        keys = live_settings.read(snapshot, audit_settings.REDACT_KEYS).value
        patterns = []
        for text in live_settings.read(snapshot, audit_settings.REDACT_PATTERNS).value:
            try:
                patterns.append(compile_pattern(text))
            except PatternError:
                # The edit page refuses such a pattern; an invalid one from elsewhere must not stop the others.
                continue
        return cls(frozenset(key.lower() for key in keys), tuple(patterns))

    def touches(self, text: str) -> bool:
        """True when a JSON text may hold something to mask: a cheap test before the walk."""
        return bool(self.patterns) or may_mention(text, self.keys)

    def document(self, value: Any, spared: Set[str] = frozenset()) -> Any:
        """A JSON value with masks; `spared` are structural names that readers need."""
        return self.values(redact(value, self.keys, spared))

    def values(self, value: Any) -> Any:
        """A JSON value with masked pattern matches."""
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
        """A text with masked pattern matches."""
        for pattern in self.patterns:
            text = pattern.replace_in(text, MASK)
        return text

    def session(self, session: Session) -> Session:
        """A session as its turn stores it: texts with masked pattern matches.

        Context and params stay unmasked, because later turns need them.
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
        """A lifecycle's detail: texts masked, the state unchanged."""
        return {
            name: item if name in _STANDS else self._detail(item) if isinstance(item, Mapping) else self.values(item)
            for name, item in detail.items()
        }
