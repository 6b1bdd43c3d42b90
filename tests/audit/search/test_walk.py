"""Finding turns: by everything that is known of them, page by page both ways, with bounded work."""

import uuid
from collections.abc import Iterator
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from audit.record.form_steps import FormProgress, FormStep
from audit.search import filters, sources, text_index, walk
from audit.search.filters import build_filters
from audit.search.query import CONVERSATIONS, SearchQuery, TextQuery
from audit.search.text_index import index_new_turns
from audit.search.walk import Cursor, Total, TurnPage, count_matches, count_with_page, find_turns
from convengine.server.sessions.models import CeConversationHistory
from tests.audit.search.records import BEGIN, conversation, turn

pytestmark = [pytest.mark.django_db, pytest.mark.dialects]


def find_ids(search: SearchQuery, size: int = 50) -> list[int]:
    return [match.history_id for match in find_turns(search, None, size).matches]


def pages(search: SearchQuery, size: int) -> Iterator[TurnPage]:
    """All pages from the newest to the oldest."""
    cursor: Cursor | None = None
    while True:
        page = find_turns(search, cursor, size)
        yield page
        if page.older is None:
            return
        cursor = page.older


@pytest.mark.parametrize(
    ("asked", "has", "lacks"),
    [
        (SearchQuery(intent="CANCEL"), {"intent_code": "CANCEL"}, {"intent_code": "ORDER"}),
        (SearchQuery(state="CONFIRM"), {"state_code": "CONFIRM"}, {}),
        (SearchQuery(error="LLM_TIMEOUT"), {"error_code": "LLM_TIMEOUT"}, {"error_code": "LLM_CALL_FAILED"}),
        (SearchQuery(status="FAILED"), {"status": "FAILED"}, {"status": "BLOCKED"}),
        (SearchQuery(status="OK"), {}, {"status": "BLOCKED"}),
        (SearchQuery(release=7), {"config_version": 7}, {"config_version": 8}),
        (SearchQuery(duration=2000), {"duration_ms": 2000}, {"duration_ms": 1999}),
        (SearchQuery(cost=Decimal("0.02")), {"costs": ["0.015", "0.005"]}, {"costs": ["0.015"]}),
        (SearchQuery(feedback="THUMBS_DOWN"), {"rated": ["THUMBS_DOWN", "THUMBS_DOWN"]}, {"rated": ["THUMBS_UP"]}),
        (SearchQuery(table="ce_rule", row="17"), {"rows": [("ce_rule", "17")] * 2}, {"rows": [("ce_response", "17")]}),
        (SearchQuery(stage="POLICY_BLOCK"), {"stages": ["POLICY_BLOCK", "POLICY_BLOCK"]}, {"stages": ["USER_INPUT"]}),
        (
            SearchQuery(stage="RULE_APPLIED"),
            {"stages": ["RULE_APPLIED (RulesStep)", "RULE_APPLIED (McpToolStep)"]},
            {"stages": ["RULE_MATCH (RulesStep)"]},
        ),
        (SearchQuery(text=TextQuery.read("invoice")), {"user_input": "My INVOICE?"}, {"user_input": "invoices"}),
        (
            SearchQuery(text=TextQuery.read("zurück")),
            {"assistant_output": {"type": "TEXT", "value": "Geld zuruck."}},
            {"assistant_output": None},
        ),
    ],
    ids=lambda value: "",
)
def test_turns_are_found_by_what_is_known_of_them(asked: SearchQuery, has: Any, lacks: Any) -> None:
    turn(1, **lacks)
    wanted = [turn(number, **has).pk for number in (2, 3)]
    turn(4, **lacks)
    list(index_new_turns())

    both = SearchQuery(**{**vars(asked), "since": BEGIN, "until": BEGIN + timedelta(minutes=2)})

    assert find_ids(asked) == wanted[::-1]
    assert find_ids(both) == wanted[:1]
    totals = [count_matches(each) for each in (asked, both)]
    assert totals == [Total(2, exact=True), Total(1, exact=True)]


def test_turns_of_a_participant_stand_session_by_session() -> None:
    older, newer = (
        conversation(remote_jid="+4912", created_at=BEGIN + timedelta(days=days), channel=channel)
        for days, channel in ((0, "sms"), (1, "mail"))
    )
    first, second, third = (turn(number, of=one).pk for number, one in enumerate((older, newer, newer)))
    turn(9, of=conversation(remote_jid="+4911"))

    assert find_ids(SearchQuery(participant="+4912")) == [third, second, first]
    assert count_matches(SearchQuery(participant="+4912")) == Total(3, exact=True)
    assert find_ids(SearchQuery(participant="+4912", channel="sms")) == [first]
    once = find_turns(SearchQuery(participant="+4912", kind=CONVERSATIONS), None, 9)
    assert [match.conversation_id for match in once.matches] == [newer.pk, older.pk]


