"""Conversations and turns are read: newest first, by key, without a count, and nobody changes them."""

from typing import Any

import pytest
from django.db import OperationalError, connection, models
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from convengine.server.queued.models import CeQueuedMessage
from convengine.server.sessions.models import (
    CeConversation,
    CeConversationHistory,
    CeIdempotency,
    CeMemory,
    CePendingActionExecution,
    CeSessionUnit,
    CeTurnTicket,
)
from tests.sign_in import sign_in_superuser

pytestmark = pytest.mark.django_db
MODELS = (
    *(CeConversation, CeConversationHistory, CeMemory, CeSessionUnit, CePendingActionExecution),
    *(CeTurnTicket, CeIdempotency),
)


@pytest.fixture
def reader() -> Client:
    return sign_in_superuser()


def address(model: Any, page: str = "changelist", *args: Any) -> str:
    return reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_{page}", args=args)


def conversation(**values: Any) -> CeConversation:
    return CeConversation.objects.create(**{"remote_jid": str(CeConversation.objects.count())} | values)


def turn(of: CeConversation, number: int, **values: Any) -> CeConversationHistory:
    defaults = {"user_input": f"text {number}", "config_version": 1, "status": "OK"}
    return CeConversationHistory.objects.create(conversation=of, turn_no=number, **defaults | values)


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model._meta.db_table)
def test_nobody_adds_changes_or_deletes(model: type[models.Model], reader: Client) -> None:
    assert reader.get(address(model, "add")).status_code == 403
    assert reader.get(address(model)).status_code == 200
    assert reader.post(address(model), {"action": "delete_selected", "_selected_action": "1"}).status_code == 200


def test_a_turn_leads_to_its_conversation_its_trail_and_its_release(reader: Client) -> None:
    row = conversation()
    record = turn(row, 1, status="FAILED", error_code="RESPONSE_MAPPING_NOT_FOUND", error_message="No row fits.")

    page = reader.get(address(CeConversationHistory, "change", record.pk)).content.decode()

    for part in (
        address(CeConversation, "change", row.pk),
        f"{reverse('admin:audit_ceaudit_changelist')}?conversation_id={row.pk}&turn_no=1",
        reverse("admin:config_admin_cerelease_change", args=[1]),
        "RESPONSE_MAPPING_NOT_FOUND",
        "No row fits.",
    ):
        assert part.replace("&", "&amp;") in page.replace("&amp;", "&").replace("&", "&amp;"), part


@pytest.mark.skipif(
    connection.vendor == "sqlite",
    reason="On SQLite, this error says that a value is no text, and the page says that the row does not exist.",
)
def test_a_database_that_fails_is_no_row_that_does_not_exist(reader: Client) -> None:
    row = conversation()

    def fail(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        if "ce_conversation" in sql:
            raise OperationalError("the connection is lost")
        return execute(sql, params, many, context)

    with connection.execute_wrapper(fail), pytest.raises(OperationalError):
        reader.get(address(CeConversation, "change", row.pk))


def test_pages_follow_one_another_without_a_count(reader: Client) -> None:
    row = conversation()
    CeConversationHistory.objects.bulk_create(
        CeConversationHistory(conversation=row, turn_no=number, config_version=1) for number in range(1, 121)
    )
    url, seen = address(CeConversationHistory), []

    with CaptureQueriesContext(connection) as captured:
        while url:
            changes = reader.get(url).context["cl"]
            seen += [row.turn_no for row in changes.result_list]
            url = address(CeConversationHistory) + changes.paginator.older if changes.paginator.older else ""

    assert seen == list(range(120, 0, -1))
    assert not [query for query in captured.captured_queries if "COUNT(" in query["sql"]]


def test_pages_of_equal_times_leave_nothing_out(reader: Client) -> None:
    first = conversation()
    CeConversation.objects.bulk_create(
        CeConversation(remote_jid=f"x{number}", updated_at=first.updated_at) for number in range(80)
    )
    url, seen = address(CeConversation), []

    while url:
        changes = reader.get(url).context["cl"]
        seen += [row.pk for row in changes.result_list]
        url = address(CeConversation) + changes.paginator.older if changes.paginator.older else ""

    assert len(seen) == len(set(seen)) == 81


def test_a_place_that_is_none_shows_the_first_page(reader: Client) -> None:
    conversation()

    assert len(reader.get(f"{address(CeConversation)}?before=nonsense").context["cl"].result_list) == 1


@pytest.mark.nightly
@pytest.mark.parametrize("model", [CeConversation, CeConversationHistory], ids=lambda model: model._meta.db_table)
def test_a_list_of_a_thousand_costs_as_many_queries_as_one_of_ten(model: Any, reader: Client) -> None:
    def add(numbers: range) -> None:
        sessions = CeConversation.objects.bulk_create(CeConversation(remote_jid=f"x{n}") for n in numbers)
        CeConversationHistory.objects.bulk_create(
            CeConversationHistory(conversation=row, turn_no=1, config_version=1) for row in sessions
        )

    def queries() -> int:
        reader.get(address(model))
        with CaptureQueriesContext(connection) as captured:
            reader.get(address(model))
        return len(captured)

    add(range(10))
    few = queries()
    add(range(10, 1000))

    assert queries() == few
    assert few <= 6


def test_turns_are_found_by_either_id(reader: Client) -> None:
    row, other = conversation(), conversation()
    wanted = [turn(row, number) for number in (1, 2)]
    turn(other, 1)

    def search(text: Any) -> list[Any]:
        return list(reader.get(f"{address(CeConversationHistory)}?q={text}").context["cl"].result_list)

    assert search(row.pk) == wanted[::-1]
    assert search(wanted[0].turn_id) == wanted[:1]
    assert search("no id") == []


def test_conversations_are_found_by_status(reader: Client) -> None:
    conversation()
    blocked = conversation(status="BLOCKED")

    assert list(reader.get(f"{address(CeConversation)}?status__exact=BLOCKED").context["cl"].result_list) == [blocked]


def test_every_other_page_of_the_record_opens(reader: Client) -> None:
    row = conversation()
    made = (
        CeMemory.objects.create(conversation=row, remote_jid="x", summary_text="s", from_turn=1, to_turn=2),
        CeSessionUnit.objects.create(conversation=row, kind="FACT", topic="t", claim="c", source_turn=1),
        CePendingActionExecution.objects.create(
            conversation=row, turn_id=row.pk, runtime_nonce=row.pk, status="CLAIMED", action_key="PAY"
        ),
        CeTurnTicket.objects.create(conversation_id=row.pk, arrived_at=row.created_at, expires_at=row.created_at),
        CeQueuedMessage.objects.create(
            message_id=row.pk,
            conversation_id=row.pk,
            order_key=row.pk,
            request={},
            created_at=row.created_at,
            next_attempt_at=row.created_at,
        ),
        CeIdempotency.objects.create(
            conversation_id=row.pk, turn_id=row.pk, answer={}, created_at=row.created_at, expires_at=row.created_at
        ),
    )

    for record_row in made:
        assert reader.get(address(type(record_row))).status_code == 200
        assert reader.get(address(type(record_row), "change", record_row.pk)).status_code == 200
