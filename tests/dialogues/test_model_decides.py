"""Where a model is set, what the tables would offer, choose among pieces or ask again is put to it first."""

import json
from typing import Any, NamedTuple

import pytest

from tests.dialogues.beside_model import find_event, talk_beside_model
from tests.fakes.openai_server import Says

pytestmark = pytest.mark.django_db
INSTRUMENTS = {"upright": "Upright", "grand": "Concert grand", "harpsichord": "Harpsichord"}
FLOW = {
    "code": "TUNE_PIANO",
    "title": "Tune a piano",
    "kind": "collect",
    "locale": "en-GB",
    "phrases": ["my piano needs tuning", "tune my piano please"],
    "fields": [
        {
            "name": "piano",
            "title": "Instrument",
            "type": "choice",
            "question": "Which instrument?",
            "options": [{"value": value, "label": label, "synonyms": []} for value, label in INSTRUMENTS.items()],
        },
        {"name": "place", "title": "Place", "type": "text", "question": "Where does it stand?"},
        {"name": "day", "title": "Day", "type": "date", "min": "today", "max": "today+60d", "question": "Which day?"},
        {"name": "time", "title": "Time", "type": "time", "min": "09:00", "max": "18:00", "question": "At what time?"},
        {"name": "keys", "title": "Broken keys", "type": "number", "min": 0, "max": 88, "question": "How many keys?"},
        {"name": "phone", "title": "Phone", "type": "phone", "country": "GB", "question": "Which phone number?"},
    ],
    "confirmation": "Shall I book it?",
    "on_no": "ASK_WHAT_TO_CHANGE",
    "answer": "Booked.",
    "max_misses": 3,
}  # fmt: skip
PLAIN = {"piano": "upright", "place": "Leeds", "day": "tomorrow", "time": "10:30", "keys": "2"}


class Case(NamedTuple):
    """A message after the question of a field; what the model finds, by field; what the context then has."""

    name: str
    asked: str
    say: str
    #: By field, the words and what they mean.
    finds: dict[str, tuple[str, str]] | Says
    holds: dict[str, Any]
    offers: dict[str, Any] = {}
    #: Where the model decides: by field, the values that the prompt names as doubted.
    doubted: dict[str, list[Any]] = {}
    #: A service may be asked once more when it fails.
    requests: int = 1


