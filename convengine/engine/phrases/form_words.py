"""What the form of an intent takes as values: such words speak neither for the intent nor against it.

"I need a cleaning on Monday at 10" means the same as "I need a cleaning" where a form asks for day and time.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from convengine.engine.phrases.languages import LANGUAGES
from convengine.engine.phrases.words import TellingWord, read_telling_words
from convengine.engine.text.compare import code
from convengine.engine.turn import rows
from convengine.engine.turn.snapshot import Snapshot

Json = Any
#: Options of one field that are read; more are no words of the intent.
_MAX_OPTIONS = 200


@dataclass(frozen=True)
class FormWords:
    """The terms of a form's titles and options, and of its intent's title, in all languages."""

    terms: frozenset[str]

    def has(self, word: TellingWord) -> bool:
        """True for a title or option, and for a word that says when or how many."""
        return word.light or word.term in self.terms


def get_form_words(snapshot: Snapshot) -> Mapping[str, FormWords]:
    """By intent; each table is read once."""
    return snapshot.memo.get("form words", lambda: _combine(snapshot))


def _combine(snapshot: Snapshot) -> dict[str, FormWords]:
    forms = snapshot.table(rows.OutputSchema).memo.get("form words", lambda: _read_forms(snapshot))
    titles = snapshot.table(rows.Intent).memo.get("title words", lambda: _read_titles(snapshot))
    return {intent: FormWords(terms | titles.get(intent, frozenset())) for intent, terms in forms.items()}


def _read_titles(snapshot: Snapshot) -> dict[str, frozenset[str]]:
    intents = snapshot.enabled_rows(rows.Intent)
    return {code(row.intent_code): frozenset(_list_terms(iter((row.display_name or "",)))) for row in intents}


def _read_forms(snapshot: Snapshot) -> dict[str, frozenset[str]]:
    terms: dict[str, set[str]] = {}
    for row in snapshot.enabled_rows(rows.OutputSchema):
        properties = row.json_schema.get("properties") if isinstance(row.json_schema, Mapping) else None
        if isinstance(properties, Mapping):
            own = terms.setdefault(code(row.intent_code), set())
            own.update(_list_terms(text for field in properties.values() for text in _list_texts(field)))
    return {intent: frozenset(own) for intent, own in terms.items()}


def _list_terms(texts: Iterator[str]) -> Iterator[str]:
    for text in texts:
        for language in LANGUAGES:
            yield from (word.term for word in read_telling_words(text, language))


def _list_texts(field: Json) -> Iterator[str]:
    """The title of a field, and its options with their labels and synonyms."""
    if not isinstance(field, Mapping):
        return
    options = field.get("x-options")
    listed = options[:_MAX_OPTIONS] if isinstance(options, list) else []
    texts = [field.get("title"), *(field.get("enum") or ())[:_MAX_OPTIONS]]
    for option in listed:
        if isinstance(option, Mapping):
            texts += [option.get("value"), option.get("label"), *(option.get("synonyms") or ())]
    yield from (text for text in texts if isinstance(text, str))
