"""A corpus of intents, lines of an FAQ and documents, with messages and what answers each (docs/evaluate.md)."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from convengine.engine.documents.cards import choose_cards, find_cards
from convengine.engine.text.compare import code
from convengine.engine.turn import rows
from convengine.engine.turn.rows import Row
from convengine.engine.turn.scope import ANY
from convengine.engine.turn.snapshot import Snapshot, Table
from convengine.engine.understanding.phrases.models import Making, choose_making
from convengine.engine.understanding.phrases.settings import EMBEDDING_MODEL
from convengine.evaluation.intents import decide_by, make_phrases
from convengine.evaluation.measures import IntentOutcome
from convengine.evaluation.read import EvaluationError
from convengine.files import Unreadable
from convengine.files.document_text import READABLE, read_document


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
    #: Texts in Markdown, by the paths of their files.
    documents: Mapping[str, str] = field(default_factory=dict)
    #: The embedding model; blank for the encoder of the product.
    encoder: str = ""

    def decide(self, most_phrases: int | None = None) -> Iterator[IntentOutcome]:
        """Decide on each message in order, by the first phrases of each intent or by all."""
        snapshot = self.build_snapshot(most_phrases)
        decide = decide_by(snapshot)
        for message, intent in self.messages:
            # Nobody else needs what these phrases train.
            with choose_making(Making.OWN):
                decision, cards = decide(message), find_cards(snapshot, message) if self.documents else []
            yield _choose_answer(snapshot, IntentOutcome(message, intent, decision), cards)

    def build_snapshot(self, most_phrases: int | None = None) -> Snapshot:
        """The configuration of the intents and the lines."""
        phrases = make_phrases(
            {intent: texts[:most_phrases] for intent, texts in self.phrases.items()}
            | {line.code: line.questions for line in self.lines}
        )
        names = {code(row.intent_code): row.intent_code for row in phrases}
        answers = {code(line.code): line.answer for line in self.lines}
        kind, key = EMBEDDING_MODEL.type, EMBEDDING_MODEL.key
        setting = rows.Config(config_id=1, config_type=kind, config_key=key, config_value=self.encoder)
        tables: dict[type[Row], Sequence[Row]] = {
            rows.Config: [setting] if self.encoder else [],
            rows.AnswerDocument: [
                rows.AnswerDocument(document_id=number, title=path, content=text)
                for number, (path, text) in enumerate(self.documents.items(), 1)
            ],
            rows.Intent: [rows.Intent(intent_code=name, returns=each in answers) for each, name in names.items()],
            rows.Classifier: phrases,
            rows.Response: [
                rows.Response(response_id=number, intent_code=intent, state_code=ANY, exact_text=answer)
                for number, (intent, answer) in enumerate(answers.items(), 1)
            ],
        }
        return Snapshot(0, {kind.table: Table(kind.table, listed) for kind, listed in tables.items()})


def _choose_answer(snapshot: Snapshot, outcome: IntentOutcome, cards: Sequence[Mapping[str, Any]]) -> IntentOutcome:
    """The outcome, or what documents say in its place: as in a turn, where nothing is sure and they are likelier.

    A section is labelled by its document and its headings.
    """
    decision, shown = outcome.decision, choose_cards(snapshot, cards)
    is_sure = len(decision.intents) == 1 and not decision.is_near
    if not shown or is_sure or cards[0]["confidence"] <= decision.confidence:
        return outcome
    names = tuple(" > ".join([str(card["title"]), *card["titles"]]) for card in shown)
    listed = [{"document": card["title"], "titles": card["titles"], "sentences": card["sentences"]} for card in shown]
    return replace(outcome, decision=replace(decision, intents=names, is_near=True), cards=listed)


def read_corpus(file: Path, *, has_lines: bool = False, documents: Path | None = None) -> IntentCorpus:
    """The corpus of a file; `has_lines` allows lines of an FAQ, and none of the other keys is needed then.

    `documents`: a folder of documents. Raises EvaluationError.
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
    return IntentCorpus(phrases, messages, lines_read, _read_documents(documents) if documents else {})


def _read_documents(folder: Path) -> dict[str, str]:
    files = sorted(path for path in folder.rglob("*") if path.suffix.lower() in READABLE)
    if not files:
        raise EvaluationError(f"{folder}: no document is there. Documents are {', '.join(READABLE)} files.")
    try:
        return {path.relative_to(folder).as_posix(): read_document(path.name, path.read_bytes()) for path in files}
    except Unreadable as problem:
        raise EvaluationError(str(problem)) from None


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
