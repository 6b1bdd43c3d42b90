"""Runs of actions, deliveries, threads, stored answers and the session before: any change by SQL names its row."""

from collections.abc import Iterator

import pytest
from django.conf import LazySettings
from django.db import connection, transaction
from django.test import Client

from audit.erasure.erase import EraseOrder, erase_participant
from audit.integrity import ledger, verify
from audit.models import CeErasure, CeLedger
from config_admin.releases.change_set import change_set
from convengine.server.extensions.registry import TaskEntry, registry
from convengine.server.jobs.outbox import send_again
from convengine.server.sessions import old_turns
from convengine.server.sessions.models import CeConversation, CeIdempotency, CePendingActionExecution, CeThread
from convengine.server.webhooks import send
from convengine.server.webhooks.events import EVENTS
from convengine.server.webhooks.models import CeWebhook, CeWebhookDelivery
from convengine.server.webhooks.send import create_secret
from tests.database import allow_forging
from tests.threads import DAY, HOUR, Participant, later, travel_desk
from tests.worlds import set_audit_setting

pytestmark = [pytest.mark.django_db, pytest.mark.dialects]
RUNS, DELIVERIES, WEBHOOKS = "ce_pending_action_execution", "ce_webhook_delivery", "ce_webhook"
THREADS, ANSWERS, CONVERSATIONS = "ce_thread", "ce_idempotency", "ce_conversation"
#: Values that no row of the world has.
OTHER_ID = "'" + "0" * 31 + "7'"
CHANGES = {
    RUNS: (
        *("action_key = 'other'", "action_ref = 'refunds:nothing'", "status = 'FAILED'", "request_hash = 'x'"),
        *("result_json = '{}'", "finished_at = NULL", "started_at = '2020-01-01 00:00:00'"),
        *(f"turn_id = {OTHER_ID}", f"runtime_nonce = {OTHER_ID}", "proof = 'x'"),
    ),
    DELIVERIES: (
        *("event = 'turn.failed'", "body = replace(body, 'whatsapp', 'x')", "status = 'SENT'", "error = 'none'"),
        *("sent_at = '2020-01-01 00:00:00'", "created_at = '2020-01-01 00:00:00'", "conversation_id = 'x'"),
        f"event_id = {OTHER_ID}",
    ),
    WEBHOOKS: ("url = 'https://eve.example'", "events = '[]'", "secret = 'x'", "workspace_id = 'x'", "name = 'x'"),
    THREADS: ("remote_jid = 'eve'", "channel = 'x'", "workspace_id = 'x'"),
    ANSWERS: (
        *("answer = '{}'", "body_hash = 'x'", "api_key = 'x'", "key = 'x'", f"turn_id = {OTHER_ID}"),
        *("expires_at = '2020-01-01 00:00:00'", "expires_at = '2040-01-01 00:00:00'"),
    ),
}


@pytest.fixture
def writer(settings: LazySettings) -> Iterator[Participant]:
    """A participant with a refund that was confirmed, two sessions, deliveries, a stored answer; and a root after."""
    registry.add_task("refunds", TaskEntry({"pay": lambda call: {"paid": 20.5, "steps": [1, None, "ß"], "at": 1e22}}))
    travel_desk()
    CeWebhook.objects.create(
        name="desk", url="https://hooks.example.com/bot", events=list(EVENTS), secret=create_secret()
    )
    writer = Participant()
    writer.say("trip")
    writer.say("refund please")
    body = {**writer.thread, "user_message": "yes"}
    writer.call("post", "/message", body, **{"Idempotency-Key": "once"})
    later(settings, 2 * HOUR)
    list(ledger.write_root())
    yield writer
    del registry.tasks["refunds"]


def list_findings() -> list[tuple[str, str, str]]:
    parts = [*verify.verify_range(), verify.verify_other_tables()]
    return [(finding.table, finding.code, finding.row) for part in parts for finding in part.findings]


def find_key(table: str) -> str:
    """The key of the only or the first row of a table."""
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT min({find_key_column(table)}) FROM {table}")
        return str(cursor.fetchone()[0])