def test_a_total_without_an_index_is_of_as_many_turns_as_a_page_looks_at(monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(30):
        turn(number, duration_ms=9000)
    slow = SearchQuery(duration=5000)
    page = find_turns(slow, None, 2)

    assert count_with_page(slow, page) == Total(30, exact=True)
    assert count_with_page(slow, find_turns(slow, None, 30)) == Total(30, exact=True)
    monkeypatch.setattr(walk, "RECORDS", 20)
    assert count_with_page(slow, page) == Total(20, exact=False)
    assert count_with_page(slow, find_turns(slow, None, 25)) == Total(20, exact=False)


def test_turns_of_a_participant_are_counted_by_columns_of_one_index() -> None:
    (index,) = (index for index in CeConversationHistory._meta.indexes if index.name == "ce_history_turn")
    columns = {"conversation_id" if name == "conversation" else name for name in (*index.fields, *index.include)}
    names = {field.column for field in CeConversationHistory._meta.concrete_fields}

    with CaptureQueriesContext(connection) as queries:
        count_matches(SearchQuery(participant="+4912"))

    (counted,) = (query["sql"] for query in queries if "COUNT(" in query["sql"])
    read = {name for name in names if f'"ce_conversation_history"."{name}"' in counted}
    assert read == columns


@pytest.mark.skipif("connection.vendor != 'postgresql'", reason="Only PostgreSQL has an index of words.")
def test_turns_that_wait_for_the_index_of_words_are_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_index, "OVERLAP", 0)
    monkeypatch.setattr(text_index, "_SPAN", 1)
    for number in range(4):
        turn(number, user_input="invoice")
    list(index_new_turns())
    turn(5, user_input="invoice")

    with CaptureQueriesContext(connection) as queries:
        assert find_ids(SearchQuery(text=TextQuery.read("invoice"), duration=10**6)) == []

    statements = [query["sql"] for query in queries]
    assert sum("words @@" in sql for sql in statements) >= 4
    # Not at each look into the index.
    assert sum('"ce_conversation_history"."history_id" > ' in sql for sql in statements) == 1


def test_a_participant_may_have_an_id_for_a_name() -> None:
    name = str(uuid.uuid4())
    made = [turn(number, conversation(remote_jid=name, channel="web")).pk for number in range(2)]

    assert find_ids(SearchQuery(participant=name)) == made[::-1]


def test_an_id_is_of_a_conversation_or_of_a_turn_and_on_the_plain_api_a_participant() -> None:
    session = conversation()
    first, second = turn(1, of=session), turn(2, of=session)
    turn(3)

    assert find_ids(SearchQuery(id=session.pk)) == [second.pk, first.pk]
    assert find_ids(SearchQuery(id=first.turn_id)) == [first.pk]
    assert find_ids(SearchQuery(participant=str(session.pk))) == [second.pk, first.pk]


