"""The only number of an answer, between words of small talk."""

from datetime import UTC, datetime
from typing import Any

import pytest

from convengine.engine.forms.extract import extract
from convengine.engine.forms.form import Form
from convengine.engine.values import ReadingSituation
from convengine.engine.values.lone_numbers import is_hedged_number

NOW = datetime(2026, 11, 24, 10, tzinfo=UTC)
GUESTS = {"en-GB": "How many guests?", "de-DE": "Wie viele Gäste werden es?"}
QUESTIONS = {"en-GB": "How many tables?", "de-DE": "Um wie viele Quadratmeter geht es?"}


def read(text: str, locale: str) -> Any:
    """The number that is read, why it is refused, or null; of another field, its name."""
    number = {"type": "integer", "minimum": 1, "maximum": 60, "x-ask": QUESTIONS[locale]}
    moments = {"day": {"type": "string", "format": "date"}, "time": {"type": "string", "format": "time"}}
    form = Form({"type": "object", "properties": {"size": number, **moments}})
    situation = ReadingSituation(NOW, "Europe/London", locale)
    extraction = extract(form, text, asked_paths=["size"], situation=situation)
    found: dict[str, Any] = {item.field: item.value for item in extraction.extracted}
    found |= {item.field: item.reason for item in extraction.rejected}
    return found.get("size", next(iter(found), None))


@pytest.mark.parametrize(
    ("text", "locale", "number"),
    [
        ("oh well fine then just 14", "en-GB", 14),
        ("haven't counted, 12 perhaps", "en-GB", 12),
        ("no clue tbh, 15?", "en-GB", 15),
        ("16 then i reckon", "en-GB", 16),
        ("it's a big party, everybody brings somebody, 18 should do", "en-GB", 18),
        ("we have no clue yet but 20 would be safe", "en-GB", 20),
        ("we could squeeze in 7", "en-GB", 7),
        ("let me think... around 15", "en-GB", 15),
        ("umm 80 maybe", "en-GB", "OUT_OF_BOUNDS"),
        ("keinen schimmer, 30 vielleicht?", "de-DE", 30),
        ("weiß nicht so genau, so um die 45", "de-DE", 45),
        ("schwer zu sagen, 25 etwa", "de-DE", 25),
        ("müssten so 40 sein", "de-DE", 40),
        ("na gut, dann halt 20", "de-DE", 20),
        ("grob geschätzt 35", "de-DE", 35),
        ("puh, 50?", "de-DE", 50),
        ("90 denk ich", "de-DE", "OUT_OF_BOUNDS"),
    ],
)
def test_the_only_number_of_an_answer_is_its_value(text: str, locale: str, number: Any) -> None:
    assert read(text, locale) == number


@pytest.mark.parametrize(
    ("text", "locale"),
    [
        ("10 if it doesn't rain", "en-GB"),
        ("forget it, 10 is too many", "en-GB"),
        ("just not 10", "en-GB"),
        ("i live at number 12", "en-GB"),
        ("another 10", "en-GB"),
        ("up to 10", "en-GB"),
        ("they said 10", "en-GB"),
        ("do you have 10?", "en-GB"),
        ("20 wenn meine Frau mitmacht", "de-DE"),
        ("falls es regnet 20", "de-DE"),
        ("10 sind zu viele", "de-DE"),
        ("letztes Mal waren es 30", "de-DE"),
        ("seit 20 Jahren", "de-DE"),
        ("nicht mehr als 12", "de-DE"),
        ("zwischen 20 und 30", "de-DE"),
    ],
)
def test_a_number_that_may_mean_something_else_is_none(text: str, locale: str) -> None:
    assert read(text, locale) is None


@pytest.mark.parametrize("text", ["this one", "the last one", "one moment", "we had 3 last time"])
def test_a_pronoun_and_a_past_count_nothing(text: str) -> None:
    assert read(text, "en-GB") is None


@pytest.mark.parametrize(
    ("text", "locale", "number"),
    [("14 not 15", "en-GB", 14), ("14, nicht 15", "de-DE", 14), ("not 15, 14", "en-GB", 14)],
)
def test_of_a_contrast_the_number_that_is_not_denied_counts(text: str, locale: str, number: int) -> None:
    assert read(text, locale) == number


def test_a_day_beside_the_number_is_kept() -> None:
    count = {"type": "integer", "x-ask": "How many chairs?"}
    form = Form({"type": "object", "properties": {"chairs": count, "day": {"type": "string", "format": "date"}}})
    extraction = extract(form, "Friday, 10 i guess", asked_paths=["chairs"], situation=ReadingSituation(NOW))
    assert {item.field: item.value for item in extraction.extracted} == {"chairs": 10, "day": "2026-11-27"}


@pytest.mark.parametrize(("text", "locale"), [("12th", "en-GB"), ("3pm", "en-GB"), ("um 20 Uhr", "de-DE")])
def test_a_day_or_a_time_is_no_number(text: str, locale: str) -> None:
    assert read(text, locale) in ("day", "time")


