"""The record in the admin: events, deciding rows and model calls, to read."""

import uuid
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from audit.models import CeAudit, CeLlmCallLog, CeTurnRow

pytestmark = pytest.mark.django_db
CONVERSATION, TURN = uuid.uuid4(), uuid.uuid4()


@pytest.fixture
def reader() -> Client:
    client = Client()
    client.force_login(User.objects.create_superuser("ada"))
    return client


def address(model: Any, page: str = "changelist", *args: Any) -> str:
    return reverse(f"admin:audit_{model._meta.model_name}_{page}", args=args)


def event(seq: int, stage: str = "USER_INPUT", **values: Any) -> CeAudit:
    defaults = {"conversation_id": CONVERSATION, "turn_id": TURN, "turn_no": 1, "payload_json": {"text": "ünï"}}
    return CeAudit.objects.create(seq=seq, stage=stage, config_version=1, **defaults | values)


def list_shown_rows(reader: Client, query: str = "", model: Any = CeAudit) -> list[Any]:
    return list(reader.get(address(model) + query).context["cl"].result_list)


def test_the_newest_event_stands_first(reader: Client) -> None:
    events = [event(seq) for seq in (1, 2, 3)]

    assert list_shown_rows(reader) == events[::-1]


def test_the_events_of_a_turn_stand_in_their_order(reader: Client) -> None:
    events = [event(seq) for seq in (1, 2, 3)]
    event(1, turn_no=2)

    assert list_shown_rows(reader, f"?conversation_id={CONVERSATION}&turn_no=1") == events


def test_a_long_turn_is_read_page_by_page_in_its_order(reader: Client) -> None:
    events = CeAudit.objects.bulk_create(
        CeAudit(conversation_id=CONVERSATION, turn_no=1, seq=seq, stage="X", payload_json={}) for seq in range(1, 71)
    )
    query = f"?conversation_id={CONVERSATION}&turn_no=1"
    first = reader.get(address(CeAudit) + query).context["cl"]

    rest = list_shown_rows(reader, first.paginator.older)

    assert [found.pk for found in (*first.result_list, *rest)] == [found.pk for found in events]


def test_a_stage_is_found_from_whichever_step_it_came(reader: Client) -> None:
    plain, from_a_step = event(1, "RULE_APPLIED"), event(2, "RULE_APPLIED (RulesStep)")
    event(3, "RULE_APPLIED_NOT")

    assert list_shown_rows(reader, "?of_stage=RULE_APPLIED") == [from_a_step, plain]


def test_failures_stand_out_and_payloads_are_json(reader: Client) -> None:
    event(1, "ENGINE_KNOWN_FAILURE")

    page = reader.get(address(CeAudit)).content.decode()

    assert "bg-red-100" in page
    assert "{&quot;text&quot;: &quot;ünï&quot;}" in page


def test_the_list_counts_nothing_and_costs_the_same_for_any_number(reader: Client) -> None:
    def queries() -> int:
        with CaptureQueriesContext(connection) as captured:
            reader.get(address(CeAudit))
        assert not [query for query in captured.captured_queries if "COUNT(" in query["sql"]]
        return len(captured)

    event(1)
    few = queries()
    CeAudit.objects.bulk_create(
        CeAudit(conversation_id=CONVERSATION, turn_no=1, seq=seq, stage="X", payload_json={}) for seq in range(1000)
    )

    assert queries() == few


@pytest.mark.parametrize("model", [CeAudit, CeTurnRow, CeLlmCallLog], ids=lambda model: model._meta.db_table)
def test_nobody_adds_events_by_hand(model: Any, reader: Client) -> None:
    assert reader.get(address(model, "add")).status_code == 403
    assert list_shown_rows(reader, model=model) == []


def test_an_event_is_neither_changed_nor_deleted(reader: Client) -> None:
    found = event(1)

    assert reader.post(address(CeAudit, "change", found.pk), {"stage": "X"}).status_code == 403
    assert reader.post(address(CeAudit, "delete", found.pk), {"post": "yes"}).status_code == 403


def test_a_deciding_row_leads_to_the_row_and_the_turn(reader: Client) -> None:
    found = CeTurnRow.objects.create(turn_id=TURN, table_name="ce_rule", row_pk="41", role="RULE")

    page = reader.get(address(CeTurnRow, "change", found.pk)).content.decode()

    assert reverse("admin:config_admin_cerule_change", args=[41]) in page
    assert f"?turn_id={TURN}" in page
    assert list_shown_rows(reader, f"?turn_id={TURN}", CeTurnRow) == [found]


def test_a_row_of_an_unknown_table_is_named_without_a_link(reader: Client) -> None:
    CeTurnRow.objects.create(turn_id=TURN, table_name="ce_gone", row_pk="1", role="RULE")

    assert "ce_gone 1" in reader.get(address(CeTurnRow)).content.decode()


def test_a_model_call_shows_what_was_asked_and_answered(reader: Client) -> None:
    found = CeLlmCallLog.objects.create(
        conversation_id=CONVERSATION, prompt_text="line\nanother", response_text="yes", purpose="POLICY", turn_no=3
    )

    assert "Policy · turn 3" in reader.get(address(CeLlmCallLog)).content.decode()
    assert "line\nanother" in reader.get(address(CeLlmCallLog, "change", found.pk)).content.decode()


def test_the_model_calls_of_a_turn_stand_in_their_order_with_tokens_cost_and_error(reader: Client) -> None:
    for attempt, values in enumerate(({"error_message": "LLM_TIMEOUT: too slow"}, {"success": True}), start=1):
        CeLlmCallLog.objects.create(
            conversation_id=CONVERSATION, prompt_text="p", purpose="POLICY", turn_no=3, attempt=attempt,
            response_text="fine", input_tokens=40, output_tokens=10, cost="0.00025", latency_ms=1234, **values
        )  # fmt: skip

    page = reader.get(f"{address(CeLlmCallLog)}?conversation_id={CONVERSATION}&turn_no=3").content.decode()

    told = ("LLM_TIMEOUT: too slow", "Policy · turn 3 · attempt 2", "fine", "40 / 10", "0.00025", "1234")
    assert [text for text in told if text not in page] == []
    assert page.index("LLM_TIMEOUT") < page.index("attempt 2")
