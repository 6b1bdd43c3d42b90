"""Summaries by a model: after the answer, beside the conversation's next turn, in the same trail."""

import threading
import uuid
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.db import connection

from audit.models import CeAudit, CeLlmCallLog
from audit.replay.replay import find_replay_difference
from config_admin.models import CeConfig
from convengine.engine.turn.ports import LlmAnswer, LlmRequest
from convengine.engine.turn.turn import TurnRequest
from convengine.server import wiring
from convengine.server.jobs.background import background
from convengine.server.sessions.models import CeConversation, CeConversationHistory, CeMemory
from convengine.server.turns.answer import TurnAnswer
from convengine.server.turns.take_turn import take_turn
from convengine.server.wiring import OutsideWorld, replace_outside_world
from tests.fakes.models import AnsweringModel
from tests.worlds import create_help_desk

pytestmark = pytest.mark.dialects

DOWN = LlmAnswer(error_code="LLM_CALL_FAILED", error_message="503")
LINES = "GOAL: Hours\nENTITIES: none\nDECISIONS: none\nPENDING: none"


def setting(name: str, value: str) -> None:
    family, _, key = name.partition("/")
    CeConfig.objects.create(config_type=family, config_key=key, config_value=value)


def say(conversation_id: str, text: str = "hours") -> TurnAnswer:
    answer = take_turn(TurnRequest(conversation_id, text))
    assert isinstance(answer, TurnAnswer)
    return answer


def list_stages(turn_no: int) -> list[str]:
    rows = CeAudit.objects.filter(turn_no=turn_no).order_by("seq")
    return [row.stage for row in rows if row.stage.startswith("MEMORY_LLM")]


@pytest.fixture
def memory_by_model() -> None:
    create_help_desk()
    setting("DialogueActStep/RESOLUTE", "REGEX_ONLY")
    setting("MemoryStep/SUMMARY_MODE", "LLM")
    setting("MemoryStep/RECENT_TURNS_FOR_SUMMARY", "0")


@pytest.mark.django_db
@pytest.mark.usefixtures("memory_by_model")
class TestAtOnce:
    """Inside somebody's transaction, as these tests are, the writing waits for nothing."""

    def test_it_is_in_the_row_the_memory_and_the_trail(self) -> None:
        key = str(uuid.uuid4())
        with replace_outside_world(OutsideWorld(model=AnsweringModel(["Asked for the hours."]))):
            say(key)
            assert not CeLlmCallLog.objects.exists()
            say(key)

        row, memory_row = CeConversation.objects.get(), CeMemory.objects.get()
        branch = {"session_summary": "Asked for the hours.", "written_after_turn": 2}
        assert row.context_json["memory"] == branch
        assert (memory_row.summary_text, memory_row.source, memory_row.to_turn) == ("Asked for the hours.", "LLM", 2)
        assert (list_stages(1), list_stages(2)) == ([], ["MEMORY_LLM_INPUT", "MEMORY_LLM_OUTPUT"])
        assert [(call.purpose, call.turn_no) for call in CeLlmCallLog.objects.all()] == [("MEMORY", 2)]

    def test_what_fits_a_pattern_is_written_by_no_model_either(self) -> None:
        setting("AUDIT/REDACT_PATTERNS", r"4111\d+")
        setting("Session/SUMMARY_WITH_LLM", "true")
        summary = LINES.replace("ENTITIES: none", "ENTITIES: card 41112222")
        key = str(uuid.uuid4())
        with replace_outside_world(OutsideWorld(model=AnsweringModel([summary, "Has the card 41112222.", summary]))):
            say(key)
            say(key)

        row, memory_row = CeConversation.objects.get(), CeMemory.objects.get()
        assert memory_row.summary_text == "Has the card ***."
        assert "ENTITIES: card ***" in row.context_summary
        # What the next prompts see.
        assert row.context_json["memory"]["session_summary"] == "Has the card 41112222."

    def test_it_stands_for_the_next_turns(self) -> None:
        key = str(uuid.uuid4())
        with replace_outside_world(OutsideWorld(model=AnsweringModel(["Asked for the hours.", "never"]))):
            for _ in range(3):
                say(key)

        memory_row = CeMemory.objects.get()
        assert (memory_row.summary_text, memory_row.source, memory_row.to_turn) == ("Asked for the hours.", "LLM", 3)
        assert CeConversation.objects.get().context_json["memory"]["written_after_turn"] == 2

    def test_each_turn_replays_equal(self) -> None:
        key = str(uuid.uuid4())
        with replace_outside_world(OutsideWorld(model=AnsweringModel(["Asked for the hours."]))):
            for _ in range(3):
                say(key)

        assert [find_replay_difference(turn) for turn in CeConversationHistory.objects.all()] == [None] * 3

    def test_a_model_that_is_out_is_told_and_changes_nothing(self) -> None:
        key = str(uuid.uuid4())
        with replace_outside_world(OutsideWorld(model=AnsweringModel([DOWN]))):
            say(key)
            say(key)

        row = CeConversation.objects.get()
        assert row.context_json["memory"]["session_summary"].startswith("intent=HOURS")
        assert list_stages(2) == ["MEMORY_LLM_INPUT", "MEMORY_LLM_ERROR"]
        assert CeLlmCallLog.objects.get().success is False
        assert find_replay_difference(CeConversationHistory.objects.get(turn_no=2)) is None

    def test_the_context_summary_too(self) -> None:
        setting("Session/SUMMARY_WITH_LLM", "true")
        key = str(uuid.uuid4())
        with replace_outside_world(OutsideWorld(model=AnsweringModel([LINES]))):
            say(key)

        assert CeConversation.objects.get().context_summary == f"{LINES}\nTURNS: 1"

    def test_a_turn_that_is_blocked_is_not_summed_up(self) -> None:
        setting("Session/SUMMARY_WITH_LLM", "true")
        with replace_outside_world(OutsideWorld(model=AnsweringModel([LINES]))):
            say(str(uuid.uuid4()), "my cvv")

        assert not CeLlmCallLog.objects.exists()


