import json
import uuid
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from audit.replay.replay import find_replay_difference
from config_admin.models import CeConfig, CeOutputSchema, CeResponse
from convengine.engine.llm.scripted import ScriptedModel, ScriptLine
from convengine.engine.memory.units import MemoryUnit
from convengine.engine.turn.conversation import Conversation
from convengine.engine.turn.turn import TurnRequest
from convengine.server import wiring
from convengine.server.extensions.registry import Registry
from convengine.server.memory.session_memory import recall_previous_session
from convengine.server.sessions.models import CeConversation, CeConversationHistory, CeMemory, CeSessionUnit
from convengine.server.turns.answer import TurnAnswer
from convengine.server.turns.take_turn import take_turn
from convengine.server.wiring import OutsideWorld, replace_outside_world
from tests.threads import Participant, row_of, setting, travel_desk
from tests.worlds import create_help_desk

pytestmark = [pytest.mark.django_db, pytest.mark.dialects]


@pytest.fixture
def conversation_id() -> str:
    create_help_desk()
    return str(uuid.uuid4())


def say(conversation_id: str, text: str = "hours", **values: Any) -> TurnAnswer:
    answer = take_turn(TurnRequest(conversation_id, text, **values))
    assert isinstance(answer, TurnAnswer)
    return answer


def test_P2_10_2_V7_the_summary_is_in_the_row_after_the_turn(conversation_id: str) -> None:
    say(conversation_id)

    row = CeConversation.objects.get()
    assert (
        row.context_json["memory"]["session_summary"] == "intent=HOURS, state=IDLE, user=hours, response=Nine to five."
    )
    assert row.context_summary.split("\n")[0] == "GOAL: Hours: hours"
    assert row.context_summary.endswith("TURNS: 1")


def test_a_conversation_has_one_rolling_summary(conversation_id: str) -> None:
    say(conversation_id)
    say(conversation_id, "fees")

    memory_row = CeMemory.objects.get()
    assert (memory_row.memory_type, memory_row.source, memory_row.from_turn, memory_row.to_turn) == (
        "SESSION_SUMMARY",
        "TEMPLATE",
        1,
        2,
    )
    assert memory_row.summary_text == CeConversation.objects.get().context_json["memory"]["session_summary"]
    assert (memory_row.workspace_id, memory_row.channel, memory_row.remote_jid) == ("default", "api", conversation_id)


def test_a_reset_begins_a_new_summary_that_knows_nothing_of_before(conversation_id: str) -> None:
    say(conversation_id)
    say(conversation_id, "fees", input_params={"reset": True})

    memory_row = CeMemory.objects.get()
    assert (memory_row.from_turn, memory_row.to_turn) == (2, 2)
    assert "hours" not in memory_row.summary_text
    assert "hours" not in CeConversation.objects.get().context_summary.lower()


def test_a_turn_that_is_blocked_or_fails_keeps_nothing(conversation_id: str) -> None:
    say(conversation_id, "my cvv")

    assert not CeMemory.objects.exists()


def test_switched_off_nothing_is_kept(conversation_id: str) -> None:
    CeConfig.objects.create(config_type="MemoryStep", config_key="ENABLED", config_value="false")

    assert "memory" not in say(conversation_id).session.context
    assert not CeMemory.objects.exists()
    assert CeConversation.objects.get().context_summary.endswith("TURNS: 1")


def test_the_next_turn_remembers_the_last(conversation_id: str) -> None:
    first = say(conversation_id)

    second = say(conversation_id, "fees")

    assert second.session.input_params["memory_recall"] == first.session.context["memory"]["session_summary"]
    assert second.session.input_params["previousTurn"].keys().isdisjoint({"memory_recall", "memory_session_summary"})


