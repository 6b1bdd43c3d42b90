"""What people think of answers, by the API and on the page."""

import uuid
from typing import Any

import pytest
from django.test import Client

from audit.feedback.store import rate_row
from audit.models import CeAudit, CeMcpUserFeedback
from config_admin.models import CeConfig, CeResponse
from convengine.server.sessions.models import CeConversation
from tests.api import Caller, make_key
from tests.sign_in import sign_in

pytestmark = pytest.mark.django_db


def rate(caller: Caller, headers: dict[str, str] | None = None, secret: str = "", **body: Any) -> Any:
    return caller.client.post(
        "/api/v1/conversation/feedback",
        data={"conversationId": caller.conversation_id, **body},
        content_type="application/json",
        headers={"Authorization": f"Api-Key {secret or caller.secret}", **(headers or {})},
    )


def test_a_thumb_is_kept_with_the_turn_and_the_row_that_answered(caller: Caller) -> None:
    caller.say("hours")
    turn = caller.say("fees")

    answer = rate(caller, feedbackType="THUMBS_DOWN", metadata={"reason": "wrong"}, comment="No.", correction="Ten.")

    kept = CeMcpUserFeedback.objects.get()
    assert answer.status_code == 201
    assert answer.json() == {
        "success": True,
        "feedbackId": kept.pk,
        "capturedQueryKnowledgeCount": 0,
        "capturedUserQueryKnowledgeCount": 0,
        "embeddedUserQueryKnowledgeCount": 0,
        "message": "Feedback saved.",
    }
    response = CeResponse.objects.get(intent_code="FEES")
    assert (kept.turn_no, str(kept.turn_id), kept.author) == (2, turn["turnId"], "participant")
    assert (kept.table_name, kept.row_pk, kept.config_version) == (
        "ce_response",
        str(response.pk),
        turn["configVersion"],
    )
    assert (kept.user_query, kept.assistant_response) == ("fees", "No fees.")
    assert (kept.comment, kept.correction, kept.metadata_json) == ("No.", "Ten.", {"reason": "wrong"})
    assert (kept.intent_code, kept.state_code) == ("FEES", "IDLE")
    event = CeAudit.objects.get(stage="MCP_USER_FEEDBACK")
    assert event.turn_no is None
    assert event.payload_json["feedback_id"] == kept.pk
    assert event.payload_json["feedback_type"] == "THUMBS_DOWN"


def test_another_turn_is_rated_by_its_id_and_a_second_feedback_replaces_the_first(caller: Caller) -> None:
    first = caller.say("hours")
    caller.say("fees")

    rate(caller, feedbackType="THUMBS_UP", messageId=first["turnId"])
    rate(caller, feedbackType="THUMBS_DOWN", messageId=first["turnId"], assistantResponse="As shown.")

    old, new = CeMcpUserFeedback.objects.order_by("pk")
    assert (old.turn_no, new.turn_no, new.assistant_response) == (1, 1, "As shown.")
    assert old.replaced_at is not None
    assert new.replaced_at is None


@pytest.mark.parametrize(
    ("body", "field", "text"),
    [
        (
            {"conversationId": None},
            "conversationId",
            "conversationId is missing. Send the conversation of this feedback.",
        ),
        ({"conversationId": "x"}, "conversationId", '"x" is not a UUID.'),
        ({"feedbackType": "MEH"}, "feedbackType", "Unknown feedbackType MEH. Use THUMBS_UP or THUMBS_DOWN."),
        ({"feedbackType": None}, "feedbackType", "Unknown feedbackType None. Use THUMBS_UP or THUMBS_DOWN."),
        ({"messageId": "m-88"}, "messageId", "'m-88' is not the ID of a turn. Use `turnId` from an answer."),
        ({"messageId": str(uuid.uuid4())}, "messageId", "This conversation has no turn"),
        ({"messageId": "m" * 129}, "messageId", "129 characters received. Send at most 128."),
        ({"metadata": [1]}, "metadata", "Must be a JSON object or null, not [1]."),
        ({"coment": "x"}, "coment", "Did you mean comment?"),
    ],
)
def test_what_is_wrong_is_named(caller: Caller, body: dict[str, Any], field: str, text: str) -> None:
    caller.say("hours")

    answer = rate(caller, **{"feedbackType": "THUMBS_UP", **body})

    assert answer.status_code == 400
    assert text in answer.json()["fields"][field][0]
    assert not CeMcpUserFeedback.objects.exists()


