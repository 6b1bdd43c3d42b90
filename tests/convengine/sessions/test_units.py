"""Session units: staged in the turn, committed with it, dropped if it fails (sessions 8)."""

from typing import Any

import pytest

from config_admin.models import CeOutputSchema, CeResponse
from convengine.memory.units import Unit
from convengine.sessions.models import CeSessionUnit
from tests.threads import Participant, row_of, travel_desk

pytestmark = pytest.mark.django_db


@pytest.fixture
def guest() -> Participant:
    travel_desk()
    CeOutputSchema.objects.create(
        intent_code="VISA",
        state_code="ANY",
        json_schema={
            "type": "object",
            "properties": {
                "email": {"type": "string", "format": "email"},
                "country": {"type": "string", "enum": ["Japan", "Chile"]},
            },
            "required": ["email", "country"],
        },
    )
    CeResponse.objects.filter(intent_code="VISA").update(
        exact_text="{% for unit in session_units %}{{ unit.topic }}={{ unit.claim }};{% endfor %}"
    )
    return Participant()


def kept() -> list[tuple[str, str, str, int]]:
    return list(CeSessionUnit.objects.order_by("unit_id").values_list("kind", "topic", "claim", "source_turn"))


def test_facts_of_the_form_are_units(guest: Participant) -> None:
    guest.say("a visa")
    answer = guest.say("my mail is ann@example.com")

    assert kept() == [("FACT", "email", "ann@example.com", 2)]
    units = guest.call("get", f"/{answer['session_id']}/units").json()["units"]
    assert [(unit["topic"], unit["claim"], unit["utility"], unit["phases"]) for unit in units] == [
        ("email", "ann@example.com", [], [])
    ]


def test_later_turns_see_them_in_templates(guest: Participant) -> None:
    guest.say("a visa, ann@example.com")

    answer = guest.say("Japan")

    assert answer["reply"] == "email=ann@example.com;"
    assert guest.say("thanks?")["reply"] == "email=ann@example.com;country=Japan;"


def test_what_was_said_before_is_stored_once(guest: Participant) -> None:
    guest.say("a visa, ann@example.com")
    guest.say("I said ann@example.com")

    assert kept() == [("FACT", "email", "ann@example.com", 1)]


def test_a_turn_that_fails_drops_them(guest: Participant) -> None:
    CeResponse.objects.filter(intent_code="VISA").delete()

    answer = guest.say("a visa, ann@example.com")

    assert answer["ok"] is False
    assert kept() == []


def test_a_reset_clears_them(guest: Participant) -> None:
    from tests.api import Caller

    caller = Caller(guest.secret)
    caller.say("a visa, ann@example.com")
    assert len(kept()) == 1

    answer: Any = caller.say("reset")

    assert kept() == []
    assert "session_units" not in answer["context"]


def test_an_ordinary_turn_writes_none(guest: Participant) -> None:
    assert "session_units" not in row_of(guest.say("hours")).context_json


def test_the_hash_is_of_kind_topic_and_claim_normalised() -> None:
    one = Unit("FACT", "Country", "JAPAN ", 1).content_hash

    assert one == Unit("FACT", "country", "japan", 9).content_hash
    assert one != Unit("GUIDANCE", "country", "japan", 1).content_hash
