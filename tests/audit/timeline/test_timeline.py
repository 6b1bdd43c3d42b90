"""The timeline of a conversation: what lies between turns, every way through it, and the same cost at any length."""

import uuid
from collections.abc import Callable
from datetime import timedelta

import pytest
from django.db import connection
from django.test import Client, override_settings
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from audit.addresses import timeline_url, turn_url
from audit.models import CeAccessLog
from audit.timeline.cards import WINDOW_SIZE, TurnCard
from convengine.server.channels.models import CeChannel, CeChannelMessage
from convengine.server.gateway.environ import SERVES_STREAMS
from convengine.server.sessions.models import CeConversation, CeConversationHistory
from tests.audit.timeline.conftest import BEGAN, long_conversation
from tests.record import add_to_turn
from tests.worlds import set_audit_setting

Words = Callable[[str], str]
pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("changeable_turns")]


def list_shown_turns(reader: Client, address: str) -> list[int]:
    """The numbers of the turns that a page shows."""
    items = reader.get(address).context["items"]
    return [item.record.turn_no for item in items if isinstance(item, TurnCard)]


def cards(reader: Client, row: CeConversation) -> dict[int, TurnCard]:
    items = reader.get(timeline_url(row.pk)).context["items"]
    return {item.record.turn_no: item for item in items if isinstance(item, TurnCard)}


def test_the_newest_turns_come_first_and_every_other_one_can_be_reached(reader: Client, words: Words) -> None:
    row = long_conversation(100)
    home = timeline_url(row.pk)

    assert list_shown_turns(reader, home) == list(range(85, 101))
    assert list_shown_turns(reader, f"{home}?before=85") == list(range(69, 85))
    assert list_shown_turns(reader, f"{home}?before=6") == list(range(1, 6))
    assert list_shown_turns(reader, f"{home}?after=0") == list(range(1, 17))
    assert list_shown_turns(reader, f"{home}?after=84") == list(range(85, 101))
    assert list_shown_turns(reader, f"{home}?turn=50") == list(range(42, 58))
    assert list_shown_turns(reader, f"{home}?at={(BEGAN + timedelta(minutes=49, seconds=1)):%Y-%m-%dT%H:%M:%S}")[
        :2
    ] == [49, 50]
    assert "Later »" not in words(home)
    assert "« Earlier" in words(home)
    assert "« Earlier" not in words(f"{home}?after=0")


@pytest.mark.parametrize(
    ("query", "says"),
    [
        ("turn=nine", "“nine” is not a turn number. Enter a whole number such as 3."),
        ("turn=99", "This conversation has no turn 99."),
        ("at=yesterday", "“yesterday” is not a date and time"),
        ("at=2026-13-45T00:00", "is not a date and time"),
        ("at=2999-01-01T00:00", "No turn started at or after that time"),
        ("before=-1", "“-1” is not a turn number. Enter a whole number such as 3."),
    ],
)
def test_what_cannot_be_found_is_told_beside_what_there_is(reader: Client, words: Words, query: str, says: str) -> None:
    address = f"{timeline_url(long_conversation(3).pk)}?{query}"

    assert says in words(address)
    assert list_shown_turns(reader, address) == [1, 2, 3]


@pytest.mark.nightly
def test_it_costs_the_same_at_any_length_and_everywhere_in_it(reader: Client) -> None:
    counts = set()
    for turns, query in ((2, ""), (45, ""), (1000, ""), (1000, "?before=500"), (1000, "?before=20")):
        address = timeline_url(long_conversation(turns).pk) + query
        reader.get(address)
        with CaptureQueriesContext(
            connection,
        ) as found:
            assert reader.get(address).status_code == 200
        counts.add(len(found))
    assert len(counts) == 1, counts
    # Two of them seal the entry of the access log.
    assert counts.pop() <= 15


def test_moves_that_end_or_resume_a_session_stand_between_turns(words: Words) -> None:
    row = long_conversation(2)
    for number, (end, reason) in enumerate((("ABORTED", "abandoned"), ("RUNNING", "reopened")), start=1):
        add_to_turn(row.pk, number, ("SESSION_LIFECYCLE", {"from": "RUNNING", "to": end, "reason": reason}))

    text = words(timeline_url(row.pk))

    assert "Aborted the user gave up" in text
    assert "Running a message arrived after the end of the session" in text


