"""What the form of an intent takes as values: such words speak neither for the intent nor against it.

"I need a cleaning on Monday at 10" means the same as "I need a cleaning" where a form asks for day and time.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from convengine.engine.phrases.languages import LANGUAGES
from convengine.engine.phrases.near_misses import is_misspelling
from convengine.engine.phrases.words import TellingWord, read_telling_words
from convengine.engine.text.compare import code
from convengine.engine.turn import rows
from convengine.engine.turn.snapshot import Snapshot

Json = Any
#: Options of one field that are read; more are no words of the intent.
_MAX_OPTIONS = 200
#: Shortest word in which a typing error is looked for.
_LONG = 6


@dataclass(frozen=True)
class FormWords:
    """The terms of a form's titles and options, and of its intent's title, in all languages."""

    terms: frozenset[str]
    #: The terms of options alone.
    options: frozenset[str] = frozenset()

    def names_options(self, words: Sequence[TellingWord], known: Collection[str] = ()) -> bool:
        """True when the words name options, and nothing else but when or how many, and the known words."""
        named = [word for word in words if not word.light and word.text not in known]
        return bool(named) and all(_is_one_of(word, self.options) for word in named)

    def has(self, word: TellingWord) -> bool:
        """True for a title or option, and for a word that says when or how many."""
        return word.light or _is_one_of(word, self.terms)


def _is_one_of(word: TellingWord, terms: frozenset[str]) -> bool:
    """True for one of the terms, and for a long word with a single typing error: "heatrow"."""
    if word.term in terms:
        return True
    return len(word.text) >= _LONG and any(
        abs(len(term) - len(word.term)) < 2 and term[:1] == word.term[:1] and is_misspelling(word.term, term)
        for term in terms
    )


def get_form_words(snapshot: Snapshot) -> Mapping[str, FormWords]:
    """By intent; each table is read once."""
    return snapshot.memo.get("form words", lambda: _combine(snapshot))


def _combine(snapshot: Snapshot) -> dict[str, FormWords]:
    forms = snapshot.table(rows.OutputSchema).memo.get("form words", lambda: _read_forms(snapshot))
    titles = snapshot.table(rows.Intent).memo.get("title words", lambda: _read_titles(snapshot))
    combined = {
        intent: FormWords(words.terms | titles.get(intent, frozenset()), words.options)
        for intent, words in forms.items()
    }
    # "Where is the camp?" asks "Where are you?" beside the flow that books a camp.
    beside = {
        question: FormWords(words.terms)
        for intent, words in combined.items()
        for question in snapshot.list_questions_beside(intent)
    }
    return beside | combined


def _read_titles(snapshot: Snapshot) -> dict[str, frozenset[str]]:
    intents = snapshot.enabled_rows(rows.Intent)
    return {code(row.intent_code): frozenset(_list_terms(iter((row.display_name or "",)))) for row in intents}


def _read_forms(snapshot: Snapshot) -> dict[str, FormWords]:
    terms: dict[str, set[str]] = {}
    options: dict[str, set[str]] = {}
    for row in snapshot.enabled_rows(rows.OutputSchema):
        properties = row.json_schema.get("properties") if isinstance(row.json_schema, Mapping) else None
        if isinstance(properties, Mapping):
            own = terms.setdefault(code(row.intent_code), set())
            listed = [text for field in properties.values() for text in _list_options(field)]
            options.setdefault(code(row.intent_code), set()).update(_list_terms(iter(listed)))
            own.update(_list_terms(chain(listed, _list_titles(properties))))
    return {intent: FormWords(frozenset(own), frozenset(options[intent])) for intent, own in terms.items()}


def _list_titles(properties: Mapping[str, Json]) -> Iterator[str]:
    titles = (field.get("title") for field in properties.values() if isinstance(field, Mapping))
    return (title for title in titles if isinstance(title, str))


def _list_terms(texts: Iterator[str]) -> Iterator[str]:
    for text in texts:
        for language in LANGUAGES:
            yield from (word.term for word in read_telling_words(text, language))


def _list_options(field: Json) -> Iterator[str]:
    """The options of a field with their labels and synonyms."""
    if not isinstance(field, Mapping):
        return
    options = field.get("x-options")
    listed = options[:_MAX_OPTIONS] if isinstance(options, list) else []
    texts = [*(field.get("enum") or ())[:_MAX_OPTIONS]]
    for option in listed:
        if isinstance(option, Mapping):
            texts += [option.get("value"), option.get("label"), *(option.get("synonyms") or ())]
    yield from (text for text in texts if isinstance(text, str))
