"""The daily root, and what the product itself removes: recorded in the ledger, and no damage."""

import json
import uuid
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.urls import reverse

from audit.erasure.erase import EraseOrder, erase_participant
from audit.feedback.store import FeedbackInput, store_feedback
from audit.integrity import anchor, ledger, verify
from audit.models import CeAccessLog, CeChain, CeChainCut, CeErasure, CeLedger, CeMcpUserFeedback
from audit.record import retention
from audit.record.removals import note_cut, note_removal
from convengine.server.database.sql import database_time
from convengine.server.jobs import running
from convengine.server.jobs.models import CeJobRun
from convengine.server.sessions import old_turns
from convengine.server.sessions.models import CeConversation
from tests.api import Caller
from tests.database import allow_forging
from tests.threads import rename_participant
from tests.worlds import set_audit_setting

pytestmark = [pytest.mark.django_db, pytest.mark.dialects]


def list_findings() -> list[str]:
    parts = [*verify.verify_range(), verify.verify_other_tables()]
    return [str(finding) for part in parts for finding in part.findings]


def rate(caller: Caller) -> None:
    store_feedback(uuid.UUID(caller.conversation_id), None, "participant", FeedbackInput("THUMBS_UP"))


def test_an_erasure_is_recorded_and_no_damage(caller: Caller) -> None:
    other = Caller()
    for each in (caller, other, caller):
        each.say("hours")
        rate(each)
    rename_participant(caller.conversation_id, "rumpel")
    for search in ("rumpel", "else"):
        CeAccessLog.objects.create(reader="ada", kind="SEARCH", search=search)
    list(ledger.write_root())

    list(erase_participant("rumpel", EraseOrder("ada", "ticket 4711")))

    assert CeMcpUserFeedback.objects.count() == 1
    assert list_findings() == []
    entries = CeLedger.objects.filter(kind="ERASURE", by="ada", reason="ticket 4711").order_by("table_name")
    assert [(entry.table_name, entry.count) for entry in entries] == [
        ("ce_access_log", 1),
        ("ce_conversation", 1),
        ("ce_mcp_user_feedback", 2),
    ]
    list(ledger.write_root())
    rate(other)
    assert list_findings() == []


def test_retention_is_recorded_and_no_damage(caller: Caller, settings: Any) -> None:
    caller.say("hours")
    rate(caller)
    CeAccessLog.objects.create(reader="ada", kind="SEARCH")
    list(ledger.write_root())
    for key in ("RETENTION_DAYS", "ACCESS_RETENTION_DAYS", "FEEDBACK_RETENTION_DAYS"):
        set_audit_setting(key, 30)
    settings.CONVENGINE = {**settings.CONVENGINE, "CLOCK_OFFSET_SECONDS": 33 * 86_400}

    list(retention.remove_old())
    assert list_findings() == []
    list(old_turns.remove_old_turns())

    assert not CeConversation.objects.exists()
    assert not CeAccessLog.objects.exists()
    assert list_findings() == []
    removed = set(CeLedger.objects.filter(kind="RETENTION").values_list("table_name", "by"))
    assert removed >= {
        (table, "retention")
        for table in ("ce_conversation", "ce_conversation_history", "ce_access_log", "ce_mcp_user_feedback")
    }


