"""A form from the first word to the last, without a model: collected, corrected, confirmed, replayed."""

from typing import Any

import pytest

from audit.replay.replay import find_replay_difference
from config_admin.models import CeIntent, CeIntentClassifier, CeOutputSchema, CePromptTemplate, CeResponse, CeRule
from config_admin.releases.change_set import change_set
from convengine.server.sessions.models import CeConversationHistory
from tests.api import Caller

pytestmark = pytest.mark.django_db
FORM: dict[str, Any] = {
    "type": "object",
    "properties": {
        "customerId": {"type": "string"},
        "amount": {"type": "number", "minimum": 500},
        "city": {"type": "string", "enum": ["Dallas", "Irving"]},
    },
    "required": ["customerId", "amount", "city"],
}


@pytest.fixture
def caller() -> Caller:
    with change_set(reason="loans"):
        CeResponse.objects.all().delete()
        for code, pattern in (("LOAN", "loan"), ("FAQ", "opening hours")):
            CeIntent.objects.create(intent_code=code, description=code)
            CeIntentClassifier.objects.create(
                intent_code=code,
                state_code="COLLECT" if code == "LOAN" else "IDLE",
                rule_type="CONTAINS",
                pattern=pattern,
            )
        CeOutputSchema.objects.create(intent_code="LOAN", state_code="ANY", json_schema=FORM)
        CePromptTemplate.objects.create(
            intent_code="LOAN",
            state_code="CONFIRM",
            response_type="TEXT",
            system_prompt="Confirm.",
            user_prompt="{{context}}",
            interaction_mode="CONFIRM",
        )
        for phase, state, pattern, to in (
            ("POST_SCHEMA_EXTRACTION", "COLLECT", "$[?(@.schemaComplete == true)]", "CONFIRM"),
            (
                "PRE_RESPONSE_RESOLUTION",
                "CONFIRM",
                "$[?(@.inputParams.routing_decision == 'PROCEED_CONFIRMED')]",
                "DONE",
            ),
        ):
            CeRule.objects.create(
                phase=phase, intent_code="LOAN", state_code=state, rule_type="JSON_PATH", match_pattern=pattern,
                action="SET_STATE", action_value=to,
            )  # fmt: skip
        for intent, state, text in (
            ("LOAN", "COLLECT", "Missing: {{ missing_fields | join(', ') }}"),
            ("LOAN", "CONFIRM", "{{ amount }} in {{ city }}?"),
            ("LOAN", "DONE", "Done."),
            ("FAQ", "IDLE", "Nine to five."),
            ("UNKNOWN", "UNKNOWN", "Sorry?"),
        ):
            CeResponse.objects.create(intent_code=intent, state_code=state, response_type="EXACT", exact_text=text)
    return Caller()


def test_a_form_is_filled_corrected_and_confirmed(caller: Caller) -> None:
    dialogue = [
        ("I need a loan of 35,000", "Missing: customerId, city"),
        ("customer id: 4711, by the way I liked your opening hours", "Missing: city"),
        ("Paris", "Missing: city"),
        ("dallas, no, Irving", "35000 in Irving?"),
        ("Ohh wait, change the amount to 350k", "350000 in Irving?"),
        ("change the amount to 5", "350000 in Irving?"),
        ("yes", "Done."),
        ("your opening hours?", "Nine to five."),
    ]

    answers = [caller.say(message) for message, _ in dialogue]

    assert [answer["payload"]["value"] for answer in answers] == [expected for _, expected in dialogue]
    assert [answer["context"]["intent_lock"]["locked"] for answer in answers] == [True] * 3 + [False] * 5
    assert answers[6]["context"]["amount"] == 350000
    assert [find_replay_difference(record) for record in CeConversationHistory.objects.order_by("turn_no")] == [
        None
    ] * len(dialogue)


def test_why_names_the_schema_that_was_chosen(caller: Caller) -> None:
    other = CeOutputSchema.objects.create(intent_code="FAQ", state_code="ANY", json_schema=FORM)
    caller.say("a loan")

    decisions = caller.get("/why", turn=1).json()["decisions"]

    (decision,) = [decision for decision in decisions if decision["kind"] == "SCHEMA"]
    assert decision["winners"] == [CeOutputSchema.objects.get(intent_code="LOAN").pk]
    assert {row["id"]: row["reason"] for row in decision["candidates"]}[other.pk] == "SCOPE_INTENT"