@pytest.mark.parametrize(
    "asked",
    [
        SearchQuery(),
        SearchQuery(intent="CANCEL"),
        SearchQuery(table="ce_rule", row="1"),
        SearchQuery(stage="RULE_APPLIED"),
        SearchQuery(participant="+49"),
        SearchQuery(text=TextQuery.read("hello")),
        SearchQuery(intent="CANCEL", stage="RULE_APPLIED"),
    ],
    ids=lambda value: "",
)
def test_pages_lead_to_the_end_and_back_with_every_turn_once(asked: SearchQuery) -> None:
    sessions = [conversation(remote_jid="+49", created_at=BEGIN + timedelta(days=day)) for day in range(2)]
    facts: Any = {"intent_code": "CANCEL", "rows": [("ce_rule", "1")]}
    stages = ["RULE_APPLIED (RulesStep)", "RULE_APPLIED (McpToolStep)", "RULE_APPLIED (RulesStep)"]
    # Some at the same moment: the order is the same whichever way one goes.
    every = [turn(number // 3, of=sessions[number // 6], stages=stages, **facts).pk for number in range(12)]
    list(index_new_turns())

    way = list(pages(asked, 5))
    there = [[match.history_id for match in page.matches] for page in way]
    back = find_turns(asked, way[2].newer, 5)

    assert [one for page in there for one in page] == every[::-1]
    assert [match.history_id for match in back.matches] == there[1]
    assert back.older is not None
    assert find_turns(asked, back.older, 5).matches == way[2].matches
    # A page that would begin above the newest is the newest.
    assert find_turns(asked, back.newer, 5).matches == way[0].matches
    assert way[0].newer is None


def test_a_conversation_stands_once_at_its_newest_turn_that_fits_on_every_page() -> None:
    first, second, third = (conversation() for _ in range(3))
    for number, one in enumerate((first, second, first, third, second, first)):
        turn(number, of=one, intent_code="CANCEL")
    turn(9, of=third, intent_code="OTHER")
    asked = SearchQuery(intent="CANCEL", kind=CONVERSATIONS)

    way = list(pages(asked, 1))

    assert [[match.conversation_id for match in page.matches] for page in way] == [[first.pk], [second.pk], [third.pk]]
    back = find_turns(asked, way[2].newer, 1)
    assert [match.conversation_id for match in back.matches] == [second.pk]


def test_the_rarest_of_what_is_asked_is_looked_up_and_the_rest_checked() -> None:
    for number in range(30):
        turn(number, intent_code="CANCEL", config_version=1)
    rare = turn(31, intent_code="CANCEL", config_version=2, duration_ms=500)
    for number in range(32, 60):
        turn(number, intent_code="CANCEL", config_version=1)

    page = find_turns(SearchQuery(intent="CANCEL", release=2, duration=100), None, 50)

    assert [match.history_id for match in page.matches] == [rare.pk]
    assert page.looked == 1


def test_a_walk_that_finds_little_pauses_says_where_and_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(walk, "RECORDS", 20)
    slow = turn(0, duration_ms=9000)
    for number in range(1, 40):
        turn(number, duration_ms=1)

    way = list(pages(SearchQuery(duration=5000), 5))

    first = way[0]
    assert not first.matches
    assert first.paused is not None
    assert first.paused > BEGIN
    assert first.looked == 20
    assert first.further == first.older
    assert [match.history_id for page in way for match in page.matches] == [slow.pk]
    assert way[-1].paused is None


def test_a_page_costs_the_same_number_of_statements_however_many_turns_there_are() -> None:
    def statements(asked: SearchQuery) -> int:
        with CaptureQueriesContext(connection) as captured:
            find_turns(asked, None, 5)
        assert not [one for one in captured.captured_queries if "COUNT(" in one["sql"]]
        return len(captured)

    asked = [
        SearchQuery(intent="CANCEL"),
        SearchQuery(),
        SearchQuery(table="ce_rule", row="1"),
        SearchQuery(stage="USER_INPUT"),
    ]
    for number in range(6):
        turn(number, intent_code="CANCEL", rows=[("ce_rule", "1")], stages=["USER_INPUT"])
    few = [statements(one) for one in asked]
    for number in range(6, 40):
        turn(number, intent_code="CANCEL", rows=[("ce_rule", "1")], stages=["USER_INPUT"])

    assert [statements(one) for one in asked] == few
    assert max(few) <= 3


@pytest.mark.long
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

    page = find_turns(SearchQuery(since=since, until=until), None, 50)

    assert len(page.matches) == 11
    assert page.looked < 1_200


@pytest.mark.parametrize("text", ["", "o", "oz1", "xh1", "oh-1", "oh1 ", "oh" + "9" * 19])
def test_what_is_no_place_is_none(text: str) -> None:
    turn()
    cursor = Cursor.read(text)

    assert cursor is None or len(find_turns(SearchQuery(), cursor, 5).matches) == 1


@pytest.mark.parametrize("kind", FormStep)
def test_a_cursor_names_one_source_whatever_is_asked(kind: FormStep, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(filters, "is_available", lambda: True)
    search = SearchQuery(
        text=TextQuery.read("hours"),
        stage="FIELDS_READ",
        state="HAND_OVER",
        milestone="HANDED_OVER",
        model="main/small",
        step=FormProgress(2, kind, "phone"),
        group=1,
        intent="HOURS",
        feedback="THUMBS_UP",
        release=1,
        error="E",
        table="ce_rule",
        row="1",
        status="FAILED",
    )
    codes = [known.source.code for known in build_filters(search) if known.source]
    assert len(codes) == len(set(codes))
