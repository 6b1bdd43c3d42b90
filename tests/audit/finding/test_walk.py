"""Finding turns: by everything that is known of them, page by page both ways, with bounded work."""

import uuid
from collections.abc import Iterator
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from audit.finding import sources
from audit.finding.search import CONVERSATIONS, Search
from audit.finding.text_index import index_new
from audit.finding.walk import Budget, Cursor, Found, find
from audit.finding.words import Wanted
from convengine.sessions.models import CeConversationHistory
from tests.audit.finding.records import BEGIN, conversation, turn

pytestmark = pytest.mark.django_db


def found(search: Search, size: int = 50) -> list[int]:
    return [match.history_id for match in find(search, None, size).matches]


def pages(search: Search, size: int, budget: Budget | None = None) -> Iterator[Found]:
    """All pages from the newest to the oldest."""
    cursor: Cursor | None = None
    while True:
        page = find(search, cursor, size, budget)
        yield page
        if page.older is None:
            return
        cursor = page.older


@pytest.mark.parametrize(
    ("asked", "has", "lacks"),
    [
        (Search(intent="CANCEL"), {"intent_code": "CANCEL"}, {"intent_code": "ORDER"}),
        (Search(state="CONFIRM"), {"state_code": "CONFIRM"}, {}),
        (Search(error="LLM_TIMEOUT"), {"error_code": "LLM_TIMEOUT"}, {"error_code": "LLM_CALL_FAILED"}),
        (Search(status="FAILED"), {"status": "FAILED"}, {"status": "BLOCKED"}),
        (Search(status="OK"), {}, {"status": "BLOCKED"}),
        (Search(release=7), {"config_version": 7}, {"config_version": 8}),
        (Search(duration=2000), {"duration_ms": 2000}, {"duration_ms": 1999}),
        (Search(cost=Decimal("0.02")), {"costs": ["0.015", "0.005"]}, {"costs": ["0.015", None]}),
        (Search(feedback="THUMBS_DOWN"), {"rated": ["THUMBS_DOWN", "THUMBS_DOWN"]}, {"rated": ["THUMBS_UP"]}),
        (Search(table="ce_rule", row="17"), {"rows": [("ce_rule", "17")] * 2}, {"rows": [("ce_response", "17")]}),
        (Search(stage="POLICY_BLOCK"), {"stages": ["POLICY_BLOCK", "POLICY_BLOCK"]}, {"stages": ["USER_INPUT"]}),
        (
            Search(stage="RULE_APPLIED"),
            {"stages": ["RULE_APPLIED (RulesStep)", "RULE_APPLIED (McpToolStep)"]},
            {"stages": ["RULE_MATCH (RulesStep)"]},
        ),
        (Search(text=Wanted.read("invoice")), {"user_input": "My INVOICE?"}, {"user_input": "invoices"}),
        (
            Search(text=Wanted.read("zurück")),
            {"assistant_output": {"type": "TEXT", "value": "Geld zuruck."}},
            {"assistant_output": None},
        ),
    ],
    ids=lambda value: "",
)
def test_turns_are_found_by_what_is_known_of_them(asked: Search, has: Any, lacks: Any) -> None:
    turn(1, **lacks)
    wanted = [turn(number, **has).pk for number in (2, 3)]
    turn(4, **lacks)
    list(index_new())

    both = Search(**{**vars(asked), "since": BEGIN, "until": BEGIN + timedelta(minutes=2)})

    assert found(asked) == wanted[::-1]
    assert found(both) == wanted[:1]


def test_turns_of_a_participant_stand_session_by_session() -> None:
    older, newer = (
        conversation(remote_jid="+4912", created_at=BEGIN + timedelta(days=days), channel=channel)
        for days, channel in ((0, "sms"), (1, "mail"))
    )
    first, second, third = (turn(number, of=one).pk for number, one in enumerate((older, newer, newer)))
    turn(9, of=conversation(remote_jid="+4911"))

    assert found(Search(participant="+4912")) == [third, second, first]
    assert found(Search(participant="+4912", channel="sms")) == [first]
    once = find(Search(participant="+4912", kind=CONVERSATIONS), None, 9)
    assert [match.conversation_id for match in once.matches] == [newer.pk, older.pk]


def test_a_participant_may_have_an_id_for_a_name() -> None:
    name = str(uuid.uuid4())
    made = [turn(number, conversation(remote_jid=name, channel="web")).pk for number in range(2)]

    assert found(Search(participant=name)) == made[::-1]


def test_an_id_is_of_a_conversation_or_of_a_turn_and_on_the_plain_api_a_participant() -> None:
    session = conversation()
    first, second = turn(1, of=session), turn(2, of=session)
    turn(3)

    assert found(Search(id=session.pk)) == [second.pk, first.pk]
    assert found(Search(id=first.turn_id)) == [first.pk]
    assert found(Search(participant=str(session.pk))) == [second.pk, first.pk]


