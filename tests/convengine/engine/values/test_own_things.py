"""Things that somebody has and need not be given."""

from datetime import UTC, datetime

import pytest

from convengine.engine.text.words import split_words
from convengine.engine.values import FieldSpec, Kind, ReadingSituation, read_value
from convengine.engine.values.own_things import keeps_own

NOW = datetime(2026, 11, 21, tzinfo=UTC)
QUESTIONS = {"en-GB": ("tent", "Do you need a tent?"), "de-DE": ("zelt", "Brauchen Sie ein Zelt?")}


def make_spec(locale: str) -> FieldSpec:
    name, question = QUESTIONS[locale]
    return FieldSpec(
        name, Kind.YES_NO, json_type="boolean", words=(name,), question=tuple(split_words(question.casefold()))
    )


def read(text: str, locale: str) -> object:
    return read_value(make_spec(locale), text, ReadingSituation(NOW, locale=locale)).value


@pytest.mark.parametrize(
    ("text", "locale"),
    [
        ("we bring our own", "en-GB"),
        ("the tent is ours", "en-GB"),
        ("got one already", "en-GB"),
        ("yes, I have my own", "en-GB"),
        ("no thanks, we all have one", "en-GB"),
        ("das Zelt hab ich selbst", "de-DE"),
        ("wir haben ein eigenes", "de-DE"),
        ("we take our own", "en-GB"),
        ("wir nehmen unsere eigenen", "de-DE"),
        ("meins bring ich mit", "de-DE"),
        ("hab schon eins", "de-DE"),
    ],
)
def test_who_has_the_thing_needs_none(text: str, locale: str) -> None:
    assert read(text, locale) is False
    assert keeps_own(make_spec(locale), text, ReadingSituation(NOW, locale=locale))


@pytest.mark.parametrize(
    ("text", "locale"),
    [
        ("our own is broken", "en-GB"),
        ("can we bring our own?", "en-GB"),
        ("I got one already, we need another", "en-GB"),
        ("my wife has her own", "en-GB"),
        ("we all take one", "en-GB"),
        ("wir nehmen alle eins", "de-DE"),
        ("unseres ist kaputt", "de-DE"),
        ("kann ich meins mitbringen?", "de-DE"),
    ],
)
def test_who_says_more_of_the_own_thing_is_asked_again(text: str, locale: str) -> None:
    assert read(text, locale) is None


@pytest.mark.parametrize(
    ("text", "locale", "value"),
    [
        ("no problem, I need one", "en-GB", True),
        ("no worries, we need a tent", "en-GB", True),
        ("no bother, no", "en-GB", False),
        ("no problem", "en-GB", None),
        ("kein Problem, ich brauche eins", "de-DE", True),
        ("kein Ding, brauch ich", "de-DE", True),
        ("kein Problem", "de-DE", None),
    ],
)
def test_a_friendly_no_denies_nothing(text: str, locale: str, value: bool | None) -> None:
    assert read(text, locale) is value


def test_a_question_that_names_the_own_thing_asks_for_it() -> None:
    spec = FieldSpec("tent", Kind.YES_NO, question=("do", "you", "need", "one", "or", "bring", "your", "own"))

    assert not keeps_own(spec, "we bring our own", ReadingSituation(NOW, locale="en-GB"))