def test_a_conversation_of_another_workspace_is_not_there(caller: Caller) -> None:
    caller.say("hours")

    assert rate(caller, feedbackType="THUMBS_UP", secret=make_key("other")).status_code == 404
    assert rate(caller, feedbackType="THUMBS_UP", conversationId=str(uuid.uuid4())).status_code == 404
    without = make_key(scopes=["audit"])
    assert rate(caller, feedbackType="THUMBS_UP", secret=without).status_code == 403


def test_the_original_is_answered_200_and_may_name_any_message(caller: Caller) -> None:
    caller.say("hours")

    answer = rate(caller, {"X-ConvEngine-Compat": "1"}, feedbackType="THUMBS_UP", messageId="m-88")

    assert (answer.status_code, answer.json()["success"]) == (200, True)
    kept = CeMcpUserFeedback.objects.get()
    assert (kept.message_id, kept.turn_no) == ("m-88", 1)


def test_masked_keys_are_masked_in_what_comes_along(caller: Caller) -> None:
    CeConfig.objects.create(config_type="AUDIT", config_key="REDACT_KEYS", config_value="card")
    caller.say("hours")

    rate(caller, feedbackType="THUMBS_UP", metadata={"card": "4111", "ok": 1})

    assert CeMcpUserFeedback.objects.get().metadata_json == {"card": "***", "ok": 1}


def test_what_fits_a_pattern_is_masked_in_every_text(caller: Caller) -> None:
    caller.say("hours")
    CeConfig.objects.create(config_type="AUDIT", config_key="REDACT_PATTERNS", config_value=r"\b\d{16}\b")
    number = "4111111111111111"
    texts = dict.fromkeys(("comment", "correction", "assistantResponse"), f"My card {number}")
    rate(caller, feedbackType="THUMBS_UP", metadata={"reason": number}, **texts)

    kept = CeMcpUserFeedback.objects.values().get()
    assert number not in str(kept)
    assert kept["comment"] == "My card ***"


@pytest.fixture
def qa() -> Client:
    return sign_in("quentin", "qa")


def give(client: Client, caller: Caller, turn_no: int, **fields: str) -> Any:
    return client.post(f"/admin/audit/cemcpuserfeedback/{caller.conversation_id}/{turn_no}/give/", fields, follow=True)


def test_a_person_rates_a_turn_on_its_page_and_sees_what_others_said(caller: Caller, qa: Client) -> None:
    caller.say("hours")
    caller.say("fees")
    rate(caller, feedbackType="THUMBS_UP", comment="Nice.")

    page = give(qa, caller, 2, feedback_type="THUMBS_DOWN", comment="Too short.", correction="No fees, ever.")

    text = page.content.decode()
    assert "Your feedback is saved." in text
    assert "Nice." in text
    assert "Better answer:" in text
    assert "Replace your feedback" in text
    authors = CeMcpUserFeedback.objects.filter(replaced_at=None).values_list("author", "feedback_type")
    assert set(authors) == {("participant", "THUMBS_UP"), ("user:quentin", "THUMBS_DOWN")}
    refused = give(qa, caller, 2, feedback_type="")
    assert "Choose “Good answer” or “Bad answer”" in refused.content.decode()
    assert give(qa, caller, 9, feedback_type="THUMBS_UP").status_code == 404


def test_a_row_has_the_ratings_of_its_answers(caller: Caller, qa: Client) -> None:
    for text, kind in (
        ("hours", "THUMBS_DOWN"),
        ("fees", "THUMBS_UP"),
        ("hours", "THUMBS_DOWN"),
        ("hours", "THUMBS_UP"),
    ):
        caller.say(text)
        rate(caller, feedbackType=kind, comment=f"{text} {kind}")
    hours, fees = (CeResponse.objects.get(intent_code=code, state_code="IDLE") for code in ("HOURS", "FEES"))

    assert rate_row("ce_response", str(hours.pk)) == ("ce_response", str(hours.pk), 1, 2)
    assert rate_row("ce_response", str(fees.pk)) == ("ce_response", str(fees.pk), 1, 0)
    listed = qa.get(f"/admin/audit/cemcpuserfeedback/?table_name=ce_response&row_pk={hours.pk}")
    assert listed.status_code == 200
    form = qa.get(f"/admin/config_admin/ceresponse/{hours.pk}/change/").content.decode()
    assert "Feedback on its answers: 2 negative, 1 positive" in form


def test_feedback_leaves_with_its_conversation(caller: Caller) -> None:
    caller.say("hours")
    rate(caller, feedbackType="THUMBS_UP")

    CeConversation.objects.all().delete()

    assert not CeMcpUserFeedback.objects.exists()