def find_key_column(table: str) -> str:
    return {DELIVERIES: "delivery_id", WEBHOOKS: "webhook_id"}.get(table, "id")


def execute(sql: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(sql)
        assert cursor.rowcount


def find_reports(table: str, sql: str) -> list[tuple[str, str]]:
    """Code and row of what is reported of a table after a statement, which is taken back."""
    with transaction.atomic():
        with allow_forging(table):
            execute(sql)
        findings = [(code, row) for name, code, row in list_findings() if name == table]
        transaction.set_rollback(True)
    return findings


def test_what_the_product_writes_is_intact(writer: Participant) -> None:
    for model in (CePendingActionExecution, CeWebhookDelivery, CeThread, CeIdempotency):
        assert model._default_manager.exists(), model
    assert CeConversation.objects.exclude(previous_session=None).exists()
    assert list_findings() == []
    for key in CeConversation.objects.values_list("pk", flat=True):
        assert verify.verify_conversation(key).intact


@pytest.mark.parametrize("table", CHANGES)
def test_each_changed_column_names_its_row(writer: Participant, table: str) -> None:
    where = f"WHERE {find_key_column(table)} = {find_key(table)}"
    missed = {
        change: reports
        for change in CHANGES[table]
        if ("ROW_CHANGED", find_key(table))
        not in (reports := find_reports(table, f"UPDATE {table} SET {change} {where}"))
    }
    assert missed == {}
    assert list_findings() == []


@pytest.mark.parametrize("table", CHANGES)
def test_each_removed_row_is_named(writer: Participant, table: str) -> None:
    key = find_key(table)
    if table == WEBHOOKS:
        CeWebhookDelivery.objects.all().delete()
    reports = find_reports(table, f"DELETE FROM {table} WHERE {find_key_column(table)} = {key}")
    assert ("ROW_MISSING", key) in reports


@pytest.mark.parametrize(
    ("table", "others"),
    [
        (RUNS, {"runtime_nonce": OTHER_ID}),
        (DELIVERIES, {"event_id": OTHER_ID}),
        (WEBHOOKS, {"name": "'eve'"}),
        (THREADS, {"remote_jid": "'eve'"}),
        (ANSWERS, {"key": "'eve'"}),
    ],
)
@pytest.mark.parametrize("with_proof", [False, True])
def test_each_added_row_is_named(writer: Participant, table: str, others: dict[str, str], with_proof: bool) -> None:
    with connection.cursor() as cursor:
        columns = [column.name for column in connection.introspection.get_table_description(cursor, table)]
    skipped = {find_key_column(table), *(set() if with_proof else {"proof"})}
    names = [name for name in columns if name not in skipped]
    values = ", ".join(others.get(name, name) for name in names)
    where = f"WHERE {find_key_column(table)} = {find_key(table)}"
    reports = find_reports(table, f"INSERT INTO {table} ({', '.join(names)}) SELECT {values} FROM {table} {where}")
    (report,) = reports
    is_copied = with_proof and table != WEBHOOKS
    assert (report[0], report[1] != find_key(table)) == ("ROW_CHANGED" if is_copied else "ROW_ADDED", True)


@pytest.mark.parametrize("value", ["NULL", "conversation_id"])
def test_another_session_before_is_named(writer: Participant, value: str) -> None:
    row = CeConversation.objects.exclude(previous_session=None).get()
    reports = find_reports(
        CONVERSATIONS, f"UPDATE ce_conversation SET previous_session_id = {value} WHERE previous_session_id IS NOT NULL"
    )
    assert reports == [("CONVERSATION_CHANGED", str(row.pk))]


def test_a_run_whose_earlier_state_is_put_back_is_named_by_its_turn(writer: Participant) -> None:
    run = CePendingActionExecution.objects.get()
    run.status, run.finished_at, run.result_json = "CLAIMED", None, None
    run.sign()
    run.save()
    ((table, code, row),) = list_findings()
    assert (table, code, row) == (RUNS, "ROW_CHANGED", str(run.pk))


def test_a_removed_run_is_named_without_a_root(writer: Participant) -> None:
    CeLedger.objects.all().purge()
    CePendingActionExecution.objects.all().delete()
    assert (RUNS, "ROW_MISSING") in {(table, code) for table, code, _ in list_findings()}


def test_a_false_row_does_not_become_genuine_when_the_product_changes_it(writer: Participant) -> None:
    delivery = CeWebhookDelivery.objects.order_by("pk").first()
    assert delivery is not None
    execute(f"UPDATE ce_webhook_delivery SET body = '{{}}' WHERE delivery_id = {delivery.pk}")
    delivery.refresh_from_db()
    CeWebhookDelivery.objects.filter(pk=delivery.pk).update(**delivery.describe_change({"status": "SENT"}))
    assert list_findings() == [(DELIVERIES, "ROW_CHANGED", str(delivery.pk))]


def test_the_list_of_a_root_cannot_be_emptied(writer: Participant) -> None:
    with allow_forging("ce_ledger"):
        execute("UPDATE ce_ledger SET rows = NULL")
    assert ("ce_ledger", "LEDGER_DIFFERS") in {(table, code) for table, code, _ in list_findings()}


@pytest.mark.skipif("connection.vendor != 'sqlite'", reason="PostgreSQL refuses such a write.")
@pytest.mark.parametrize(
    ("table", "column"), [(RUNS, "started_at"), (DELIVERIES, "created_at"), (ANSWERS, "expires_at")]
)
def test_a_value_that_nobody_can_read_is_named_and_stops_no_root(writer: Participant, table: str, column: str) -> None:
    execute(f"UPDATE {table} SET {column} = 'x'")
    CeLedger.objects.all().purge()
    list(ledger.write_root())
    assert (table, "ROW_CHANGED", find_key(table)) in list_findings()


def test_an_erasure_is_no_damage(writer: Participant) -> None:
    list(erase_participant(writer.remote_jid, EraseOrder("ada", "ticket 4711")))
    assert CeErasure.objects.exists()
    for model in (CePendingActionExecution, CeIdempotency, CeThread):
        assert not model._default_manager.exists()
    assert list_findings() == []


def test_what_rules_remove_is_no_damage(writer: Participant, settings: LazySettings) -> None:
    with change_set():
        set_audit_setting("RETENTION_DAYS", 30)
    for key in CeConversation.objects.exclude(lifecycle__in=["COMPLETE", "ABORTED"]).values_list("pk", flat=True):
        writer.call("post", f"/{key}/close", {"reason": "solved"})
    later(settings, 33 * DAY)
    list(old_turns.remove_short_lived())
    list(send.remove_old_deliveries())
    assert not CeIdempotency.objects.exists()
    assert not CeWebhookDelivery.objects.exists()
    assert list_findings() == []
    list(old_turns.remove_old_turns())
    assert not CePendingActionExecution.objects.exists()
    assert list_findings() == []


def test_a_session_outlives_the_one_before_it_lawfully(writer: Participant, settings: LazySettings) -> None:
    with change_set():
        set_audit_setting("RETENTION_DAYS", 30)
    second = CeConversation.objects.exclude(previous_session=None).get()
    later(settings, 20 * DAY)
    writer.say("hours")
    later(settings, 33 * DAY)
    list(old_turns.remove_old_turns())
    assert not CeConversation.objects.filter(pk=second.previous_session_id).exists()
    second.refresh_from_db()
    assert second.previous_session_id is None
    assert list_findings() == []


def test_a_deleted_webhook_takes_its_deliveries_lawfully(writer: Participant, admin_client: Client) -> None:
    webhook = CeWebhook.objects.get()
    admin_client.post(f"/admin/ce_webhooks/cewebhook/{webhook.pk}/delete/", {"post": "yes"})
    assert not CeWebhookDelivery.objects.exists()
    assert list_findings() == []


def test_deliveries_that_fail_and_are_sent_again_stay_intact(writer: Participant) -> None:
    for row in CeWebhookDelivery.objects.all():
        CeWebhookDelivery.objects.filter(pk=row.pk).update(**row.describe_change({"status": "FAILED", "error": "gone"}))
    assert send_again(CeWebhookDelivery.objects.all()) == CeWebhookDelivery.objects.count()
    assert list_findings() == []
