"""Session units: staged in the turn, committed with it, dropped if it fails (sessions 8)."""

import json
from typing import Any

import pytest

from audit.replay.replay import find_replay_difference
from config_admin.models import CeOutputSchema, CeResponse
from convengine.engine.llm.scripted import ScriptedModel, ScriptLine
from convengine.engine.memory.units import Unit
from convengine.server import wiring
from convengine.server.sessions.models import CeSessionUnit
from tests.threads import Participant, row_of, setting, travel_desk

pytestmark = [pytest.mark.django_db, pytest.mark.dialects]


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


def list_units() -> list[tuple[str, str, str, int]]:
    return list(CeSessionUnit.objects.order_by("unit_id").values_list("kind", "topic", "claim", "source_turn"))


def test_facts_of_the_form_are_units(guest: Participant) -> None:
    guest.say("a visa")
    answer = guest.say("my mail is ann@example.com")

    assert list_units() == [("FACT", "email", "ann@example.com", 2)]
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

    assert list_units() == [("FACT", "email", "ann@example.com", 1)]


def test_a_turn_that_fails_drops_them(guest: Participant) -> None:
    CeResponse.objects.filter(intent_code="VISA").delete()

    answer = guest.say("a visa, ann@example.com")

    assert answer["ok"] is False
    assert list_units() == []


def test_a_reset_clears_them(guest: Participant) -> None:
    from tests.api import Caller

    caller = Caller(guest.secret)
    caller.say("a visa, ann@example.com")
    assert len(list_units()) == 1

    answer: Any = caller.say("reset")

    assert list_units() == []
    assert "session_units" not in answer["context"]


def test_a_reset_clears_them_also_where_its_turn_fails(guest: Participant) -> None:
    guest.say("a visa, ann@example.com")
    CeResponse.objects.filter(intent_code="HOURS").delete()

    answer = guest.say("hours", input_params={"reset": True})

    assert answer["ok"] is False
    assert list_units() == []


def test_what_is_said_again_with_a_reset_is_kept(guest: Participant) -> None:
    guest.say("a visa, ann@example.com")

    guest.say("a visa, ann@example.com", input_params={"reset": True})

    assert list_units() == [("FACT", "email", "ann@example.com", 2)]


def test_an_ordinary_turn_writes_none(guest: Participant) -> None:
    assert "session_units" not in row_of(guest.say("hours")).context_json


def test_the_hash_is_of_kind_topic_and_claim_normalised() -> None:
    one = Unit("FACT", "Country", "JAPAN ", 1).content_hash

    assert one == Unit("FACT", "country", "japan", 9).content_hash
    assert one != Unit("GUIDANCE", "country", "japan", 1).content_hash


def make_notes(*found: tuple[str, str, str]) -> str:
    made = [{"kind": k, "topic": t, "claim": c, "utility": ["price"], "phases": ["offer"]} for k, t, c in found]
    return json.dumps({"units": made})


def test_what_a_model_notes_is_committed_with_the_turn_once_and_replays(guest: Participant) -> None:
    setting("UNITS_PROMPT", "{{ user_input }}")
    budget = ("CONSTRAINT", "budget", "At most 900 euros.")
    script = [
        ScriptLine(("UNITS",), make_notes(budget), times=1),
        ScriptLine(("UNITS",), make_notes(budget, ("DEFINITION", "a", "b"))),
    ]
    with wiring.replace_outside_world(wiring.OutsideWorld(model=ScriptedModel(script))):
        first = guest.say("hours, it may cost 900")
        second = guest.say("hours again")

    assert list_units() == [(*budget, 1), ("DEFINITION", "a", "b", 2)]
    unit = guest.call("get", f"/{first['session_id']}/units").json()["units"][0]
    assert (unit["utility"], unit["phases"]) == (["price"], ["offer"])
    for turn in row_of(second).turns.all():
        assert find_replay_difference(turn) is None


def test_a_turn_that_fails_drops_what_a_model_noted(guest: Participant, monkeypatch: pytest.MonkeyPatch) -> None:
    setting("UNITS_PROMPT", "{{ user_input }}")

    def fail(*args: Any, **values: Any) -> Any:
        raise ValueError("broken behind the memory step")

    monkeypatch.setattr("convengine.engine.steps.conversation.step.apply_end_of_turn", fail)
    with wiring.replace_outside_world(
        wiring.OutsideWorld(model=ScriptedModel([ScriptLine(("UNITS",), make_notes(("FACT", "a", "b")))]))
    ):
        answer = guest.say("hours")

    assert answer["ok"] is False
    assert list_units() == []


def test_a_model_that_is_out_notes_nothing_and_the_turn_goes_on(guest: Participant) -> None:
    setting("UNITS_PROMPT", "{{ user_input }}")
    with wiring.replace_outside_world(wiring.OutsideWorld(model=ScriptedModel([]))):
        answer = guest.say("hours")

    assert (answer["ok"], list_units()) == (True, [])
    assert guest.stages(answer, "SESSION_UNITS_LLM_ERROR")[0]["errorCode"] == "LLM_CALL_FAILED"


def test_what_fits_a_pattern_is_masked_in_the_table_and_stays_for_later_turns(guest: Participant) -> None:
    setting("AUDIT/REDACT_PATTERNS", "[a-z]+@[a-z.]+")
    guest.say("a visa")
    answer = guest.say("my mail is ann@example.com")
    later = guest.say("Japan")

    assert list_units()[0] == ("FACT", "email", "***", 2)
    row = row_of(answer)
    assert row.context_json["email"] == "ann@example.com"
    assert "email=ann@example.com;" in later["reply"]
