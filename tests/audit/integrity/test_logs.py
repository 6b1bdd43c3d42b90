"""A log with a value that no column holds is still read: the entry is reported, and shown as unreadable."""

import uuid
from contextlib import nullcontext
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.urls import reverse

from audit.feedback.store import FeedbackInput, store_feedback
from audit.integrity import ledger, verify
from audit.models import CeAccessLog
from tests.api import Caller
from tests.database import allow_forging

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.dialects,
    pytest.mark.skipif("connection.vendor != 'sqlite'", reason="PostgreSQL refuses such a write."),
]


@pytest.mark.parametrize(
    ("table", "key", "column", "value", "model"),
    [
        ("ce_access_log", "access_id", "created_at", "yesterday", "ceaccesslog"),
        ("ce_access_log", "access_id", "search", b"\xff\x01", "ceaccesslog"),
        ("ce_access_log", "access_id", "conversation_id", "nobody", "ceaccesslog"),
        ("ce_access_log", "access_id", "turn_no", "first", "ceaccesslog"),
        ("ce_mcp_user_feedback", "feedback_id", "metadata_json", "{", "cemcpuserfeedback"),
        ("ce_mcp_user_feedback", "feedback_id", "comment", b"\xff", "cemcpuserfeedback"),
        ("ce_mcp_user_feedback", "feedback_id", "created_at", "soon", "cemcpuserfeedback"),
        ("ce_ledger", "entry_id", "created_at", "soon", "celedger"),
        ("ce_ledger", "entry_id", "count", "many", "celedger"),
        ("ce_ledger", "entry_id", "detail", b"\xff", "celedger"),
    ],
)
def test_an_unreadable_value_hides_no_other_entry(
    caller: Caller, admin_client: Client, table: str, key: str, column: str, value: Any, model: str
) -> None:
    caller.say("hours")
    for reader in ("ada", "grace"):
        CeAccessLog.objects.create(reader=reader, kind="SEARCH", search="a search")
        store_feedback(uuid.UUID(caller.conversation_id), None, reader, FeedbackInput("THUMBS_DOWN", comment=reader))
        list(ledger.write_root())
    sealed = nullcontext() if "feedback" in table else allow_forging(table)
    with sealed, connection.cursor() as cursor:
        cursor.execute("PRAGMA ignore_check_constraints = ON")
        cursor.execute(f"SELECT max({key}) FROM {table}")
        last = cursor.fetchone()[0]
        cursor.execute(f"UPDATE {table} SET {column} = %s WHERE {key} = %s", [value, last])
        cursor.execute("PRAGMA ignore_check_constraints = OFF")

    findings = [(finding.table, finding.row, finding.code) for finding in verify.verify_other_tables().findings]
    entries = admin_client.get(reverse(f"admin:audit_{model}_changelist"))
    entry = admin_client.get(reverse(f"admin:audit_{model}_change", args=[last]))

    assert (table, str(last), "LOG_CHANGED") in findings
    assert [entries.status_code, entry.status_code] == [200, 200]
    # The pages do not show metadata.
    assert column == "metadata_json" or "(unreadable)" in entries.content.decode() + entry.content.decode()
    assert len(entries.context["cl"].result_list) >= 2
