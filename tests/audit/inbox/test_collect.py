"""What the inbox reads besides messages that nobody understood: each kind from the record of real turns."""

from datetime import timedelta

import pytest
from django.utils import timezone

from audit.feedback.store import FeedbackInput, store_feedback
from audit.inbox.collect import read_messages
from audit.inbox.job import update_inbox
from audit.models import CeInboxGroup, CeInboxMessage
from config_admin.models import CeAnswerDocument, CeIntentClassifier, CeOutputSchema, CeResponse
from convengine.engine.turn.turn import TurnRequest
from convengine.server.sessions.models import CeConversation, CeConversationHistory
from convengine.server.turns.take_turn import take_turn
from tests.worlds import create_help_desk

pytestmark = [pytest.mark.django_db, pytest.mark.dialects, pytest.mark.usefixtures("changeable_turns")]
Kind = CeInboxGroup.Kind
SIZE = {"type": "object", "properties": {"size": {"type": "string", "title": "Size", "enum": ["small", "large"]}}}


@pytest.fixture(autouse=True)
def help_desk() -> None:
    create_help_desk()


def say(*messages: str) -> CeConversation:
    conversation = CeConversation()
    for message in messages:
        take_turn(TurnRequest(str(conversation.conversation_id), message))
    return CeConversation.objects.get(pk=conversation.pk)


def read(kind: str) -> list[str]:
    return sorted(message.text for message in read_messages(kind, timezone.now() - timedelta(days=1)))


def test_a_question_between_two_intents() -> None:
    say("hours and fees")
    say("hours")
    assert read(Kind.TWO_INTENTS) == ["hours and fees"]


def test_a_conversation_that_was_handed_over_before_the_period_is_not_in_it() -> None:
    conversation = say("hours", "parking", "thanks")
    turns = CeConversationHistory.objects.filter(conversation=conversation)
    turns.filter(turn_no__gt=1).update(state_code="HAND_OVER")
    assert read(Kind.HANDED_OVER) == ["parking"]
    turns.filter(turn_no=2).update(created_at=timezone.now() - timedelta(days=2))
    assert read(Kind.HANDED_OVER) == []


def test_a_message_that_was_handed_over_is_not_listed_as_not_understood() -> None:
    conversation = say("hours", "ich will einen menschen", "nobody knows", "parking for dogs")
    turns = CeConversationHistory.objects.filter(conversation=conversation)
    assert read(Kind.NOT_UNDERSTOOD) == ["ich will einen menschen", "nobody knows", "parking for dogs"]
    turns.filter(turn_no__in=(2, 3)).update(state_code="HAND_OVER")
    assert read(Kind.NOT_UNDERSTOOD) == ["parking for dogs"]
    assert read(Kind.HANDED_OVER) == ["ich will einen menschen"]
    turns.filter(turn_no=2).update(state_code="UNKNOWN")
    assert read(Kind.NOT_UNDERSTOOD) == ["ich will einen menschen", "parking for dogs"]


def make_form() -> None:
    CeOutputSchema.objects.create(
        intent_code="FEES", state_code="ANY", json_schema={**SIZE, "required": ["size"]}, priority=1
    )
    CeResponse.objects.create(
        intent_code="FEES", state_code="ANY", response_type="EXACT", exact_text="{{ question }}", priority=1
    )


def test_a_refused_value_names_its_field_and_the_reason() -> None:
    make_form()
    say("fees", "size: medium")
    messages = list(read_messages(Kind.REFUSED_VALUE, timezone.now() - timedelta(days=1)))
    assert [(message.text, message.subject) for message in messages] == [
        ("medium", ("FEES", "size", "VALUE_VIOLATES_SCHEMA", "", ""))
    ]


def test_a_form_that_is_given_up_names_its_field() -> None:
    make_form()
    say("fees", *["medium"] * 6)
    messages = list(read_messages(Kind.FORM_GIVEN_UP, timezone.now() - timedelta(days=1)))
    assert messages[0].subject.field == "size"
    assert messages[0].subject.table == "ce_output_schema"


def test_negative_feedback_names_the_row_that_answered() -> None:
    conversation = say("hours")
    store_feedback(conversation.pk, None, "participant", FeedbackInput("THUMBS_DOWN", comment="No!"))
    [message] = read_messages(Kind.NEGATIVE, timezone.now() - timedelta(days=1))
    assert (message.text, message.subject.table) == ("hours", "ce_response")
    store_feedback(conversation.pk, None, "participant", FeedbackInput("THUMBS_UP"))
    assert read(Kind.NEGATIVE) == []


def test_another_section_that_helped_names_its_document_and_its_path() -> None:
    conversation = say("hours")
    document = CeAnswerDocument.objects.create(title="A", content="# A\n\n## B\n\nText.\n\n## C\n\nText.").pk
    second = [("ce_answer_document", str(document), "A > B")]
    for place, section, expected in ((1, "A > B", []), (2, "A > B", second), (2, "A > X", []), (2, ["A > B"], [])):
        metadata = {"document": document, "section": section, "place": place}
        store_feedback(conversation.pk, None, "participant", FeedbackInput("THUMBS_UP", metadata=metadata))
        messages = read_messages(Kind.OTHER_SECTION, timezone.now() - timedelta(days=1))
        subjects = [message.subject for message in messages]
        assert [(subject.table, subject.row, subject.detail) for subject in subjects] == expected


def test_sections_of_which_none_helped_are_not_understood() -> None:
    conversation = say("hours")
    store_feedback(conversation.pk, None, "participant", FeedbackInput("THUMBS_DOWN", metadata={"place": 0}))
    assert (read(Kind.NOT_UNDERSTOOD), read(Kind.NEGATIVE)) == (["hours"], [])


def test_an_answer_that_two_people_rated_down_is_one_message() -> None:
    conversation = say("hours")
    for participant in ("ada", "bob"):
        store_feedback(conversation.pk, None, participant, FeedbackInput("THUMBS_DOWN"))
    list(update_inbox())
    group = CeInboxGroup.objects.get(kind=Kind.NEGATIVE)
    assert group.messages == CeInboxMessage.objects.filter(group=group).count() == 1


def test_each_kind_has_its_groups_and_a_taught_one_is_understood() -> None:
    say("hours and fees")
    say("parking")
    list(update_inbox())
    kinds = CeInboxGroup.objects.order_by("kind").values_list("kind", "status")
    assert list(kinds) == [(Kind.NOT_UNDERSTOOD, "OPEN"), (Kind.TWO_INTENTS, "OPEN")]
    CeIntentClassifier.objects.create(
        intent_code="HOURS", state_code="IDLE", rule_type="PHRASE", pattern="hours and fees"
    )
    list(update_inbox())
    assert CeInboxGroup.objects.get(kind=Kind.TWO_INTENTS).status == "UNDERSTOOD"
