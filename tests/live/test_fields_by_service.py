"""A form filled over HTTP by a model service, and what becomes of it when the service misbehaves."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from audit.models import CeAudit, CeLlmCallLog
from audit.replay.replay import find_replay_difference
from config_admin import models as m
from config_admin.releases.change_set import change_set
from convengine.server import wiring
from convengine.server.model_clients.connections import read_connections
from convengine.server.sessions.models import CeConversation, CeConversationHistory
from convengine.server.wiring import OutsideWorld
from tests.api import Caller
from tests.fakes.openai_server import ModelServer, Says, model_server
from tests.live.configuration import configure

pytestmark = pytest.mark.django_db(transaction=True)
SCHEMA = {
    "type": "object",
    "properties": {"amount": {"type": "number"}, "city": {"type": "string", "enum": ["Dallas", "Irving"]}},
    "required": ["amount", "city"],
}


@pytest.fixture(autouse=True)
def form() -> None:
    with change_set(reason="a form"):
        m.CeResponse.objects.all().delete()
        m.CeIntent.objects.create(intent_code="LOAN", description="loans")
        scope = {"intent_code": "LOAN", "state_code": "GATE"}
        m.CeIntentClassifier.objects.create(**scope, rule_type="CONTAINS", pattern="loan")
        m.CeOutputSchema.objects.create(**scope, json_schema=SCHEMA)
        m.CePromptTemplate.objects.create(
            **scope, response_type="SCHEMA_JSON", system_prompt="Extract.", user_prompt="{{ user_input }}"
        )
        m.CeResponse.objects.create(**scope, response_type="EXACT", exact_text="Missing {{ missing_fields }}")
    configure("DialogueActStep/RESOLUTE", "REGEX_ONLY")


@contextmanager
def service(*says: Says) -> Iterator[ModelServer]:
    with model_server(*says) as server:
        model = wiring.make_model_client(read_connections({"desk": {"base_url": server.url, "models": ["small"]}}))
        with wiring.replace_outside_world(OutsideWorld(model=model)):
            yield server
        model.close()


def test_the_service_fills_the_form_and_is_asked_for_nothing_that_must_be_there() -> None:
    with service(Says('```json\n{"amount": "1,200", "city": "dallas", "approval": true}\n```')) as server:
        answer = Caller().say("a loan")

    assert answer["payload"]["value"] == "Missing []"
    context = CeConversation.objects.get().context_json
    assert (context["amount"], context["city"], "approval" in context) == (1200, "Dallas", False)
    told = CeAudit.objects.get(stage="SCHEMA_EXTRACTION_LLM_OUTPUT").payload_json
    assert told["rejected"] == ["approval"]
    asked = str(server.requests[0])
    assert "'amount'" in asked
    assert "required" not in str(server.requests[0].get("response_format"))
    assert find_replay_difference(CeConversationHistory.objects.get()) is None


CASES: dict[str, tuple[Says, str, int]] = {
    "500": (Says("broken", 500), "LLM_CALL_FAILED", 502),
    "empty": (Says(""), "LLM_EMPTY_RESPONSE", 502),
    "hangs_up": (Says(hangs_up=True), "LLM_CALL_FAILED", 502),
    "slow": (Says(seconds=3), "LLM_TIMEOUT", 504),
}


@pytest.mark.parametrize("case", CASES)
def test_a_service_that_is_out_fails_the_turn_or_leaves_the_form_as_it_was(case: str) -> None:
    says, code, status = CASES[case]
    configure("LLM/TIMEOUT_SECONDS", 1 if case == "slow" else 15)
    caller = Caller()
    with service(says):
        failed = caller.post({"conversationId": caller.conversation_id, "message": "a loan"})
        configure("SchemaExtractionStep/ON_LLM_ERROR", "CONTINUE")
        answered = caller.say("a loan")

    body: dict[str, Any] = failed.json()
    assert (failed.status_code, body["errorCode"]) == (status, code)
    assert answered["payload"]["value"] == 'Missing ["amount","city"]'
    errors = CeAudit.objects.filter(stage="SCHEMA_EXTRACTION_LLM_ERROR").order_by("turn_no")
    assert [(row.turn_no, row.payload_json["errorCode"]) for row in errors] == [(1, code), (2, code)]
    assert not CeLlmCallLog.objects.filter(success=True).exists()
    assert [find_replay_difference(turn) for turn in CeConversationHistory.objects.order_by("turn_no")] == [None, None]


@pytest.mark.parametrize("said", ["I found nothing.", '["Dallas"]', '{"amount": ', '"Dallas"'])
def test_an_answer_that_is_no_object_adds_nothing_and_the_conversation_goes_on(said: str) -> None:
    with service(Says(said)):
        answer = Caller().say("a loan")

    assert answer["payload"]["value"] == 'Missing ["amount","city"]'
    assert CeAudit.objects.filter(stage="SCHEMA_EXTRACTION_LLM_OUTPUT").count() == 1