class SlowModel(AnsweringModel):
    """Answers when it is let go; what happens meanwhile is the test's."""

    meanwhile: Callable[[], None] | None = None
    held: bool | None = None

    def complete(self, request: LlmRequest) -> LlmAnswer:
        self.thread = threading.current_thread().name
        self.held = connection.in_atomic_block
        if self.meanwhile:
            meanwhile, self.meanwhile = self.meanwhile, None
            meanwhile()
        return super().complete(request)


@pytest.mark.django_db(transaction=True)
class TestInTheBackground:
    """As a deployment does it."""

    @pytest.fixture(autouse=True)
    def model(self, monkeypatch: pytest.MonkeyPatch, memory_by_model: None) -> Iterator[SlowModel]:
        model = SlowModel(["Asked for the hours."])
        monkeypatch.setattr(wiring, "OutsideWorld", lambda: OutsideWorld(model=model))
        yield model
        background.finish()

    def test_another_thread_writes_it_outside_of_any_transaction(self, model: Any) -> None:
        key = str(uuid.uuid4())
        say(key)
        say(key)
        background.finish()

        assert model.thread.startswith("background-")
        assert model.held is False
        assert CeConversation.objects.get().context_json["memory"]["session_summary"] == "Asked for the hours."
        assert list_stages(2) == ["MEMORY_LLM_INPUT", "MEMORY_LLM_OUTPUT"]

    def test_a_newer_turn_is_never_overwritten(self, model: Any) -> None:
        key = str(uuid.uuid4())
        say(key)
        model.meanwhile = lambda: take_turn(TurnRequest(key, "fees"))
        say(key)
        background.finish()

        assert list_stages(2) == ["MEMORY_LLM_INPUT", "MEMORY_LLM_OUTPUT", "MEMORY_LLM_ERROR"]
        error_event = CeAudit.objects.get(turn_no=2, stage="MEMORY_LLM_ERROR")
        assert error_event.payload_json["errorCode"] == "NEWER_TURN"
        row = CeConversation.objects.get()
        assert (row.intent_code, row.last_turn_no, row.turn_count) == ("FEES", 3, 3)
        assert row.context_json["memory"]["written_after_turn"] == 3
        assert CeLlmCallLog.objects.filter(turn_no=2).count() == 1
