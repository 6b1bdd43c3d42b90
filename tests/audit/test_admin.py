"""The record in the admin: events, deciding rows and model calls, to read."""

import uuid
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from audit.models import CeAudit, CeLlmCallLog, CeTurnIndex
from convengine.server.sessions.models import CeConversation
from tests.record import call, entry, store_turn
from tests.sign_in import sign_in_superuser

pytestmark = pytest.mark.django_db
CONVERSATION, TURN = uuid.uuid4(), uuid.uuid4()


@pytest.fixture
def reader() -> Client:
    return sign_in_superuser()


def address(model: Any, page: str = "changelist", *args: Any) -> str:
    return reverse(f"admin:audit_{model._meta.model_name}_{page}", args=args)


def store(entries: list[dict[str, Any]], turn_no: int = 1, turn_id: uuid.UUID = TURN) -> list[CeAudit]:
    """The events of a turn, as the view shows them."""
    conversation, _ = CeConversation.objects.get_or_create(conversation_id=CONVERSATION)
    row = store_turn(conversation, entries, turn_no=turn_no, turn_id=turn_id)
    return list(CeAudit.objects.filter(turn_id=row.turn_id).order_by("seq"))


def event(seq: int, stage: str = "USER_INPUT", **values: Any) -> CeAudit:
    (row,) = store([entry(seq, stage, {"text": "ünï"})], **values)
    return row


def events(*stages: str) -> list[CeAudit]:
    return store([entry(seq, stage, {"text": "ünï"}) for seq, stage in enumerate(stages, start=1)])


def list_shown_rows(reader: Client, query: str = "", model: Any = CeAudit) -> list[Any]:
    return list(reader.get(address(model) + query).context["cl"].result_list)


def test_the_newest_event_stands_first(reader: Client) -> None:
    shown = events(*["USER_INPUT"] * 3)

    assert list_shown_rows(reader) == shown[::-1]


def test_the_events_of_a_turn_stand_in_their_order(reader: Client) -> None:
    shown = events(*["USER_INPUT"] * 3)
    event(1, turn_no=2, turn_id=uuid.uuid4())

    assert list_shown_rows(reader, f"?conversation_id={CONVERSATION}&turn_no=1") == shown


def test_a_long_turn_is_read_page_by_page_in_its_order(reader: Client) -> None:
    shown = events(*["X"] * 30)
    query = f"?conversation_id={CONVERSATION}&turn_no=1"
    first = reader.get(address(CeAudit) + query).context["cl"]

    rest = list_shown_rows(reader, first.paginator.older)

    assert [found.pk for found in (*first.result_list, *rest)] == [found.pk for found in shown]


def test_a_stage_is_found_from_whichever_step_it_came(reader: Client) -> None:
    plain, from_a_step, _ = events("RULE_APPLIED", "RULE_APPLIED (RulesStep)", "RULE_APPLIED_NOT")

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
    queries()  # The first entry of the access log begins the chain of its day.
    few = queries()
    store([entry(seq, "X") for seq in range(1000)], 2, uuid.uuid4())

    assert queries() == few


@pytest.mark.parametrize("model", [CeAudit, CeTurnIndex, CeLlmCallLog], ids=lambda model: model._meta.db_table)
def test_nobody_adds_events_by_hand(model: Any, reader: Client) -> None:
    assert reader.get(address(model, "add")).status_code == 403
    assert list_shown_rows(reader, model=model) == []


def test_an_event_is_neither_changed_nor_deleted(reader: Client) -> None:
    found = event(1)

    assert reader.post(address(CeAudit, "change", found.pk), {"stage": "X"}).status_code == 403
    assert reader.post(address(CeAudit, "delete", found.pk), {"post": "yes"}).status_code == 403


def test_a_deciding_row_leads_to_the_row_and_the_turn(reader: Client) -> None:
    found = CeTurnIndex.objects.create(turn_id=TURN, kind="ce_rule", value="41", role="RULE")

    page = reader.get(address(CeTurnIndex, "change", found.pk)).content.decode()

    assert reverse("admin:config_admin_cerule_change", args=[41]) in page
    assert f"?turn_id={TURN}" in page
    assert list_shown_rows(reader, f"?turn_id={TURN}", CeTurnIndex) == [found]


def test_a_row_of_an_unknown_table_is_named_without_a_link(reader: Client) -> None:
    CeTurnIndex.objects.create(turn_id=TURN, kind="ce_gone", value="1", role="RULE")

    assert "ce_gone 1" in reader.get(address(CeTurnIndex)).content.decode()


def test_a_model_call_shows_what_was_asked_and_answered(reader: Client) -> None:
    asked = call(prompt_text="line\nanother", response_text="yes", purpose="POLICY")
    store([entry(1, "USER_INPUT", calls=[asked])], 3)
    found = CeLlmCallLog.objects.get()

    assert "Policy · turn 3" in reader.get(address(CeLlmCallLog)).content.decode()
    assert "line\nanother" in reader.get(address(CeLlmCallLog, "change", found.pk)).content.decode()


def test_the_model_calls_of_a_turn_stand_in_their_order_with_tokens_cost_and_error(reader: Client) -> None:
    calls = [
        call(
            no=attempt, prompt_text="p", purpose="POLICY", attempt=attempt, response_text="fine", input_tokens=40,
            output_tokens=10, cost=0.00025, latency_ms=1234, success=False, **values,
        )
        for attempt, values in enumerate(({"error_message": "LLM_TIMEOUT: too slow"}, {}), start=1)
    ]  # fmt: skip
    calls[1]["success"] = True
    store([entry(1, "USER_INPUT", calls=calls)], 3)

    page = reader.get(f"{address(CeLlmCallLog)}?conversation_id={CONVERSATION}&turn_no=3").content.decode()

    told = ("LLM_TIMEOUT: too slow", "Policy · turn 3 · attempt 2", "fine", "40 / 10", "0.00025", "1234")
    assert [text for text in told if text not in page] == []
    assert page.index("LLM_TIMEOUT") < page.index("attempt 2")
