"""Dialogue 6, rule by rule: a message that nobody understood, and what counts as understood."""

from typing import Any

import pytest

from audit.record.queries import list_messages_not_understood
from tests.dialogues.rows.worlds import (
    DENTIST,
    answer_by_model,
    make_caller,
    say,
)

pytestmark = pytest.mark.django_db

NONSENSE = "purple elephants"


TEMPLATE = {
    "intent_code": "HOURS", "state_code": "ANY", "response_type": "TEXT", "system_prompt": "Be kind.",
    "user_prompt": "{{ user_input }}",
}  # fmt: skip
#: An intent with an answer and nothing else.
HOURS = {
    "ce_intent": [{"intent_code": "HOURS", "description": "Opening hours"}],
    "ce_intent_classifier": [
        {"intent_code": "HOURS", "state_code": "READY", "rule_type": "PHRASE", "pattern": "opening hours"}
    ],
}


def make_answer(state: str, text: str, intent: str = "ANY", **values: Any) -> dict[str, Any]:
    return {"intent_code": intent, "state_code": state, "response_type": "EXACT", "exact_text": text} | values


def test_an_answer_that_a_model_writes_understands_everything() -> None:
    derived = make_answer(
        "READY", "", "HOURS", response_type="DERIVED", exact_text=None, derivation_hint="Be kind.", output_format="TEXT"
    )
    caller = make_caller(DENTIST, rows={**HOURS, "ce_response": [derived], "ce_prompt_template": [TEMPLATE]})

    with answer_by_model(INTENT_AGENT={}, RESPONSE_TEXT="Nine to five."):
        say(caller, "opening hours", NONSENSE)

    assert "NOT_UNDERSTOOD" not in caller.stages(2)


@pytest.mark.parametrize(
    ("before", "turn"),
    [pytest.param([], 1, id="outside of forms"), pytest.param(["book an appointment", "Ann Bell"], 3, id="in a form")],
)
def test_the_search_finds_the_turn_by_its_stage(before: list[str], turn: int) -> None:
    caller = make_caller()
    say(caller, *before, NONSENSE)

    assert list_messages_not_understood(10) == [NONSENSE]
    assert caller.get(stage="NOT_UNDERSTOOD").json()["results"][0]["payload"]["_meta"]["turnNo"] == turn