def make_ended_session(remote_jid: str, summary: str) -> None:
    """An earlier session of the thread, ended and compacted."""
    row = CeConversation.objects.create(
        conversation_id=uuid.uuid4(), channel="sms", remote_jid=remote_jid, lifecycle="COMPLETE", compacted_version=0
    )
    CeMemory.objects.create(
        conversation=row, memory_type="COMPACTED", workspace_id="default", channel="sms", remote_jid=remote_jid,
        summary_text=summary, from_turn=1, to_turn=5,
    )  # fmt: skip


def test_what_an_earlier_session_of_the_thread_left_is_recalled(conversation_id: str) -> None:
    make_ended_session("+49", "first")
    make_ended_session("+49", "second")
    make_ended_session("+50", "foreign")
    row = Conversation(conversation_id, channel="sms", remote_jid="+49")

    assert recall_previous_session(row) == "second"
    assert recall_previous_session(Conversation(conversation_id, channel="sms", remote_jid="+51")) is None


def test_what_was_left_is_recalled_although_the_first_turn_failed() -> None:
    travel_desk()
    guest = Participant(channel="sms")
    make_ended_session(guest.remote_jid, "the trip")
    CeResponse.objects.filter(intent_code="HOURS").delete()
    assert not guest.say("hours")["ok"]

    row = row_of(guest.say("a visa"))

    assert (row.turn_count, row.context_json["memory"]["recalled_summary"]) == (1, "the trip")


def test_what_was_left_is_recalled_although_the_first_turn_was_handled_elsewhere() -> None:
    travel_desk()
    guest = Participant(channel="sms")
    make_ended_session(guest.remote_jid, "the trip")
    answer = guest.resolve()
    guest.call("patch", f"/{answer['session_id']}", {"user_message": "a", "assistant_response": "b"})

    row = row_of(guest.say("a visa"))

    assert (row.turn_count, row.context_json["memory"]["recalled_summary"]) == (2, "the trip")


def test_a_session_that_cannot_be_compacted_keeps_nobody_from_the_next() -> None:
    travel_desk()
    guest = Participant()
    first = guest.say("a trip")
    guest.say("looks good")
    CeConversation.objects.filter(pk=first["session_id"]).update(lifecycle_detail=["unreadable"])

    answers = [guest.say("hours"), guest.say("hours?")]

    assert [answer["ok"] for answer in answers] == [True, True]


def test_a_thread_of_one_conversation_is_not_searched(conversation_id: str) -> None:
    with CaptureQueriesContext(connection) as captured:
        assert recall_previous_session(Conversation(conversation_id, remote_jid=conversation_id)) is None
        say(conversation_id)
        say(conversation_id)

    assert not any("COMPACTED" in query["sql"] for query in captured)


class Notes:
    """A store in memory."""

    def __init__(self) -> None:
        self.text = "likes tea"

    def read(self, session: Any) -> str | None:
        return self.text

    def write(self, session: Any, summary: str) -> None:
        self.text = summary


def test_a_registered_store_is_heard_and_a_replay_asks_it_nothing(conversation_id: str) -> None:
    notes = Notes()
    with replace_outside_world(OutsideWorld(registry=Registry(memory_stores={"notes": notes}))):
        first = say(conversation_id)
    written = notes.text
    notes.text = "changed since"

    assert first.session.input_params["memory_recall"] == "likes tea"
    assert first.session.context["memory"] == {"session_summary": written, "recalled_summary": "likes tea"}
    assert find_replay_difference(CeConversationHistory.objects.get()) is None
    assert notes.text == "changed since"


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
    CeResponse.objects.filter(intent_code="VISA").update(response_type="DERIVED", exact_text="")

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
    content_hash = MemoryUnit("FACT", "Country", "JAPAN ", 1).content_hash

    assert content_hash == MemoryUnit("FACT", "country", "japan", 9).content_hash
    assert content_hash != MemoryUnit("GUIDANCE", "country", "japan", 1).content_hash


def make_notes(*notes: tuple[str, str, str]) -> str:
    made = [{"kind": k, "topic": t, "claim": c, "utility": ["price"], "phases": ["offer"]} for k, t, c in notes]
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