FRIDAY, SATURDAY = "2026-11-27", "2026-11-28"
CHURCH, BRIDGE = ("the church", "the church"), ("Mill Lane", "Mill Lane")
CASES = (
    # What would be offered.
    Case("a supposed option", "piano", "maybe the harpsichord", {"piano": ("harpsichord", "Harpsichord")},
         {"piano": "harpsichord"}, doubted={"piano": ["Harpsichord"]}),
    Case("a supposed option in all its words", "piano", "perhaps the concert grand",
         {"piano": ("perhaps the concert grand", "Concert grand")}, {"piano": "grand"},
         doubted={"piano": ["Concert grand"]}),
    Case("a supposed day", "day", "maybe Friday", {"day": ("Friday", FRIDAY)}, {"day": FRIDAY},
         doubted={"day": [FRIDAY]}),
    Case("a day that suits somebody else", "day", "my brother is away until Thursday, Friday suits him",
         {"day": ("Friday", FRIDAY)}, {"day": FRIDAY}, doubted={"day": [FRIDAY]}),
    Case("a supposed time", "time", "maybe 3pm", {"time": ("maybe 3pm", "15:00")}, {"time": "15:00"},
         doubted={"time": ["15:00"]}),
    Case("a number among other words", "keys", "my son says 4 of them", {"keys": ("4 of them", "4")}, {"keys": 4},
         doubted={"keys": [4]}),
    Case("a supposed text", "place", "perhaps Otley", {"place": ("Otley", "Otley")}, {"place": "Otley"},
         doubted={"place": ["Otley"]}),
    Case("a supposed change of another field", "time", "perhaps harpsichord instead",
         {"piano": ("harpsichord", "Harpsichord")}, {"piano": "harpsichord"}, doubted={"piano": ["Harpsichord"]}),
    # What is chosen among pieces.
    Case("a part of the text", "place", "in the church near Wakefield", {"place": CHURCH},
         {"place": "church"}, doubted={"place": ["church near Wakefield"]}),
    Case("one of two pieces", "place",
         "Bridge Street for the upright, Mill Lane for the old one", {"place": BRIDGE}, {"place": "Mill Lane"},
         doubted={"place": ["Bridge Street"]}),
    Case("the same text", "place", "in the church near Wakefield", {"place": ("church near Wakefield",) * 2},
         {"place": "church near Wakefield"}, doubted={"place": ["church near Wakefield"]}),
    # What would be asked again.
    Case("one of two days", "day", "Friday or Saturday", {"day": ("Saturday", SATURDAY)}, {"day": SATURDAY},
         doubted={"day": [FRIDAY, SATURDAY]}),
    Case("one of two times by its meaning", "time", "3 or 4 pm", {"time": ("3 or 4 pm", "16:00")}, {"time": "16:00"},
         doubted={"time": ["15:00", "16:00"]}),
    Case("one of two options", "piano", "upright or harpsichord", {"piano": ("upright", "Upright")},
         {"piano": "upright"}, doubted={"piano": ["Upright", "Harpsichord"]}),
    Case("an unread answer", "keys", "Friday might be better", {"day": ("Friday", FRIDAY)}, {"day": "2026-11-24"},
         {"day": FRIDAY}),
    # What the model says does not hold.
    Case("words of another kind", "day", "maybe Friday", {"day": ("maybe", "blue")}, {}, {"day": FRIDAY}),
    Case("words that nobody said", "piano", "maybe the harpsichord", {"piano": ("grand", "Concert grand")}, {},
         {"piano": "harpsichord"}),
    Case("a value out of bounds", "keys", "my son says 4 of them, or 99", {"keys": ("99", "99")}, {}, {"keys": 4}),
    Case("a meaning that no table offers", "piano", "maybe the harpsichord", {"piano": ("maybe the", "Upright")}, {},
         {"piano": "upright"}),
    Case("nothing", "place", "in the church near Wakefield", {}, {"place": "church near Wakefield"}),
    Case("nothing for an offer", "time", "maybe 3pm", {}, {}, {"time": "15:00"}),
    Case("a service that fails", "day", "maybe Friday", Says("broken", 500), {}, {"day": FRIDAY}, requests=2),
    Case("no JSON", "place", "in the church near Wakefield", Says("the church"), {"place": "church near Wakefield"},
         requests=2),
)  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=[f"{case.asked}: {case.name}" for case in CASES])
def test_a_model_decides_what_the_tables_doubt(case: Case) -> None:
    with talk_beside_model(FLOW, make_answer(case)) as (caller, server):
        asked = caller.say("my piano needs tuning")
        while (field := asked["context"]["dialogue"]["asked_field"]) != case.asked:
            asked = caller.say(PLAIN[field])
        heard = caller.say(case.say)
        read = find_event(caller, list(PLAIN).index(case.asked) + 2, "FIELDS_READ")

    context = heard["context"]
    assert (len(server.requests), read["offered"]) == (case.requests, case.offers)
    assert {field: context.get(field) for field in case.holds} == case.holds
    if case.doubted:
        assert list_doubted(server.requests[0]) == case.doubted
        assert read["by"] == dict.fromkeys(case.holds, "MODEL")
        assert context["dialogue"]["echoed"] == list(case.holds)


def make_answer(case: Case) -> Says | dict[str, Any]:
    if isinstance(case.finds, Says):
        return case.finds
    return {"fields": {field: {"words": words, "means": means} for field, (words, means) in case.finds.items()}}


def list_doubted(request: dict[str, Any]) -> dict[str, Any]:
    """The values in doubt that a prompt names, by field."""
    prompt = json.loads(request["messages"][-1]["content"])
    return {field["name"]: field["candidates"] for field in prompt["fields"] if "candidates" in field}