@pytest.mark.parametrize(
    "asked",
    [
        Search(),
        Search(intent="CANCEL"),
        Search(table="ce_rule", row="1"),
        Search(stage="RULE_APPLIED"),
        Search(participant="+49"),
        Search(text=Wanted.read("hello")),
        Search(intent="CANCEL", stage="RULE_APPLIED"),
    ],
    ids=lambda value: "",
)
def test_pages_lead_to_the_end_and_back_with_every_turn_once(asked: Search) -> None:
    sessions = [conversation(remote_jid="+49", created_at=BEGIN + timedelta(days=day)) for day in range(2)]
    facts: Any = {"intent_code": "CANCEL", "rows": [("ce_rule", "1")]}
    stages = ["RULE_APPLIED (RulesStep)", "RULE_APPLIED (McpToolStep)", "RULE_APPLIED (RulesStep)"]
    # Some at the same moment: the order is the same whichever way one goes.
    every = [turn(number // 3, of=sessions[number // 6], stages=stages, **facts).pk for number in range(12)]
    list(index_new())

    way = list(pages(asked, 5))
    there = [[match.history_id for match in page.matches] for page in way]
    back = find(asked, way[2].newer, 5)

    assert [one for page in there for one in page] == every[::-1]
    assert [match.history_id for match in back.matches] == there[1]
    assert back.older is not None
    assert find(asked, back.older, 5).matches == way[2].matches
    # A page that would begin above the newest is the newest.
    assert find(asked, back.newer, 5).matches == way[0].matches
    assert way[0].newer is None


def test_a_conversation_stands_once_at_its_newest_turn_that_fits_on_every_page() -> None:
    first, second, third = (conversation() for _ in range(3))
    for number, one in enumerate((first, second, first, third, second, first)):
        turn(number, of=one, intent_code="CANCEL")
    turn(9, of=third, intent_code="OTHER")
    asked = Search(intent="CANCEL", kind=CONVERSATIONS)

    way = list(pages(asked, 1))

    assert [[match.conversation_id for match in page.matches] for page in way] == [[first.pk], [second.pk], [third.pk]]
    back = find(asked, way[2].newer, 1)
    assert [match.conversation_id for match in back.matches] == [second.pk]


def test_the_rarest_of_what_is_asked_is_looked_up_and_the_rest_checked() -> None:
    for number in range(30):
        turn(number, intent_code="CANCEL", config_version=1)
    rare = turn(31, intent_code="CANCEL", config_version=2, duration_ms=500)
    for number in range(32, 60):
        turn(number, intent_code="CANCEL", config_version=1)

    page = find(Search(intent="CANCEL", release=2, duration=100), None, 50)

    assert [match.history_id for match in page.matches] == [rare.pk]
    assert page.looked == 1


def test_a_walk_that_finds_little_pauses_says_where_and_goes_on() -> None:
    slow = turn(0, duration_ms=9000)
    for number in range(1, 40):
        turn(number, duration_ms=1)

    way = list(pages(Search(duration=5000), 5, Budget(turns=20)))

    first = way[0]
    assert not first.matches
    assert first.paused is not None
    assert first.paused > BEGIN
    assert first.looked <= 30
    assert first.further == first.older
    assert [match.history_id for page in way for match in page.matches] == [slow.pk]
    assert way[-1].paused is None


def test_a_page_costs_the_same_number_of_statements_however_many_turns_there_are() -> None:
    def statements(asked: Search) -> int:
        with CaptureQueriesContext(connection) as captured:
            find(asked, None, 5)
        assert not [one for one in captured.captured_queries if "COUNT(" in one["sql"]]
        return len(captured)

    asked = [Search(intent="CANCEL"), Search(), Search(table="ce_rule", row="1"), Search(stage="USER_INPUT")]
    for number in range(6):
        turn(number, intent_code="CANCEL", rows=[("ce_rule", "1")], stages=["USER_INPUT"])
    few = [statements(one) for one in asked]
    for number in range(6, 40):
        turn(number, intent_code="CANCEL", rows=[("ce_rule", "1")], stages=["USER_INPUT"])

    assert [statements(one) for one in asked] == few
    assert max(few) <= 3


def test_a_time_far_back_is_jumped_to(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources, "_SPAN", 400)
    session = conversation()
    CeConversationHistory.objects.bulk_create(
        CeConversationHistory(
            conversation=session, turn_no=number, config_version=1, created_at=BEGIN + timedelta(minutes=number)
        )
        for number in range(1, 2_001)
    )
    since, until = (BEGIN + timedelta(minutes=number) for number in (300, 310))

    page = find(Search(since=since, until=until), None, 50)

    assert len(page.matches) == 11
    assert page.looked < 1_200


@pytest.mark.parametrize("text", ["", "o", "oz1", "xh1", "oh-1", "oh1 ", "oh" + "9" * 19])
def test_what_is_no_place_is_none(text: str) -> None:
    turn()
    cursor = Cursor.read(text)

    assert cursor is None or len(find(Search(), cursor, 5).matches) == 1
