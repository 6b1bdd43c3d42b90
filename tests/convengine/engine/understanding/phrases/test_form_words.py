"""Values for an intent's form neither speak for the intent nor against it."""

from convengine.engine.understanding.phrases.form_words import read_form_words
from convengine.engine.understanding.phrases.index import Phrase, PhraseIndex
from convengine.engine.understanding.phrases.terms import list_phrase_languages
from tests.builders import make_schema, make_snapshot

PROPERTIES = {
    "day": {"type": "string", "title": "Day", "format": "date"},
    "visit": {"type": "string", "title": "Reason", "x-options": [{"value": "CLEAN", "label": "cleaning"}]},
}


def read_score(text: str, *, with_form: bool) -> float:
    languages = list_phrase_languages()
    form_words = read_form_words(make_snapshot(make_schema("VISIT", PROPERTIES)), languages) if with_form else None
    phrases = [Phrase(1, "VISIT", "book a cleaning"), Phrase(2, "OPENING", "are you open on Sundays")]
    index = PhraseIndex(phrases, languages, form_words)

    return next(match.score for match in index.match(text) if match.intent == "VISIT")


def test_a_day_and_a_time_do_not_count_against_an_intent_whose_form_takes_values() -> None:
    text = "book me a cleaning on Monday at 10"

    assert read_score(text, with_form=True) > read_score(text, with_form=False) + 0.1


def test_an_option_speaks_for_its_intent() -> None:
    assert read_score("cleaning", with_form=True) > read_score("cleaning", with_form=False)
