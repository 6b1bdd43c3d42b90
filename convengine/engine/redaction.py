"""What must not be stored: values under certain names, and texts that match certain patterns.

A text is a value, a name of an object, or a number. Names that the product itself uses stay, because readers need them.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import dataclass
from functools import cache
from inspect import get_annotations
from typing import Any

import re2

from convengine.engine.rules.patterns import Pattern, PatternError, compile_pattern
from convengine.engine.turn import audit_settings, live_settings
from convengine.engine.turn.codec import MAX_DEPTH, dumps
from convengine.engine.turn.conversation import Conversation, Loaded
from convengine.engine.turn.params import PARAMS
from convengine.engine.turn.session import Exchange, Session
from convengine.engine.turn.snapshot import Snapshot
from convengine.engine.turn.stage import declared_stages
from convengine.engine.turn.turn import TurnRequest

MASK = "***"
_OPENS, _DECODER = re.compile(r"[{\[]"), json.JSONDecoder()


def redact(value: Any, keys: Set[str], spared: Set[str] = frozenset()) -> Any:
    """The value with everything under one of `keys` (lower case, compared in any case) replaced by a mask.

    A key may be a JSON pointer, as in recorded changes; then each of its parts is a key. `spared` are structural keys
    that readers need: their values are searched, and never masked as a whole.
    """
    if isinstance(value, dict):
        return {name: _redact_member(str(name), item, keys, spared) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [redact(item, keys, spared) for item in value]
    return redact_text(value, keys) if isinstance(value, str) else value


def redact_text(text: str, keys: Set[str]) -> str:
    """A text whose JSON documents have masks for the values of `keys`."""
    return "".join(_redact_documents(text, keys)) if "{" in text and may_mention(text, keys) else text


def _redact_documents(text: str, keys: Set[str]) -> Iterator[str]:
    """The parts of a text: its JSON documents with masked values, and the text between.

    The rest is masked as a whole where reading it costs more than a document that is nested MAX_DEPTH deep may cost.
    """
    done, end, budget = 0, 0, MAX_DEPTH * len(text)
    while opening := _OPENS.search(text, end):
        start, end = opening.span()
        try:
            value, end = _DECODER.raw_decode(text, start)
            if (masked := redact(value, keys)) != value:
                document = dumps(masked)
                yield text[done:start] + document
                done = end
        except json.JSONDecodeError as error:
            budget -= error.pos - start
        except RecursionError:
            budget = -1
        if budget < 0:
            yield text[done:start] + MASK
            return
    yield text[done:]


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
    if not keys or any(part[:1] == "u" for part in text.split("\\")[1:]):  # An escape may hide any name.
        return bool(keys)
    # RE2 takes no lone surrogates, which a turn keeps until its texts are stored.
    return _compile_names(frozenset(keys)).search(text.encode("utf-8", "replace")) is not None


@cache
def _compile_names(keys: frozenset[str]) -> Any:
    """A pattern that finds, in any case, one of the keys in a JSON text as a key or as a part of a pointer."""
    pointers = {key.replace("~", "~0").replace("/", "~1") for key in keys}
    options = re2.Options()
    options.case_sensitive = False
    needles = sorted(json.dumps(key, ensure_ascii=False)[1:-1] for key in keys | pointers)
    return re2.compile("|".join(map(re2.escape, needles)), options)


#: Smaller numbers are ids and counts of the product itself, except in data of a caller.
_LONG_NUMBER = 10_000_000
#: Objects with data of a caller: any number there may be secret.
_CALLER_DATA = frozenset(
    {
        *("inputParams", "userInputParams", "sessionInputParams", "appliedInputParams", "input_params"),
        *("user_input_params", "input_params_json", "context", "contextDict", "context_json", "schemaJson"),
        *("container_data", "containerData", "args", "metadata"),
    }
)
#: Parts of a lifecycle's detail that the next message needs.
_STANDS = frozenset({"lifecycle", "reason", "by", "at", "asked_at", "turn_no"})
#: Names of a stored answer.
_ANSWER = frozenset({"type", "value"})


@cache
def _list_product_names() -> frozenset[str]:
    """Names that the product uses in stored objects: they are no secret, whatever pattern they match."""
    classes = (Session, TurnRequest, Conversation, Loaded, Exchange)
    return frozenset(
        {
            *PARAMS,
            *_CALLER_DATA,
            *(name for each in classes for name in get_annotations(each)),
            *(key for stage in declared_stages() for key in stage.keys),
            *("_meta", "changed", "set", "unset", "stepList", "notNeeded", "candidates", "operands", "key", "tape"),
            *("turn", "request", "loaded", "conversation", "history", "format", "configVersion", "now"),
            *("type", "value"),
        }
    )


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
        return self._mask_patterns(redact(value, self.keys, spared), any_number=False)

    def values(self, value: Any) -> Any:
        """A JSON value with masked pattern matches."""
        return self._mask_patterns(value, any_number=False)

    def caller_data(self, value: Any) -> Any:
        """Data of a caller with masks: params, metadata. Small numbers may be secret too."""
        return self._mask_patterns(redact(value, self.keys), any_number=True)

    def names(self, names: Iterable[str]) -> list[str]:
        """Names of params with masked pattern matches, sorted."""
        return sorted(self._mask_name(name) for name in names)

    def _mask_patterns(self, value: Any, *, any_number: bool) -> Any:
        if not self.patterns:
            return value
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, dict):
            return self._mask_members(value, any_number)
        if isinstance(value, (list, tuple)):
            return [self._mask_patterns(item, any_number=any_number) for item in value]
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            return MASK if (any_number or abs(value) >= _LONG_NUMBER) and self._fits_number(value) else value
        return value

    def _mask_members(self, members: dict[Any, Any], any_number: bool) -> dict[str, Any]:
        masked: dict[str, Any] = {}
        for name, item in members.items():
            text = str(name)
            parts = text.split("/")[1:2] if text.startswith("/") else [text]
            known = text in _list_product_names()
            secret_numbers = not _CALLER_DATA.isdisjoint(parts) or (any_number and not known)
            key, number = self._mask_name(text), 1
            while key in masked:
                # Two masked names of one object stay two.
                number += 1
                key = f"{self._mask_name(text)} {number}"
            masked[key] = self._mask_patterns(item, any_number=secret_numbers)
        return masked

    def _mask_name(self, name: str) -> str:
        """A name with masked pattern matches; of a JSON pointer, each part."""
        if name.startswith("/"):
            return "/".join(self._mask_name(part) for part in name.split("/"))
        return name if name in _list_product_names() else self.text(name)

    def _fits_number(self, number: float) -> bool:
        texts = {str(number), *([str(int(number))] if isinstance(number, float) and number.is_integer() else [])}
        return any(self.text(text) != text for text in texts)

    def text(self, text: str) -> str:
        """A text with masked pattern matches, and masked values of names in its JSON documents."""
        text = redact_text(text, self.keys)
        for pattern in self.patterns:
            text = pattern.replace_in(text, MASK)
        return text

    def is_masked_name(self, name: str) -> bool:
        return bool(self.keys) and _is_masked_name(name.lower(), self.keys)

    def session(self, session: Session) -> Session:
        """A session as its turn stores it: texts with masked pattern matches.

        Context and params stay unmasked, because later turns need them.
        """
        answer = redact(session.last_assistant, self.keys, _ANSWER) if self.keys else session.last_assistant
        if answer != session.last_assistant:
            session = session.evolve(last_assistant=answer)
        if not self.patterns and not self.keys:
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
