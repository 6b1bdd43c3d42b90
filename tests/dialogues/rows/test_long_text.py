"""A field for whole sentences keeps the whole message, even if it complains about a person."""

from typing import Any

import pytest

from config_admin.models import CeOutputSchema
from config_admin.releases.change_set import change_set
from tests.api import Caller
from tests.dialogues.rows.worlds import make_caller, say

pytestmark = pytest.mark.django_db

COMPLAINT: dict[str, Any] = {
    "code": "COMPLAINT", "title": "Complain", "kind": "collect", "locale": "en-GB", "on_leave": "ASK",
    "phrases": ["I want to complain", "make a complaint"],
    "fields": [
        {"name": "told", "title": "What happened", "type": "text", "question": "What happened?"},
        {"name": "day", "title": "Day", "type": "date", "question": "Which day?"},
    ],
    "answer": "Noted.",
}  # fmt: skip
PERSON: dict[str, Any] = {
    "code": "PERSON", "title": "Talk to a person", "kind": "handover", "locale": "en-GB",
    "phrases": ["can I speak to an agent", "talk to a person", "I want to speak to support"],
    "answer": "Somebody takes over.",
}  # fmt: skip


@pytest.fixture
def customer() -> Caller:
    caller = make_caller(COMPLAINT, PERSON)
    with change_set(reason="whole sentences"):
        row = CeOutputSchema.objects.get(intent_code="COMPLAINT")
        row.json_schema["properties"]["told"]["x-long"] = True
        row.save()
    return caller


@pytest.mark.parametrize(
    "text",
    [
        "my support agent never called back",
        "I asked to speak to a person and nobody came",
        "your agent on the phone was rude",
        "an agent told me to wait for a call, then nobody called",
        "nobody answered when I asked for an agent. I need my money back",
        "I called support and they hung up on me",
    ],
)
def test_a_complaint_about_a_person_is_a_complaint(text: str, customer: Caller) -> None:
    answer = say(customer, "I want to complain", text)

    assert (answer["intent"], answer["context"].get("told")) == ("COMPLAINT", text)


@pytest.mark.parametrize(
    "text",
    ["I want to talk to a person", "a human please", "can I speak to an agent?", "please let me talk to someone"],
)
def test_a_message_that_is_nothing_but_a_wish_for_a_person_hands_over(text: str, customer: Caller) -> None:
    answer = say(customer, "I want to complain", text)

    assert (answer["intent"], answer["state"], answer["context"].get("told")) == ("PERSON", "HAND_OVER", None)
