"""Asking a model whether a message is about another topic (sessions 4, row 8)."""

from typing import Any

import pytest
from django.db import connection

from audit.models import CeLlmCallLog
from convengine.engine.turn.ports import LlmAnswer, LlmRequest
from convengine.server.interfaces.configuration import configuration
from convengine.server.sessions.models import CeConversation
from convengine.server.threads.topic_drift import is_another_topic
from convengine.server.wiring import OutsideWorld, replace_outside_world
from tests.convengine.server.threads.sessions import session
from tests.fakes.models import AnsweringModel
from tests.threads import setting

pytestmark = [pytest.mark.django_db, pytest.mark.dialects]
SURE = '{"otherTopic": true, "confidence": 0.9}'
DOWN = LlmAnswer(error_code="LLM_CALL_FAILED", error_message="503")


def detect(row: CeConversation, message: str | None, *answers: Any, configured: bool = True) -> tuple[bool, Any]:
    """What is found, and the model that was or was not asked."""
    model = AnsweringModel(answers or [SURE], configured=configured)
    with replace_outside_world(OutsideWorld(model=model)):
        return is_another_topic(configuration().current(), str(row.pk), message), model


@pytest.fixture
def wanted() -> None:
    setting("ENABLE_DRIFT_CLASSIFIER", "true")


def test_nobody_is_asked_where_nobody_wants_it() -> None:
    drifted, model = detect(session(), "my roof leaks")

    assert (drifted, model.requests) == (False, [])


@pytest.mark.usefixtures("wanted")
@pytest.mark.parametrize(
    ("summary", "message", "configured"),
    [("GOAL: Trip", None, True), ("GOAL: Trip", "  ", True), ("", "my roof leaks", True), ("GOAL: Trip", "hi", False)],
)
def test_nobody_is_asked_without_words_without_a_past_and_without_a_model(
    summary: str, message: str | None, configured: bool
) -> None:
    drifted, model = detect(session(context_summary=summary), message, configured=configured)

    assert (drifted, model.requests) == (False, [])


@pytest.mark.usefixtures("wanted")
def test_the_model_is_shown_the_summary_and_the_message_and_the_call_is_logged() -> None:
    row = session()

    drifted, model = detect(row, "my roof leaks")

    assert drifted
    (request,) = model.requests
    assert request.purpose == "DRIFT"
    assert "Cancel the order" in request.user
    assert "my roof leaks" in request.user
    call = CeLlmCallLog.objects.get()
    assert (call.conversation_id, call.purpose, call.success) == (row.pk, "DRIFT", True)


@pytest.mark.usefixtures("wanted")
@pytest.mark.parametrize(
    "answer",
    [
        DOWN,
        "no JSON",
        "[]",
        '{"otherTopic": "true", "confidence": 1}',
        '{"otherTopic": true}',
        '{"otherTopic": true, "confidence": "very"}',
        '{"otherTopic": true, "confidence": 0.79}',
        '{"otherTopic": false, "confidence": 1}',
    ],
)
def test_a_fault_and_a_doubt_are_no_change_of_topic(answer: Any) -> None:
    assert detect(session(), "my roof leaks", answer)[0] is False


@pytest.mark.usefixtures("wanted")
def test_how_sure_it_must_be_is_a_setting() -> None:
    setting("DRIFT_MIN_CONFIDENCE", "0.95")

    assert detect(session(), "my roof leaks")[0] is False


class Looking(AnsweringModel):
    """Notes whether a transaction is open while it is asked."""

    held: bool | None = None

    def complete(self, request: LlmRequest) -> LlmAnswer:
        self.held = connection.in_atomic_block
        return super().complete(request)


@pytest.mark.django_db(transaction=True)
def test_no_transaction_is_open_meanwhile() -> None:
    setting("ENABLE_DRIFT_CLASSIFIER", "true")
    row, model = session(), Looking([SURE])

    with replace_outside_world(OutsideWorld(model=model)):
        assert is_another_topic(configuration().current(), str(row.pk), "my roof leaks")

    assert model.held is False
