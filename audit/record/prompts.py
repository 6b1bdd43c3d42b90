"""Prompts: events without them, for readers who may not see them; what the call log stores of a prompt or an answer."""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import structlog

from convengine.engine.llm import settings as llm
from convengine.engine.redaction import MASK, Redaction, redact_text
from convengine.engine.rules.patterns import Pattern, PatternError, compile_pattern
from convengine.engine.stages import base_name
from convengine.engine.text.compare import shorten
from convengine.engine.turn import live_settings
from convengine.engine.turn.codec import dumps, loads
from convengine.engine.turn.snapshot import Snapshot
from convengine.engine.turn.stages import PROMPT_RENDERING
from convengine.json_value import Json

_MODEL_INPUT = "_LLM_INPUT"
_PROMPT_KEYS = frozenset(
    {"system_prompt", "user_prompt", "systemPrompt", "userPrompt", "derivation_hint", "rendered_template"}
)


def strip_prompts(document: Json) -> Json:
    """Events, at any depth of an answer, without prompts."""
    if isinstance(document, list):
        return [strip_prompts(item) for item in document]
    if not isinstance(document, dict):
        return document
    if not isinstance(document.get("stage"), str):
        return {name: strip_prompts(item) for name, item in document.items()}
    if "payloadJson" in document:
        return {
            **document,
            "payloadJson": dumps(_strip_event_prompts(document["stage"], loads(document["payloadJson"]))),
        }
    return {**document, "payload": _strip_event_prompts(document["stage"], document.get("payload"))}


def _strip_event_prompts(stage: str, payload: Json) -> Json:
    """The payload of an event without a prompt."""
    if not isinstance(payload, dict):
        return payload
    name = base_name(stage)
    if name.endswith(_MODEL_INPUT) or name == PROMPT_RENDERING:
        return {"redacted": True, **({"_meta": payload["_meta"]} if "_meta" in payload else {})}
    # An event about a prompt that could not be rendered shows the prompt.
    stripped = _strip_prompt_keys(payload)
    return payload if stripped == payload else {**stripped, "redacted": True}


def _strip_prompt_keys(value: Json) -> Json:
    if isinstance(value, dict):
        return {name: _strip_prompt_keys(item) for name, item in value.items() if name not in _PROMPT_KEYS}
    return [_strip_prompt_keys(item) for item in value] if isinstance(value, list) else value


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
