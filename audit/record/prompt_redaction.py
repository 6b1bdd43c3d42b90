"""What the call log stores of a prompt or an answer: all, the masked text, or a digest."""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import structlog

from convengine.engine.llm import settings as llm
from convengine.engine.redaction import MASK, Redaction, redact_text
from convengine.engine.rules.patterns import Pattern, PatternError, compile_pattern
from convengine.engine.text.compare import shorten
from convengine.engine.turn import live_settings
from convengine.engine.turn.snapshot import Snapshot

log = structlog.get_logger(__name__)

#: Maximum stored length of a text, in characters.
MAX_TEXT = 1_000_000


@dataclass(frozen=True)
class PromptRedaction:
    """The redaction rules of one release."""

    #: False: only length and digest of a text are stored.
    texts: bool
    #: Keys, in lower case, whose values in JSON documents are masked.
    keys: frozenset[str]
    #: Masked anywhere.
    patterns: tuple[Pattern, ...]

    @classmethod
    def of(cls, snapshot: Snapshot) -> "PromptRedaction":
        """The rules of a snapshot, cached."""
        return snapshot.memo.get("model call log", lambda: cls._read(snapshot))

    @classmethod
    def _read(cls, snapshot: Snapshot) -> "PromptRedaction":
        """The rules of a snapshot: those of all records, and the patterns for model calls."""
        rules = Redaction.of(snapshot)
        return cls(
            live_settings.read(snapshot, llm.LOG_PROMPTS).value,
            rules.keys,
            (*rules.patterns, *_compile_patterns(live_settings.read(snapshot, llm.REDACT_PATTERNS).value)),
        )

    def text(self, text: str) -> str:
        """A prompt, a context or an answer in stored form: masked and shortened, or length and digest alone."""
        if not text or self.texts:
            return shorten(self.mask(text), MAX_TEXT)
        digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
        return f"[not kept: {len(text)} characters, sha256 {digest}]"

    def mask(self, text: str) -> str:
        """The text with masks for the values of redacted keys, and for whatever a pattern matches."""
        text = redact_text(text, self.keys)
        for pattern in self.patterns:
            text = pattern.replace_in(text, MASK)
        return text


def _compile_patterns(texts: Sequence[str]) -> Iterator[Pattern]:
    """The patterns that are valid. Others are logged and left out."""
    for text in texts:
        try:
            yield compile_pattern(text)
        except PatternError as error:
            # The edit page refuses such a pattern; an invalid one from elsewhere must not stop the others.
            log.error("pattern of LLM/REDACT_PATTERNS unusable", pattern=text, error=str(error))
