"""Somebody with SQL cannot change a release, its blobs or its row history without a trace."""

from contextlib import ExitStack
from typing import Any

import pytest
from django.db import connection

from config_admin.models import CeResponse, CeRule
from config_admin.releases.change_set import change_set
from config_admin.releases.integrity import verify_configuration
from tests.database import allow_forging
from tests.worlds import create_help_desk

pytestmark = [pytest.mark.django_db, pytest.mark.dialects]


@pytest.fixture(autouse=True)
def releases() -> None:
    create_help_desk()
    with change_set(author="ada", reason="polite"):
        CeResponse.objects.filter(intent_code="FEES").update(exact_text="No fees, promised.")
    with change_set(author="bob", reason="gone"):
        CeRule.objects.first().delete()


def forge(sql: str, params: Any = (), *, sealed: str = "") -> list[tuple[str, str]]:
    """Change the database and verify; codes and tables."""
    with ExitStack() as stack:
        if sealed:
            stack.enter_context(allow_forging(sealed))
        cursor = stack.enter_context(connection.cursor())
        cursor.execute(sql, params)
        assert cursor.rowcount
    return [(finding.code, finding.table) for finding in verify_configuration().findings]


def test_untouched_releases_are_intact() -> None:
    report = verify_configuration()

    assert report.findings == []
    assert report.releases > 2
    assert report.blobs > report.releases
    assert report.history_rows > 5


@pytest.mark.parametrize("column", ["author", "reason", "created_at", "origin", "history_hash", "write_counter"])
def test_a_changed_release_is_named(column: str) -> None:
    values = {"created_at": "'2020-01-01 00:00:00+00:00'", "write_counter": "7777"}
    value = values.get(column, "'x'")
    sql = f"UPDATE ce_release SET {column} = {value} WHERE config_version = 2"

    assert ("RELEASE_CHANGED", "ce_release") in forge(sql, sealed="ce_release")


def test_a_removed_release_is_named() -> None:
    assert ("RELEASE_MISSING", "ce_release") in forge(
        "DELETE FROM ce_release WHERE config_version = (SELECT max(config_version) FROM ce_release)",
        sealed="ce_release",
    )


def test_a_changed_history_row_is_named() -> None:
    sql = "UPDATE ce_response_history SET exact_text = 'never' WHERE exact_text = 'No fees, promised.'"

    assert forge(sql) == [("HISTORY_CHANGED", "ce_response_history")]


def test_a_removed_history_row_is_named() -> None:
    sql = "DELETE FROM ce_rule_history WHERE history_type = '-'"

    assert forge(sql) == [("HISTORY_MISSING", "ce_rule_history")]