def test_a_guess_is_no_time_where_a_number_is_asked_for() -> None:
    situation = ReadingSituation(NOW, locale="en-GB")
    assert is_hedged_number("around 15", situation)
    assert not is_hedged_number("at 15", situation)
    assert not is_hedged_number("3pm", situation)


@pytest.mark.parametrize(
    ("text", "locale", "age"),
    [
        ("17 but nearly 18", "en-GB", 17),
        ("17, about to turn 18", "en-GB", 17),
        ("he is 17, turning 18 in May", "en-GB", 17),
        ("well she's 17 but she'll be 18 soon", "en-GB", 17),
        ("15, soon to be 16", "en-GB", "OUT_OF_BOUNDS"),
        ("then I sign up my sister, she is 19", "en-GB", 19),
        ("17, werd aber bald 18", "de-DE", 17),
        ("ich bin 17, werde im Mai 18", "de-DE", 17),
        ("15 aber fast 16", "de-DE", "OUT_OF_BOUNDS"),
        ("dann meld ich halt meinen bruder an, der ist 19", "de-DE", 19),
        ("na gut, dann meine mutter, die ist 48", "de-DE", 48),
    ],
)
def test_an_age_that_is_to_come_is_none(text: str, locale: str, age: int | str) -> None:
    question = "How old is the participant?" if locale == "en-GB" else "Wie alt sind Sie?"
    title = "Age" if locale == "en-GB" else "Alter"
    field = {"type": "integer", "minimum": 16, "maximum": 99, "title": title, "x-ask": question}
    form = Form({"type": "object", "properties": {"age": field}})
    extraction = extract(form, text, asked_paths=["age"], situation=ReadingSituation(NOW, "Europe/London", locale))

    assert [item.value for item in extraction.extracted] + [item.reason for item in extraction.rejected] == [age]


@pytest.mark.parametrize(
    ("text", "locale", "number"),
    [
        ("all 5 on the ground floor", "en-GB", 5),
        ("all 3 upstairs", "en-GB", 3),
        ("theres 6 of them lol", "en-GB", 6),
        ("fine ill only bring 4", "en-GB", 4),
        ("alle 5 im Erdgeschoss", "de-DE", 5),
        ("sämtliche 6 im ersten Stock", "de-DE", 6),
        ("dann bring ich nur 4 mit", "de-DE", 4),
        ("alle bis auf 2", "de-DE", None),
        ("2 im Bad und ein paar in der Küche", "de-DE", None),
    ],
)
def test_a_number_may_be_all_there_is(text: str, locale: str, number: int | None) -> None:
    assert read(text, locale) == number


@pytest.mark.parametrize(
    ("text", "locale", "least", "number"),
    [
        ("just me thanks", "en-GB", 0, 0),
        ("on my own", "en-GB", 0, 0),
        ("just me", "en-GB", 1, 1),
        ("bringing 3 girls", "en-GB", 0, 3),
        ("bringing my mum and 2 friends", "en-GB", 0, 3),
        ("nur ich", "de-DE", 0, 0),
        ("ich komme alleine", "de-DE", 0, 0),
        ("bringe 2 mit", "de-DE", 0, 2),
    ],
)
def test_who_comes_alone_brings_nobody(text: str, locale: str, least: int, number: int) -> None:
    question = "Wie viele Personen bringen Sie mit?" if locale == "de-DE" else "How many people are you bringing along?"
    declared = {"type": "integer", "title": "Guests", "x-ask": question, "minimum": least, "maximum": 4}
    form = Form({"type": "object", "properties": {"guests": declared}})
    extraction = extract(form, text, asked_paths=["guests"], situation=ReadingSituation(NOW, "Europe/London", locale))

    assert {item.field: item.value for item in extraction.extracted} == {"guests": number}


@pytest.mark.parametrize(
    ("text", "locale", "number"),
    [
        ("6 colleagues", "en-GB", "OUT_OF_BOUNDS"),
        ("12 colleagues", "en-GB", 12),
        ("6 kollegen", "de-DE", "OUT_OF_BOUNDS"),
        ("nur 8 nachbarn", "de-DE", "OUT_OF_BOUNDS"),
        ("15 kollegen", "de-DE", 15),
        ("20 freunde und verwandte", "de-DE", 20),
        ("ok, I'll ask my cousins too, that makes 14", "en-GB", 14),
        ("then we invite next door as well, then it's 14", "en-GB", 14),
        ("fine, my aunt comes too, that brings us to 12", "en-GB", 12),
        ("dann lad ich noch eine klasse ein, dann sinds 14", "de-DE", 14),
        ("wir nehmen noch wen mit, macht 12", "de-DE", 12),
        ("also 14 dann", "de-DE", 14),
    ],
)
def test_a_number_with_what_it_counts_or_concludes_is_within_the_bounds_or_refused(
    text: str, locale: str, number: int | str
) -> None:
    count = {"type": "integer", "minimum": 10, "maximum": 60, "x-ask": GUESTS[locale]}
    situation = ReadingSituation(NOW, "Europe/London", locale)

    extraction = extract(
        Form({"type": "object", "properties": {"size": count}}), text, asked_paths=["size"], situation=situation
    )

    found = [item.value for item in extraction.extracted] + [item.reason for item in extraction.rejected]
    assert found == [number]