def test_between_turns_stand_days_silences_moves_and_new_releases(words: Words) -> None:
    row = long_conversation(4)
    turns = CeConversationHistory.objects.filter(conversation=row)
    turns.filter(turn_no=3).update(created_at=BEGAN + timedelta(hours=3), config_version=2)
    turns.filter(turn_no=4).update(created_at=BEGAN + timedelta(days=2))

    text = words(timeline_url(row.pk))

    assert "Sunday, 1 March 2026" in text
    assert "Tuesday, 3 March 2026" in text
    assert "2 hours, 58 minutes without messages" in text.replace("\xa0", " ")
    assert "The configuration changed from release 1 to 2" in text
    assert "a question waits" not in text
    assert text.count("awaiting the user") == 4


def test_turns_that_did_not_end_well_are_there_with_what_was_not_saved(reader: Client, words: Words) -> None:
    row = long_conversation(5)
    turns = CeConversationHistory.objects.filter(conversation=row)
    turns.filter(turn_no=2).update(status="FAILED", error_code="LLM_TIMEOUT", error_message="Too slow.")
    turns.filter(turn_no=3).update(status="INTERRUPTED", error_code="TURN_INTERRUPTED")
    turns.filter(turn_no=4).update(status="BLOCKED", audit_incomplete=True)

    found, text = cards(reader, row), words(timeline_url(row.pk))

    assert [found[number].stored for number in (1, 2, 3, 4, 5)] == [True, False, False, True, True]
    assert "LLM_TIMEOUT Too slow. This turn was not saved: the conversation stayed at FAQ / Idle." in text
    assert "The user received no answer to this message, because a newer message stopped the turn." in text
    assert "TURN_INTERRUPTED" in text
    assert "Blocked by a policy" in text
    assert [one.code for one in found[4].warnings] == ["AUDIT_INCOMPLETE"]


def test_all_pages_count_the_turns_alike(words: Words) -> None:
    row = long_conversation(5)
    CeConversationHistory.objects.filter(conversation=row, turn_no=5).update(status="FAILED", error_code="LLM_TIMEOUT")
    CeConversation.objects.filter(pk=row.pk).update(turn_count=4)
    session = reverse("admin:ce_sessions_ceconversation_change", args=[row.pk])
    pages = (
        timeline_url(row.pk),
        session,
        *(reverse(f"admin:audit_ceaudit_{page}", args=[row.pk]) for page in ("print",)),
    )

    assert ["5 turns, 1 of them not saved" in words(page) for page in pages] == [True, True, True]
    assert "5 turns compared" in words(reverse("admin:audit_ceaudit_trust", args=[row.pk]))

    CeConversation.objects.filter(pk=row.pk).update(last_turn_no=6, lease_token=uuid.uuid4())
    assert "5 turns, 1 of them not saved; turn 6 is running" in words(timeline_url(row.pk))


def test_invisible_characters_are_shown_by_name(words: Words) -> None:
    row = long_conversation(1)
    text = "pay \u202e001 euros"
    CeConversationHistory.objects.filter(conversation=row).update(
        user_input=text, assistant_output={"type": "TEXT", "value": text}
    )

    pages = [timeline_url(row.pk), turn_url(row.pk, 1), reverse("admin:audit_ceaudit_print", args=[row.pk])]

    assert [words(page).count("[RLO]001 euros") for page in pages] == [2, 2, 2]
    assert not any("\u202e" in words(page) for page in pages)


@pytest.mark.parametrize(
    ("stage", "code"),
    [
        ("STEP_ERROR", "STEP_ERROR"),
        ("GUARDRAIL_DENY", "GUARDRAIL_DENY"),
        ("STATE_GRAPH_VIOLATION", "STATE_GRAPH_VIOLATION"),
        ("RESPONSE_MAPPING_NOT_FOUND", "RESPONSE_MAPPING_NOT_FOUND"),
        ("PENDING_ACTION_FAILED", "PENDING_ACTION_FAILED"),
        ("TOOL_ORCHESTRATION_ERROR", "TOOL_ORCHESTRATION_ERROR"),
        ("MCP_TOOL_ERROR", "MCP_TOOL_ERROR"),
        ("STEP_ENTER", "UNCLOSED_STEP"),
    ],
)
def test_a_card_warns_of_what_should_be_looked_at_first(reader: Client, stage: str, code: str) -> None:
    row = long_conversation(2)
    add_to_turn(row.pk, 2, (stage, {"step": "X"}))
    if code == "UNCLOSED_STEP":
        CeConversationHistory.objects.filter(conversation=row, turn_no=2).update(status="FAILED")

    found = cards(reader, row)

    assert [one.code for one in found[2].warnings] == [code]
    assert not found[1].warnings


