import uuid
from collections.abc import Callable
from typing import Any

import pytest

from audit.models import CeAudit
from audit.replay.replay import find_replay_difference
from config_admin.models import CeConfig, CeResponse
from convengine.engine.errors import InvalidResponseTransformer
from convengine.engine.pipeline.hooks import Hooks, StepHook
from convengine.engine.turn.payload import TextPayload
from convengine.engine.turn.session import Exchange, Session
from convengine.engine.turn.turn import TurnRequest
from convengine.server import wiring
from convengine.server.extensions.registry import Registry, transformer
from convengine.server.sessions.models import CeConversation, CeConversationHistory
from convengine.server.turns.answer import TurnAnswer
from convengine.server.turns.take_turn import take_turn
from convengine.server.wiring import OutsideWorld, replace_outside_world
from tests.worlds import create_help_desk

pytestmark = [pytest.mark.django_db, pytest.mark.dialects]


@pytest.fixture
def conversation_id() -> str:
    create_help_desk()
    return str(uuid.uuid4())


def say(conversation_id: str, text: str | None, **values: Any) -> TurnAnswer:
    answer = take_turn(TurnRequest(conversation_id, text, **values))
    assert isinstance(answer, TurnAnswer)
    return answer


def history(conversation_id: str) -> list[str]:
    """What the user said, as the next turn's prompts would have it."""
    return [turn.user for turn in say(conversation_id, "fees").session.history]


def test_P2_13_V1_the_newest_turns_come_the_oldest_of_them_first(conversation_id: str) -> None:
    CeConfig.objects.create(config_type="CONVERSATION_HISTORY", config_key="MAX_TURNS", config_value="2")
    for number in (1, 2, 3):
        say(conversation_id, f"hours {number}")

    assert history(conversation_id) == ["hours 2", "hours 3"]


def test_a_limit_that_was_raised_is_in_force_on_the_next_turn(conversation_id: str) -> None:
    row = CeConfig.objects.create(config_type="CONVERSATION_HISTORY", config_key="MAX_TURNS", config_value="1")
    for number in (1, 2, 3):
        say(conversation_id, f"hours {number}")
    row.config_value = "3"
    row.save()

    assert history(conversation_id) == ["hours 1", "hours 2", "hours 3"]


def test_P2_13_V5_a_turn_without_words_on_both_sides_is_left_out(conversation_id: str) -> None:
    CeResponse.objects.filter(intent_code="HOURS", state_code="IDLE").update(exact_text="")
    say(conversation_id, "hours")
    say(conversation_id, None)
    say(conversation_id, "fees")

    history = say(conversation_id, "fees").session.history
    assert history == (Exchange("fees", "No fees."),)


def test_P2_13_V6_turns_before_a_reset_are_not_returned(conversation_id: str) -> None:
    say(conversation_id, "hours 1")
    take_turn(TurnRequest(conversation_id, "hours 2", input_params={"reset": True}))
    say(conversation_id, "hours 3")

    assert history(conversation_id) == ["hours 2", "hours 3"]


class Footer:
    def transform(self, payload: Any, session: Any, input_params: Any) -> str:
        return f"{payload.value} [{session['intent']}]"


def test_what_a_transformer_made_of_the_answer_is_what_is_kept_and_a_replay_asks_it_nothing(
    conversation_id: str,
) -> None:
    registry = Registry()
    registry.response_transformers["FINAL"].append(transformer(Footer, "ANY", "ANY", (), InvalidResponseTransformer))
    with replace_outside_world(OutsideWorld(registry=registry)):
        answer = say(conversation_id, "hours")

    assert answer.payload == TextPayload("Nine to five. [HOURS]")
    assert CeConversation.objects.get().last_assistant_json == {"type": "TEXT", "value": "Nine to five. [HOURS]"}
    assert say(conversation_id, "fees").session.history[0].assistant == "Nine to five. [HOURS]"
    assert find_replay_difference(CeConversationHistory.objects.get(turn_no=1)) is None


# --- what a turn leaves in the row ------------------------------------------------------------------------------


def row_of(conversation_id: str) -> dict[str, Any]:
    return CeConversation.objects.values().get(pk=conversation_id)


def change_before_commit(monkeypatch: pytest.MonkeyPatch, change: Callable[[Session], Session]) -> None:
    """As if a step of a deployment's own had left the session like this."""

    class Changes(StepHook):
        def before_step(self, step_name: str, session: Session, turn: Any) -> Session:
            return change(session) if step_name == "PersistConversationStep" else session

    monkeypatch.setattr(wiring.engine(), "_hooks", Hooks([Changes()]))


