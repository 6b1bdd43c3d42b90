"""What the form of an intent takes as values: such words do not speak against it, and its options speak for it.

"I need a cleaning on Monday at 10" means the same as "I need a cleaning" where a form asks for day and time.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from convengine.engine.text.compare import code
from convengine.engine.turn import rows
from convengine.engine.turn.snapshot import Snapshot
from convengine.engine.understanding.phrases.terms import PhraseLanguage, TellingWord, read_phrase
from convengine.json_value import Json

#: Options of one field that are read; more are no words of the intent.
_MAX_OPTIONS = 200


@dataclass(frozen=True)
class FormWords:
    """The terms of a form's titles and options, and of its intent's title, in all languages."""

    terms: frozenset[str] = frozenset()
    #: The terms of options alone, and the options as they are written.
    options: frozenset[str] = frozenset()
    texts: tuple[str, ...] = ()
    #: False for an intent without a form.
    is_form: bool = True

    def has(self, word: TellingWord) -> bool:
        """True for a title or option, and for a word that says when or how many."""
        return self.is_form and (word.light or word.term in self.terms)


NO_FORM_WORDS = FormWords(is_form=False)


def read_form_words(snapshot: Snapshot, languages: Sequence[PhraseLanguage]) -> Mapping[str, FormWords]:
    """By intent, with those of the questions beside a flow: "where is the camp?" beside the flow that books a camp."""
    combined: dict[str, FormWords] = {}
    titles = {code(row.intent_code): row.display_name or "" for row in snapshot.enabled_rows(rows.Intent)}
    for row in snapshot.enabled_rows(rows.OutputSchema):
        properties = row.json_schema.get("properties") if isinstance(row.json_schema, Mapping) else None
        fields = (
            [field for field in properties.values() if isinstance(field, Mapping)]
            if isinstance(properties, Mapping)
            else []
        )
        intent = code(row.intent_code)
        known = combined.get(intent, FormWords(_find_terms([titles.get(intent, "")], languages)))
        options = tuple(text for field in fields for text in _list_options(field))
        named = [title for field in fields if isinstance(title := field.get("title"), str)]
        own = _find_terms(options, languages)
        combined[intent] = FormWords(
            known.terms | own | _find_terms(named, languages), known.options | own, (*known.texts, *options)
        )
    beside = {
        question: FormWords(words.terms)
        for intent, words in combined.items()
        for question in snapshot.list_questions_beside(intent)
    }
    return beside | combined


def _find_terms(texts: Iterable[str], languages: Sequence[PhraseLanguage]) -> frozenset[str]:
    return frozenset(word.term for text in texts for language in languages for word in read_phrase(text, language)[0])


def _list_options(field: Mapping[str, Json]) -> Iterator[str]:
    """The options of a field with their labels and synonyms."""
    listed = field.get("x-options")
    texts = [*(field.get("enum") or ())[:_MAX_OPTIONS]]
    for option in listed[:_MAX_OPTIONS] if isinstance(listed, list) else []:
        if isinstance(option, Mapping):
            texts += [option.get("value"), option.get("label"), *(option.get("synonyms") or ())]
    return (text for text in dict.fromkeys(text for text in texts if isinstance(text, str)))
