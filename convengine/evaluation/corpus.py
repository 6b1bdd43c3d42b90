"""A corpus of intents, lines of an FAQ and documents, with messages and what answers each (docs/evaluate.md)."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from convengine.engine.text.compare import code
from convengine.engine.turn import rows
from convengine.engine.turn.rows import Row
from convengine.engine.turn.scope import ANY
from convengine.engine.turn.snapshot import Snapshot, Table
from convengine.engine.understanding.phrases.models import Making, choose_making
from convengine.evaluation.intents import decide_by, make_phrases
from convengine.evaluation.measures import IntentOutcome
from convengine.evaluation.read import EvaluationError


@dataclass(frozen=True)
class AnswerLine:
    """A line of an FAQ: its questions, and the text that answers them."""

    code: str
    questions: Sequence[str]
    answer: str


@dataclass(frozen=True)
class IntentCorpus:
    """Phrases by intent, lines, and messages with their intent or line; a blank one for none of them."""

    phrases: Mapping[str, Sequence[str]]
    messages: Sequence[tuple[str, str]]
    lines: Sequence[AnswerLine] = ()

    def decide(self, most_phrases: int | None = None) -> Iterator[IntentOutcome]:
        """Decide on each message in order, by the first phrases of each intent or by all."""
        decide = decide_by(self.build_snapshot(most_phrases))
        for message, intent in self.messages:
            # Nobody else needs what these phrases train.
            with choose_making(Making.OWN):
                outcome = IntentOutcome(message, intent, decide(message))
            yield outcome

    def build_snapshot(self, most_phrases: int | None = None) -> Snapshot:
        """The configuration of the intents and the lines."""
        phrases = make_phrases(
            {intent: texts[:most_phrases] for intent, texts in self.phrases.items()}
            | {line.code: line.questions for line in self.lines}
        )
        names = {code(row.intent_code): row.intent_code for row in phrases}
        answers = {code(line.code): line.answer for line in self.lines}
        tables: dict[type[Row], Sequence[Row]] = {
            rows.Intent: [rows.Intent(intent_code=name, returns=each in answers) for each, name in names.items()],
            rows.Classifier: phrases,
            rows.Response: [
                rows.Response(response_id=number, intent_code=intent, state_code=ANY, exact_text=answer)
                for number, (intent, answer) in enumerate(answers.items(), 1)
            ],
        }
        return Snapshot(0, {kind.table: Table(kind.table, listed) for kind, listed in tables.items()})


def read_corpus(file: Path, *, has_lines: bool = False) -> IntentCorpus:
    """The corpus of a file; `has_lines` allows lines of an FAQ, and none of the other keys is needed then.

    Raises EvaluationError.
    """
    try:
        document = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise EvaluationError(f"{file}: cannot be read: {error}.") from None
    intents = document.get("intents", {} if has_lines else None) if isinstance(document, dict) else None
    if not isinstance(intents, dict):
        lines = '"lines": [{"code": …, "questions": [text, …], "answer": text}, …], ' if has_lines else ""
        raise EvaluationError(
            f'{file}: write {{{lines}"intents": {{code: [phrase, …]}}, "test": [[message, code], …]}}.'
        )
    phrases = {str(intent): _read_phrases(texts, f"{file}, {intent}") for intent, texts in intents.items()}
    listed = document.get("lines", ()) if has_lines else ()
    lines_read = [_read_line(entry, f"{file}, line {number}") for number, entry in enumerate(listed, 1)]
    messages = [
        _read_message(entry, f"{file}, test {number}") for number, entry in enumerate(document.get("test", ()), 1)
    ]
    return IntentCorpus(phrases, messages, lines_read)


def _read_phrases(texts: Any, at: str) -> Sequence[str]:
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise EvaluationError(f"{at}: the phrases of an intent are a list of texts.")
    return texts


def _read_line(entry: Any, at: str) -> AnswerLine:
    match entry:
        case {"code": str(name), "questions": [*questions], "answer": str(answer)} if questions:
            return AnswerLine(name, _read_phrases(questions, at), answer)
    raise EvaluationError(f'{at}: write {{"code": code, "questions": [text, …], "answer": text}}.')


def _read_message(entry: Any, at: str) -> tuple[str, str]:
    match entry:
        case [str(message), str() | None as intent]:
            return message, intent or ""
    raise EvaluationError(f"{at}: write [message, code], or [message, null] for none of the intents.")