@pytest.mark.amended("R26")
def test_P2_11_V1_a_turn_without_an_answer_changes_only_number_and_time(
    conversation_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    say(conversation_id, "hours")
    before = row_of(conversation_id)
    change_before_commit(monkeypatch, lambda session: session.evolve(payload=None))

    answer = say(conversation_id, "fees")

    after = row_of(conversation_id)
    assert answer.error is not None
    assert answer.error.code == "PIPELINE_NO_RESPONSE_PAYLOAD"
    assert {name for name in after if after[name] != before[name]} == {"last_turn_no", "last_message_at", "chain_head"}


def test_P2_11_V2_a_context_that_is_no_object_is_stored_as_if_it_had_been_empty(conversation_id: str) -> None:
    other = str(uuid.uuid4())
    for name in (conversation_id, other):
        say(name, "hours")
    CeConversation.objects.filter(pk=conversation_id).update(context_json="nonsense", input_params_json="nonsense")
    CeConversation.objects.filter(pk=other).update(context_json={}, input_params_json={})

    for name in (conversation_id, other):
        say(name, "fees")

    # Empty but for the branches that every turn leaves, one of which names its turn.
    contexts = [row_of(name)["context_json"] for name in (conversation_id, other)]
    for context in contexts:
        context["mcp"]["lifecycle"].pop("turnId")
    assert contexts[0] == contexts[1]
    assert row_of(conversation_id)["input_params_json"] == row_of(other)["input_params_json"] == {}
    assert CeAudit.objects.get(stage="CONTEXT_REPAIRED").conversation_id == uuid.UUID(conversation_id)


def test_P2_11_V3_an_answer_that_was_kept_as_bare_words_is_kept_as_a_document(conversation_id: str) -> None:
    CeConfig.objects.create(config_type="POLICY", config_key="BLOCK_IS_TERMINAL", config_value="true")
    say(conversation_id, "my cvv")
    CeConversation.objects.update(last_assistant_json="hello")

    assert say(conversation_id, "hours").payload == TextPayload("hello")
    assert row_of(conversation_id)["last_assistant_json"] == {"type": "TEXT", "value": "hello"}
    assert CeConversationHistory.objects.get(turn_no=2).assistant_output == {"type": "TEXT", "value": "hello"}


def test_P2_11_V4_only_lasting_params_are_in_the_row(conversation_id: str) -> None:
    say(conversation_id, "hours", input_params={"amount": 5, "tool_request": {"tool_code": "x.y"}})

    assert row_of(conversation_id)["input_params_json"] == {"amount": 5}


def test_P2_11_V6_a_state_that_a_rule_set_is_gone_with_the_turn_that_failed_after_it(
    conversation_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    say(conversation_id, "hours")
    before = row_of(conversation_id)

    def fails(*args: Any, **values: Any) -> str:
        raise RuntimeError("no memory")

    monkeypatch.setattr("convengine.engine.steps.memory.step.build_session_summary", fails)
    answer = say(conversation_id, "hours", input_params={"vip": True})

    after = row_of(conversation_id)
    assert answer.error is not None
    assert answer.session.state == "VIP"
    assert after["state_code"] == before["state_code"] == "IDLE"
    assert {name for name in after if after[name] != before[name]} == {"last_turn_no", "last_message_at", "chain_head"}
    assert CeConversationHistory.objects.get(turn_no=2).status == "FAILED"
    assert CeAudit.objects.filter(turn_no=2, stage="RULE_APPLIED (RulesStep)").exists()


def test_P2_11_V7_a_text_is_stored_without_what_no_database_takes(
    conversation_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    dirty = "a\x00b\ud800"
    change_before_commit(
        monkeypatch,
        lambda session: session.evolve(payload=TextPayload(dirty), context_summary=dirty).with_context({"note": dirty}),
    )

    assert say(conversation_id, f"hours {dirty}", input_params={"note": dirty}).error is None

    clean, row, turn = "a\ufffdb\ufffd", row_of(conversation_id), CeConversationHistory.objects.get()
    assert row["last_user_text"] == turn.user_input == f"hours {clean}"
    assert row["last_assistant_json"]["value"] == turn.assistant_output["value"] == clean
    assert row["context_json"]["note"] == row["input_params_json"]["note"] == row["context_summary"] == clean
