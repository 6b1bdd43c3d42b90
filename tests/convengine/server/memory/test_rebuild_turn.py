"""A committed turn is put together again by another process, and what is written after it stands once."""

import uuid
from typing import Any

import pytest

from audit.models import CeAudit, CeLlmCallLog
from audit.replay.replay import find_replay_difference
from config_admin.models import CeConfig
from convengine.engine.turn.turn import TurnRequest
from convengine.server.memory import after_commit
from convengine.server.memory.after_commit import write_summaries
from convengine.server.memory.rebuild_turn import rebuild_turn
from convengine.server.sessions.models import CeConversation, CeConversationHistory, CeMemory
from convengine.server.turns.take_turn import take_turn
from convengine.server.wiring import OutsideWorld, replace_outside_world
from tests.fakes.models import AnsweringModel
from tests.record import events
from tests.worlds import create_help_desk

pytestmark = [pytest.mark.django_db, pytest.mark.dialects]


@pytest.fixture
def talked(monkeypatch: pytest.MonkeyPatch) -> str:
    """A conversation of two turns whose summary is to be written by somebody else."""
    create_help_desk()
    for family, key, value in (
        ("DialogueActStep", "RESOLUTE", "REGEX_ONLY"),
        ("MemoryStep", "SUMMARY_MODE", "LLM"),
        ("MemoryStep", "RECENT_TURNS_FOR_SUMMARY", "0"),
    ):
        CeConfig.objects.create(config_type=family, config_key=key, config_value=value)
    key = str(uuid.uuid4())
    with replace_outside_world(OutsideWorld(model=AnsweringModel(["never"]))), monkeypatch.context() as patched:
        patched.setattr(after_commit, "_run_in_background", lambda turn, job: None)
        for text in ("hours", "fees"):
            take_turn(TurnRequest(key, text))
    return key


def test_it_has_what_the_turn_had(talked: str) -> None:
    again = rebuild_turn(talked)

    assert again
    assert (again.turn.turn_no, again.turn.request.message) == (2, "fees")
    assert (again.session.intent, again.session.user_text) == ("FEES", "fees")
    assert [exchange.user for exchange in again.session.history] == ["hours"]
    assert again.session.context["memory"]["session_summary"].startswith("intent=FEES")
    assert again.session.input_params["dialogue_act"]


def test_there_is_nothing_to_put_together_of_a_conversation_without_a_turn() -> None:
    assert rebuild_turn(str(uuid.uuid4())) is None


def test_a_worker_writes_the_summary_that_the_server_would_have_written(talked: str) -> None:
    model = AnsweringModel(["Hours, then fees."])
    with replace_outside_world(OutsideWorld(model=model)):
        write_summaries(talked, 2)

    branch = {"session_summary": "Hours, then fees.", "written_after_turn": 2}
    assert CeConversation.objects.get().context_json["memory"] == branch
    assert CeMemory.objects.get().summary_text == "Hours, then fees."
    turn_events = events(turn_no=2)
    assert [event.seq for event in turn_events] == list(range(1, len(turn_events) + 1))
    assert [event.stage for event in turn_events][-2:] == ["MEMORY_LLM_INPUT", "MEMORY_LLM_OUTPUT"]
    assert [find_replay_difference(turn) for turn in CeConversationHistory.objects.all()] == [None, None]


def test_a_message_that_comes_twice_is_done_once(talked: str) -> None:
    model = AnsweringModel(["Hours, then fees.", "again"])
    with replace_outside_world(OutsideWorld(model=model)):
        write_summaries(talked, 2)
        write_summaries(talked, 2)

    assert len(model.requests) == 1
    assert CeLlmCallLog.objects.count() == 1


def test_of_two_workers_at_once_one_writes(talked: str) -> None:
    class Both(AnsweringModel):
        def complete(self, request: Any) -> Any:
            answer = super().complete(request)
            if len(self.requests) == 1:
                write_summaries(talked, 2)
            return answer

    with replace_outside_world(OutsideWorld(model=Both(["mine", "theirs"]))):
        write_summaries(talked, 2)

    assert CeConversation.objects.get().context_json["memory"]["session_summary"] == "theirs"
    assert CeMemory.objects.get().summary_text == "theirs"
    faults = CeAudit.objects.filter(turn_no=2, stage="MEMORY_LLM_ERROR")
    assert [event.payload_json["errorCode"] for event in faults] == ["NEWER_TURN"]


def test_a_turn_that_is_not_the_newest_any_more_is_left(talked: str) -> None:
    model = AnsweringModel(["never"])
    with replace_outside_world(OutsideWorld(model=model)):
        write_summaries(talked, 1)

    assert not model.requests
