"""A corpus of intents: `{"intents": {code: [phrase, …]}, "test": [[message, code or null], …]}`."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from convengine.evaluation.intents import Decider, build_decider, make_phrases
from convengine.evaluation.measures import IntentOutcome
from convengine.evaluation.read import EvaluationError


@dataclass(frozen=True)
class IntentCorpus:
    """Phrases by intent, and messages with their intent; a blank one for none of them."""

    phrases: Mapping[str, Sequence[str]]
    messages: Sequence[tuple[str, str]]

    def decide(self, most_phrases: int | None = None) -> Iterator[IntentOutcome]:
        """Decide on each message in order, by the first phrases of each intent or by all."""
        decide = self._build(most_phrases)
        for message, intent in self.messages:
            yield IntentOutcome(message, intent, decide(message))

    def _build(self, most_phrases: int | None) -> Decider:
        return build_decider(make_phrases({intent: texts[:most_phrases] for intent, texts in self.phrases.items()}))


def read_corpus(file: Path) -> IntentCorpus:
    """The corpus of a file. Raises EvaluationError."""
    try:
        document = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise EvaluationError(f"{file}: cannot be read: {error}.") from None
    if not isinstance(document, dict) or not isinstance(document.get("intents"), dict):
        raise EvaluationError(f'{file}: write {{"intents": {{code: [phrase, …]}}, "test": [[message, code], …]}}.')
    phrases = {str(intent): _read_phrases(texts, f"{file}, {intent}") for intent, texts in document["intents"].items()}
    messages = [
        _read_message(entry, f"{file}, test {number}") for number, entry in enumerate(document.get("test", ()), 1)
    ]
    return IntentCorpus(phrases, messages)


def _read_phrases(texts: Any, at: str) -> Sequence[str]:
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise EvaluationError(f"{at}: the phrases of an intent are a list of texts.")
    return texts


def _read_message(entry: Any, at: str) -> tuple[str, str]:
    match entry:
        case [str(message), str() | None as intent]:
            return message, intent or ""
    raise EvaluationError(f"{at}: write [message, code], or [message, null] for none of the intents.")
