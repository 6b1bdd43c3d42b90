"""Rows that may change: what the product does leaves no finding, and no change by SQL is covered by a later one."""

import uuid
from collections.abc import Callable
from datetime import timedelta

import pytest
from django.conf import LazySettings
from django.db import connection, transaction
from django.db.models.signals import post_delete
from django.test import Client

from audit.integrity import verify
from audit.models import CeAccessLog, CeSealedState
from config_admin.drafts.edits import note_editor
from config_admin.drafts.models import CeDraft, ReviewKind
from config_admin.drafts.review import add_entry
from config_admin.test_cases.models import CeTestCase, CeTestResult, CeTestRun
from config_admin.test_cases.runs import SelectedTests, create_run, remove_old_results, test_runs
from convengine.server.database.sql import database_time
from convengine.server.interfaces.configuration import ConfigurationName
from tests.api import Caller
from tests.config_admin.test_cases.builders import make_test, run_tests
from tests.database import allow_forging
from tests.worlds import create_help_desk

pytestmark = [pytest.mark.django_db, pytest.mark.dialects]
LIST = "/admin/config_admin/cetestcase/"


def list_findings() -> list[tuple[str, str]]:
    return [(finding.table, finding.code) for finding in verify.verify_other_tables().findings]


def execute(sql: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(sql)
        assert cursor.rowcount


@pytest.fixture
def case() -> CeTestCase:
    """A test with a result."""
    create_help_desk()
    test = make_test()
    run_tests()
    return test


def confirm_deletion(client: Client, case: CeTestCase) -> None:
    client.post(f"{LIST}{case.pk}/delete/", {"post": "yes"})


def choose_deletion(client: Client, case: CeTestCase) -> None:
    client.post(LIST, {"action": "delete_selected", "_selected_action": case.pk, "post": "yes"})


def test_a_page_that_only_asks_deletes_nothing(case: CeTestCase, admin_client: Client) -> None:
    noted = CeSealedState.objects.count()
    assert admin_client.get(f"{LIST}{case.pk}/delete/").status_code == 200
    admin_client.post(LIST, {"action": "delete_selected", "_selected_action": case.pk})
    assert CeSealedState.objects.count() == noted
    assert list_findings() == []


@pytest.mark.parametrize("delete", [confirm_deletion, choose_deletion])
def test_results_go_lawfully_with_their_test(
    case: CeTestCase, admin_client: Client, delete: Callable[[Client, CeTestCase], None]
) -> None:
    delete(admin_client, case)
    assert not CeTestResult.objects.exists()
    assert list_findings() == []


def test_a_deletion_that_fails_is_not_noted(case: CeTestCase) -> None:
    def refuse(**kwargs: object) -> None:
        raise RuntimeError

    post_delete.connect(refuse, sender=CeTestCase)
    try:
        with pytest.raises(RuntimeError), transaction.atomic():
            case.delete()
    finally:
        post_delete.disconnect(refuse, sender=CeTestCase)
    assert CeTestResult.objects.exists()
    assert list_findings() == []


def test_the_next_lawful_change_does_not_cover_one_by_sql() -> None:
    draft = CeDraft.objects.create(title="Fees", created_by="ada", editors=["ada", "ben"])
    execute("UPDATE ce_draft SET editors = '[\"ada\"]', created_by = 'zoe'")
    draft.refresh_from_db()
    for name in ("carl", "dora"):
        note_editor(draft, name)
    CeDraft.objects.update(title="Prices")
    assert list_findings() == [("ce_draft", "ROW_CHANGED")]
    (finding,) = verify.verify_other_tables().findings
    assert "did not change this draft, which its next change showed on 20" in finding.message


def test_the_next_entry_does_not_cover_a_forged_end_of_a_chain() -> None:
    for reader in ("ada", "ben"):
        CeAccessLog.objects.create(reader=reader, kind="SEARCH")
    with allow_forging("ce_access_log"):
        execute("DELETE FROM ce_access_log WHERE reader = 'ada'")
    execute(
        "UPDATE ce_chain SET removed_to = last - 1, base ="
        " (SELECT substr(seal, 3, 32) FROM ce_access_log) WHERE table_name = 'ce_access_log'"
    )
    for reader in ("carl", "dora"):
        CeAccessLog.objects.create(reader=reader, kind="SEARCH")
        assert list_findings() == [("ce_chain", "LOG_CHANGED")]


def test_a_row_made_by_sql_stays_named_when_the_product_deletes_it() -> None:
    draft = CeDraft.objects.create(title="Fees", created_by="ada")
    add_entry(draft, ReviewKind.APPROVED, "ben")
    columns = "draft_id, kind, made_at, text, edits_hash, table_name, row_pk, reviewers, reviewer_group"
    execute(f"INSERT INTO ce_draft_review ({columns}, author_name) SELECT {columns}, 'eve' FROM ce_draft_review")
    draft.reviews.filter(author_name="eve").delete()
    assert list_findings() == [("ce_draft_review", "ROW_ADDED")]


def test_a_run_is_sealed_from_its_beginning() -> None:
    create_help_desk()
    run = create_run(ConfigurationName("live"), SelectedTests(), "ada")
    assert list_findings() == []
    CeTestRun.objects.update(lease_expires_at=database_time() - timedelta(seconds=1))
    columns = ", ".join(field.column for field in CeTestRun._meta.fields if field.name not in ("run_id", "started_by"))
    execute(f"INSERT INTO ce_test_run ({columns}, started_by) SELECT {columns}, 'eve' FROM ce_test_run")
    test_runs.mark_lost()
    run.refresh_from_db()
    assert run.status == "LOST"
    assert list_findings() == [("ce_test_run", "ROW_ADDED")]


def test_old_runs_and_results_go_lawfully(case: CeTestCase, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("config_admin.test_cases.runs.KEPT", 1)
    for _ in range(3):
        run_tests()
    remove_old_results()
    assert CeTestRun.objects.count() < 4
    assert list_findings() == []


def test_proofs_outlive_a_new_secret_only_with_the_old_one(settings: LazySettings, caller: Caller) -> None:
    caller.say("hours")
    CeDraft.objects.create(title="Fees", created_by="ada")
    conversation = uuid.UUID(caller.conversation_id)
    old, settings.SECRET_KEY = settings.SECRET_KEY, "a new secret"
    settings.SECRET_KEY_FALLBACKS = [old]
    assert list_findings() == []
    assert verify.verify_conversation(conversation).intact

    settings.SECRET_KEY_FALLBACKS = []
    assert list_findings() == [("ce_chain", "LOG_CHANGED")]
    assert [finding.code for finding in verify.verify_conversation(conversation).findings] == ["CONVERSATION_CHANGED"]
