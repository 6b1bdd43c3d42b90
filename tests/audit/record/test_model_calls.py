"""The call log: written with the turn, whatever became of it."""

import uuid
from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest
from django.utils.module_loading import import_string

from audit.models import CeLlmCallLog
from audit.record.model_calls import sum_cost
from config_admin.models import CeConfig
from convengine.engine.llm.ask import ModelQuestion, ask
from convengine.engine.pipeline.engine import Engine
from convengine.engine.pipeline.order import DEFAULT_PIPELINE, order_steps
from convengine.engine.pipeline.step import Continue, Outcome, Step
from convengine.engine.turn.ports import LlmAnswer
from convengine.engine.turn.session import Session
from convengine.engine.turn.turn import Turn, TurnRequest
from convengine.server import wiring
from convengine.server.sessions.models import CeConversationHistory
from convengine.server.turns.answer import TurnAnswer
from convengine.server.turns.take_turn import take_turn
from convengine.server.wiring import OutsideWorld
from tests.fakes.models import AnsweringModel
from tests.worlds import create_help_desk

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.dialects]
QUESTION = ModelQuestion("RESPONSE_TEXT", "Be kind.", 'My card is 4111-1111, {"pin": 12}', {"pin": 99, "city": "Oslo"})
ANSWER = LlmAnswer('{"pin": 12}', "desk", "small", input_tokens=40, output_tokens=10, latency_ms=600, cost=0.000125)
FAILED = LlmAnswer(provider="desk", model="small", latency_ms=7, error_code="LLM_TIMEOUT", error_message="too slow")


class AskingStep(Step):
    """Asks the model once a turn, and fails the turn where it gets no answer."""

    after = ("GuardrailStep",)
    before = ("IntentResolutionStep",)

    def execute(self, session: Session, turn: Turn) -> Outcome:
        if error := ask(session, turn, QUESTION).error:
            raise error.error()
        return Continue(session)


@pytest.fixture(autouse=True)
def _asking(monkeypatch: pytest.MonkeyPatch) -> None:
    create_help_desk()
    # The only question of a turn is the step's own.
    CeConfig.objects.create(config_type="DialogueActStep", config_key="RESOLUTE", config_value="REGEX_ONLY")
    steps = order_steps([*(import_string(path)() for path in DEFAULT_PIPELINE), AskingStep()])
    monkeypatch.setattr(wiring, "engine", lambda: Engine(steps))


def turn_with(*answers: LlmAnswer) -> tuple[TurnAnswer, Sequence[CeLlmCallLog]]:
    with wiring.replace_outside_world(OutsideWorld(model=AnsweringModel(answers))):
        answer = take_turn(TurnRequest(str(uuid.uuid4()), "hours"))
    assert isinstance(answer, TurnAnswer)
    return answer, CeLlmCallLog.objects.filter(conversation_id=answer.conversation_id).order_by("llm_call_id")


def test_P2_15_2_V1_V6_a_call_leaves_one_row() -> None:
    answer, (row,) = turn_with(ANSWER)

    assert (row.success, row.response_text, row.error_message) == (True, '{"pin": 12}', None)
    assert (row.intent_code, row.state_code) == ("UNKNOWN", "UNKNOWN")
    assert (row.provider, row.model, row.purpose, row.attempt) == ("desk", "small", "RESPONSE_TEXT", 1)
    assert (row.input_tokens, row.output_tokens, row.latency_ms) == (40, 10, 600)
    assert (row.temperature, row.cost) == (Decimal("0.30"), Decimal("0.000125"))
    assert row.prompt_text.startswith("Be kind.\n\nMy card")
    assert row.user_context == '{"pin":99,"city":"Oslo"}'
    assert (str(row.turn_id), row.turn_no, row.config_version) == (answer.turn_id, 1, answer.config_version)
    record = CeConversationHistory.objects.get(turn_id=answer.turn_id)
    assert 0 <= (row.created_at - record.created_at).total_seconds() < 30


def test_P2_15_2_V2_a_turn_that_fails_leaves_every_try() -> None:
    answer, rows = turn_with(replace(FAILED, earlier=(FAILED,)))

    assert answer.error is not None
    assert (answer.error.code, answer.error.recoverable) == ("LLM_TIMEOUT", True)
    assert [(row.success, row.attempt, row.error_message) for row in rows] == [
        (False, 1, "LLM_TIMEOUT: too slow"),
        (False, 2, "LLM_TIMEOUT: too slow"),
    ]


def test_step_by_step_they_are_written_once() -> None:
    CeConfig.objects.create(config_type="AUDIT", config_key="FLUSH", config_value="STEP")
    _, rows = turn_with(ANSWER)

    assert len(rows) == 1


def test_a_turn_without_a_model_writes_nothing() -> None:
    answer = take_turn(TurnRequest(str(uuid.uuid4()), "hours"))

    assert isinstance(answer, TurnAnswer)
    assert not CeLlmCallLog.objects.exists()


def setting(name: str, value: str) -> Any:
    type_, _, key = name.partition("/")
    return CeConfig.objects.create(config_type=type_, config_key=key, config_value=value)


def test_without_log_prompts_only_lengths_and_digests_are_kept() -> None:
    setting("LLM/LOG_PROMPTS", "false")
    _, (row,) = turn_with(ANSWER)

    for kept in (row.prompt_text, row.user_context, row.response_text):
        assert kept.startswith("[not kept: ")
        assert "sha256" in kept
    assert row.output_tokens == 10


def test_what_the_rules_name_is_masked() -> None:
    setting("AUDIT/REDACT_KEYS", "PIN")
    setting("LLM/REDACT_PATTERNS", r"\d{4}-\d{4}")
    _, (row,) = turn_with(ANSWER)

    assert row.prompt_text == 'Be kind.\n\nMy card is ***, {"pin":"***"}'
    assert row.user_context == '{"pin":"***","city":"Oslo"}'
    assert row.response_text == '{"pin":"***"}'


def test_a_text_that_no_database_takes_is_cleaned() -> None:
    _, (row,) = turn_with(replace(ANSWER, text="a\x00b\ud800"))

    assert row.response_text == "a\ufffdb\ufffd"


def test_what_a_conversation_has_cost_is_the_sum_of_its_calls() -> None:
    answer, _ = turn_with(ANSWER)

    assert sum_cost(answer.conversation_id) == pytest.approx(0.000125)
    assert sum_cost(str(uuid.uuid4())) == 0