def test_sessions_beside_this_one_are_led_to(words: Words) -> None:
    first = long_conversation(1, lifecycle="COMPLETE")
    second = long_conversation(1, previous_session=first)

    assert "A new session starts. Previous session" in words(timeline_url(second.pk))
    assert "Next session" in words(timeline_url(first.pk))


def test_a_conversation_without_turns_says_so(words: Words) -> None:
    assert "No turns." in words(timeline_url(long_conversation(0).pk))


def test_only_readers_come_in_and_their_look_is_noted(reader: Client) -> None:
    row = long_conversation(1)

    assert Client().get(timeline_url(row.pk)).status_code == 302
    assert reader.post(timeline_url(row.pk)).status_code == 405
    assert reader.get("/admin/audit/ceaudit/00000000-0000-0000-0000-000000000000/timeline/").status_code == 404
    reader.get(timeline_url(row.pk))
    assert CeAccessLog.objects.filter(kind="CONVERSATION", conversation_id=row.pk, reader="quinn").count() == 1
    assert WINDOW_SIZE == 16


def test_a_timeline_waits_for_new_turns_only_where_streams_are_served(reader: Client) -> None:
    address = timeline_url(long_conversation(1).pk)

    assert b"data-stream" not in reader.get(address).content
    assert b"data-stream" in reader.get(address, **{SERVES_STREAMS: True}).content
    with override_settings(CONVENGINE={"STREAMS_URL": ":8001"}):
        assert b"data-stream" in reader.get(address).content


def send_answer(turn: CeConversationHistory, *, part: int = 0, **values: str) -> None:
    """A message of a channel with the answer of a turn, or with a part of it."""
    channel, _ = CeChannel.objects.get_or_create(name="shop", provider="telegram")
    CeChannelMessage.objects.create(
        channel=channel, source_id=turn.turn_id, part=part, conversation_id=str(turn.conversation_id),
        turn_id=turn.turn_id, text="answer", body={}, created_at=BEGAN, next_attempt_at=BEGAN,
        **{"status": "SENT", **values},
    )  # fmt: skip


SENT_STATES: list[tuple[dict[str, str], str]] = [
    ({}, "Answer sent"),
    ({"receipt": "delivered"}, "Answer delivered"),
    ({"receipt": "read"}, "Answer read"),
    ({"status": "PENDING"}, "Answer waiting"),
    ({"status": "PENDING", "error": "Telegram answered 500."}, "Answer waiting: Telegram answered 500."),
    ({"status": "FAILED", "receipt": "failed", "error": "Undeliverable."}, "Answer did not arrive: Undeliverable."),
]


@pytest.mark.parametrize(("values", "says"), SENT_STATES)
def test_a_turn_says_what_became_of_its_answer_on_a_channel(words: Words, values: dict[str, str], says: str) -> None:
    row = long_conversation(2)
    send_answer(CeConversationHistory.objects.get(turn_no=2), **values)

    for address in (timeline_url(row.pk), turn_url(row.pk, 2)):
        assert words(address).count(says) == 1
    assert says not in words(turn_url(row.pk, 1))


def test_of_several_messages_of_an_answer_the_worst_counts(reader: Client) -> None:
    row = long_conversation(3)
    states = [("SENT", "read"), ("SENT", "delivered"), ("SENT", ""), ("PENDING", ""), ("FAILED", "")]
    for turn, count in zip(CeConversationHistory.objects.order_by("turn_no"), (2, 4, 5), strict=True):
        for part, (status, receipt) in enumerate(states[:count]):
            send_answer(turn, part=part, status=status, receipt=receipt)

    shown = {number: card.delivery and card.delivery.state for number, card in cards(reader, row).items()}
    assert shown == {1: "delivered", 2: "waiting", 3: "failed"}


def test_an_error_of_a_channel_is_masked_and_others_say_nothing(words: Words) -> None:
    set_audit_setting("REDACT_PATTERNS", r"\d{8,}")
    row = long_conversation(1)
    assert "Answer sent" not in words(timeline_url(row.pk))

    send_answer(CeConversationHistory.objects.get(), status="FAILED", error="No user 4915112345.")
    assert "Answer did not arrive: No user ***." in words(timeline_url(row.pk))