@pytest.mark.django_db(transaction=True)
def test_retention_that_commits_while_a_conversation_is_verified_is_no_damage(
    caller: Caller, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    caller.say("hours")
    list(ledger.write_root())
    set_audit_setting("RETENTION_DAYS", 30)
    settings.CONVENGINE = {**settings.CONVENGINE, "CLOCK_OFFSET_SECONDS": 33 * 86_400}
    compare_ends = anchor.compare_ends

    def remove_first(*args: Any) -> Any:
        with ThreadPoolExecutor(1) as other:
            other.submit(remove_in_thread).result()
        return compare_ends(*args)

    monkeypatch.setattr(anchor, "compare_ends", remove_first)

    assert verify.verify_conversation(uuid.UUID(caller.conversation_id)).findings == []
    assert not CeConversation.objects.exists()


def remove_in_thread() -> None:
    try:
        list(old_turns.remove_old_turns())
    finally:
        connection.close()


def test_a_conversation_that_was_removed_is_missed_without_configuration(caller: Caller) -> None:
    caller.say("hours")
    list(ledger.write_root())
    CeConversation.objects.all().delete()

    assert any(
        line.startswith(f"LEDGER_MISSING: ce_conversation_history: conversation {caller.conversation_id}")
        for line in list_findings()
    )
    report = verify.verify_conversation(uuid.UUID(caller.conversation_id))
    assert [finding.code for finding in report.findings] == ["LEDGER_MISSING"]


def test_an_old_conversation_that_no_rule_removed_is_missed_too(caller: Caller) -> None:
    caller.say("hours")
    list(ledger.write_root())
    note_cut(CeChainCut.Kind.TURNS, database_time() + timedelta(days=1))
    assert list_findings() == []
    CeConversation.objects.all().delete()

    assert list_findings() == [
        "LEDGER_MISSING: ce_conversation, row several: "
        "Missing conversations that the ledger lists: 1; conversations removed by age: 0."
    ]


def empty_ledger() -> None:
    """The ledger and the end of its chain, as SQL removes them."""
    CeLedger.objects.all().purge()
    CeChain.objects.filter(pk="ce_ledger").delete()


def test_a_ledger_that_was_emptied_with_its_chain_is_missed_after_an_erasure(caller: Caller) -> None:
    caller.say("hours")
    rename_participant(caller.conversation_id, "rumpel")
    list(erase_participant("rumpel", EraseOrder("ada", "ticket 4711")))
    assert list_findings() == []

    empty_ledger()

    number = CeErasure.objects.get().pk
    text = f"The ledger does not have the erasure {number}: entries were removed."
    assert list_findings() == [f"LEDGER_MISSING: ce_ledger, row erasure {number}: {text}"]


@pytest.mark.parametrize("writes_on", [False, True])
def test_a_ledger_that_was_emptied_with_its_chain_is_missed_after_a_run_of_its_job(
    caller: Caller, writes_on: bool
) -> None:
    caller.say("hours")
    for _ in range(2):
        running.run("write_ledger", "ada")
    assert list_findings() == []

    empty_ledger()
    if writes_on:
        running.run("write_ledger", "ada")

    (line,) = list_findings()
    assert line.startswith("LEDGER_MISSING: ce_ledger, row roots: The job wrote")


def test_roots_that_no_job_wrote_are_no_damage(caller: Caller) -> None:
    list(ledger.write_root())
    running.run("write_ledger", "ada")
    CeJobRun.objects.create(
        job_name="write_ledger", started_at=database_time(), started_by="ada", worker="w", status="FAILED"
    )
    list(ledger.write_root())

    assert list_findings() == []


def test_the_list_says_what_each_entry_covers(caller: Caller, admin_client: Client) -> None:
    caller.say("hours")
    list(ledger.write_root())
    note_removal(CeLedger.Kind.RETENTION, "ce_conversation", ["a", "b"], "retention", "old")

    page = admin_client.get(reverse("admin:audit_celedger_changelist")).content.decode()
    root = CeLedger.objects.get(kind="ROOT")
    entry = admin_client.get(reverse("admin:audit_celedger_change", args=[root.pk])).content.decode()

    assert "1 conversation that grew since the root before" in page
    assert "2 conversations" in page
    assert "proven" in page
    assert root.root in entry
    assert caller.conversation_id in entry


def test_an_entry_that_was_changed_is_shown_too(caller: Caller, admin_client: Client) -> None:
    caller.say("hours")
    list(ledger.write_root())
    with allow_forging("ce_ledger"), connection.cursor() as cursor:
        cursor.execute("UPDATE ce_ledger SET detail = '[]'")

    page = admin_client.get(reverse("admin:audit_celedger_changelist"))

    assert page.status_code == 200
    assert "1 conversation that grew since the root before" in page.content.decode()


def test_the_root_goes_to_a_file_and_a_command(caller: Caller, settings: Any, tmp_path: Path) -> None:
    file, output = tmp_path / "heads", tmp_path / "output"
    command = f"tee {output}"
    settings.CONVENGINE = {**settings.CONVENGINE, "ANCHOR_FILE": str(file), "ANCHOR_COMMAND": command}
    caller.say("hours")

    assert list(ledger.write_root()) == [{"chains": 1}]

    root = CeLedger.objects.get().root
    assert json.loads(file.read_text().splitlines()[0])["root"] == root
    assert json.loads(output.read_text())["root"] == root
    assert list(anchor.compare_anchor(file)) == []
    CeLedger.objects.all().purge()
    assert [finding.table for finding in anchor.compare_anchor(file)] == ["ce_ledger"]

    settings.CONVENGINE = {**settings.CONVENGINE, "ANCHOR_COMMAND": "false"}
    with pytest.raises(ledger.AnchorFailed, match="The anchor command 'false'"):
        list(ledger.write_root())
    assert CeLedger.objects.count() == 1
