"""What of a prompt or an answer the call log keeps (R60, pipeline-2 15.2): all, what the rules leave, or a digest."""

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import structlog

from convengine.codec import dumps
from convengine.domain import settings
from convengine.domain.catalogue import llm
from convengine.domain.redaction import MASK, mentions, redacted
from convengine.domain.snapshot import Snapshot
from convengine.domain.text import excerpt
from convengine.rules.patterns import Pattern, PatternError, compile_pattern
from convengine.rules.redacting import Redaction

log = structlog.get_logger(__name__)

#: How much of one text is kept, in characters.
MAX_TEXT = 1_000_000


@dataclass(frozen=True)
class Keeping:
    """The rules of one release."""

    #: False: only length and hash of a text are kept.
    texts: bool
    #: Names, in lower case, whose values in JSON documents are masked.
    keys: frozenset[str]
    #: What is masked wherever it stands.
    patterns: tuple[Pattern, ...]

    @classmethod
    def of(cls, snapshot: Snapshot) -> "Keeping":
        """The rules in force on a snapshot; read once a snapshot."""
        return snapshot.memo.get("model call log", lambda: cls._read(snapshot))

    @classmethod
    def _read(cls, snapshot: Snapshot) -> "Keeping":
        rules = Redaction.of(snapshot)
        return cls(
            settings.read(snapshot, llm.LOG_PROMPTS).value,
            rules.keys,
            (*rules.patterns, *_compiled(settings.read(snapshot, llm.REDACT_PATTERNS).value)),
        )

    def text(self, text: str) -> str:
        """A prompt, a context or an answer as it is kept."""
        if not text or self.texts:
            return excerpt(self.masked(text), MAX_TEXT)
        digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
        return f"[not kept: {len(text)} characters, sha256 {digest}]"

    def masked(self, text: str) -> str:
        """The text without what the rules name."""
        if mentions(text, self.keys):
            text = "".join(_without_keys(text, self.keys))
        for pattern in self.patterns:
            text = pattern.replaced(text, MASK)
        return text


def _compiled(texts: Sequence[str]) -> Iterator[Pattern]:
    for text in texts:
        try:
            yield compile_pattern(text)
        except PatternError as error:
            # The form refuses such a pattern; one that came past it must not keep the others from masking.
            log.error("pattern of LLM/REDACT_PATTERNS unusable", pattern=text, error=str(error))


def _without_keys(text: str, keys: frozenset[str]) -> Iterator[str]:
    """The pieces of a text: its JSON documents with the values of these names masked, and what stands between."""
    done = place = 0
    while (place := _opening(text, place)) >= 0:
        value, end = _document(text, place)
        if value is not None and (masked := redacted(value, keys)) != value:
            yield text[done:place]
            yield dumps(masked)
            done = end
        place = end
    yield text[done:]


def _opening(text: str, start: int) -> int:
    places = (text.find("{", start), text.find("[", start))
    return min((place for place in places if place >= 0), default=-1)


def _document(text: str, start: int) -> tuple[Any, int]:
    """The JSON document that begins here and the place behind it; null and the next place when none does."""
    try:
        return json.JSONDecoder().raw_decode(text, start)
    except (ValueError, RecursionError):
        return None, start + 1
