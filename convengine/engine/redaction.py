"""What must not be stored: values under certain names, and texts that match certain patterns (settings 2.11)."""

import json
from collections.abc import Mapping, Set
from dataclasses import dataclass
from functools import cache
from typing import Any

import re2

from convengine.engine.rules.patterns import Pattern, PatternError, compile_pattern
from convengine.engine.turn import audit_settings, live_settings
from convengine.engine.turn.session import Session
from convengine.engine.turn.snapshot import Snapshot

MASK = "***"


def redact(value: Any, keys: Set[str], spared: Set[str] = frozenset()) -> Any:
    """The value with everything under one of `keys` (lower case, compared in any case) replaced by a mask.

    A key may be a JSON pointer, as in recorded changes; then each of its parts is a key. `spared` are structural keys
    that readers need: their values are searched, and never masked as a whole.
    """
    if isinstance(value, dict):
        return {name: _redact_member(str(name), item, keys, spared) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [redact(item, keys, spared) for item in value]
    return value


def _redact_member(name: str, item: Any, keys: Set[str], spared: Set[str]) -> Any:
    if name in spared:
        return redact(item, keys, spared)
    return MASK if item is not None and _is_masked_name(name.lower(), keys) else redact(item, keys)


def _is_masked_name(name: str, keys: Set[str]) -> bool:
    if name in keys:
        return True
    parts = name.split("/") if "/" in name else ()
    return any(part in keys or part.replace("~1", "/").replace("~0", "~") in keys for part in parts)


def may_mention(text: str, keys: Set[str]) -> bool:
    """True when a JSON text may hold one of the keys: a cheap test before the walk."""
    return bool(keys) and _compile_names(frozenset(keys)).search(text) is not None


@cache
def _compile_names(keys: frozenset[str]) -> Any:
    """A pattern that finds, in any case, one of the keys in a JSON text as a key or as a part of a pointer."""
    pointers = {key.replace("~", "~0").replace("/", "~1") for key in keys}
    options = re2.Options()
    options.case_sensitive = False
    needles = sorted(json.dumps(key, ensure_ascii=False)[1:-1] for key in keys | pointers)
    return re2.compile("|".join(map(re2.escape, needles)), options)


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
