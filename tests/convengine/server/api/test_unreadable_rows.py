"""Raw SQL that writes what a column cannot hold switches that row off, tells so, and spoils nothing else."""

from typing import Any

import pytest
from django.db import connection

from audit.models import CeAudit
from config_admin import models as m
from config_admin.releases import content
from tests.api import Caller
from tests.config_admin.builders import MODELS, make
from tests.worlds import create_help_desk

pytestmark = [pytest.mark.django_db, pytest.mark.dialects]
sqlite_only = pytest.mark.skipif("connection.vendor != 'sqlite'", reason="PostgreSQL refuses such a write.")


@pytest.fixture
def caller() -> Caller:
    create_help_desk()
    caller = Caller()
    caller.say("hours")
    return caller


def raw(sql: str, *values: Any) -> None:
    """As somebody's SQL from outside: no check of the table holds it up."""
    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            cursor.execute("PRAGMA ignore_check_constraints = ON")
        cursor.execute(sql, values)
        if connection.vendor == "sqlite":
            cursor.execute("PRAGMA ignore_check_constraints = OFF")


def list_messages(turn: int) -> list[dict[str, Any]]:
    events = CeAudit.objects.filter(turn_no=turn, stage="CONFIG_ROW_INVALID").order_by("seq")
    return [event.payload_json for event in events]


def vip_rule() -> m.CeRule:
    return m.CeRule.objects.get(intent_code="HOURS")


@sqlite_only
@pytest.mark.parametrize(
    ("column", "value", "remedy"),
    [
        ("priority", "soon", "a whole number"),
        ("priority", 1.5, "a whole number"),
        ("enabled", "maybe", "true or false"),
        ("stop_processing", "true", "true or false"),
        ("enabled", 7, "true or false"),
        ("created_at", "yesterday", "a time"),
        ("match_pattern", b"\xff\x01", "a text"),
    ],
)
def test_a_row_with_a_value_that_its_column_cannot_hold_is_off_and_told(
    caller: Caller, column: str, value: Any, remedy: str
) -> None:
    rule = vip_rule()
    before = getattr(rule, column)
    raw(f"UPDATE ce_rule SET {column} = %s WHERE rule_id = %s", value, rule.pk)

    answer = caller.say("hours", inputParams={"vip": True})

    assert (answer["success"], answer["state"], answer["payload"]["value"]) == (True, "IDLE", "Nine to five.")
    (event,) = list_messages(2)
    assert (event["table"], event["rowId"], event["field"]) == ("ce_rule", rule.pk, column)
    assert event["value"].startswith(
        value.decode("utf-8", "backslashreplace") if isinstance(value, bytes) else str(value)
    )
    assert remedy in event["remedy"]
    release = m.CeRelease.objects.order_by("-pk").first()
    assert release is not None
    assert (release.origin, release.pk) == ("OUT_OF_BAND", answer["configVersion"])
    history: Any = m.CeRule.history  # type: ignore[attr-defined]
    assert column in history.filter(rule_id=rule.pk).order_by("-pk").first().history_change_reason

    raw(f"UPDATE ce_rule SET {column} = %s WHERE rule_id = %s", before, rule.pk)
    healed = caller.say("hours", inputParams={"vip": True})
    assert (healed["state"], list_messages(3)) == ("VIP", [])


@sqlite_only
def test_text_that_is_no_utf8_is_such_a_value_too(caller: Caller) -> None:
    raw("UPDATE ce_rule SET match_pattern = CAST(x'ff41' AS TEXT) WHERE intent_code = 'HOURS'")

    assert caller.say("hours", inputParams={"vip": True})["state"] == "IDLE"
    assert list_messages(2)[0]["field"] == "match_pattern"


@sqlite_only
def test_broken_json_and_several_rows_at_once(caller: Caller) -> None:
    schema = make(m.CeOutputSchema, intent_code="HOURS", state_code="ANY")
    raw("UPDATE ce_output_schema SET json_schema = %s WHERE schema_id = %s", '{"type": ', schema.pk)
    raw("UPDATE ce_rule SET priority = 'x', enabled = 'y'")
    raw("UPDATE ce_response SET priority = 'first' WHERE intent_code = 'FEES'")

    answer = caller.say("hours")

    assert (answer["success"], answer["payload"]["value"]) == (True, "Nine to five.")
    events = {(event["table"], event["field"]) for event in list_messages(2)}
    assert events >= {("ce_output_schema", "json_schema"), ("ce_rule", "enabled"), ("ce_response", "priority")}
    assert [event["value"] for event in list_messages(2) if event["table"] == "ce_output_schema"] == ['{"type": ']
    assert caller.say("fees")["errorCode"] == "RESPONSE_MAPPING_NOT_FOUND"


@sqlite_only
def test_why_says_that_such_a_row_is_invalid(caller: Caller) -> None:
    rule = vip_rule()
    raw("UPDATE ce_rule SET priority = 'soon' WHERE rule_id = %s", rule.pk)
    caller.say("hours", inputParams={"vip": True})

    decisions = caller.get("/why", turn=2).json()["decisions"]

    passes = [decision for decision in decisions if decision["kind"] == "RULE"]
    assert passes
    for rule_pass in passes:
        (row,) = [candidate for candidate in rule_pass["candidates"] if candidate["id"] == rule.pk]
        assert (row["reason"], rule_pass["cut"]["CONFIG_ROW_INVALID"]) == ("CONFIG_ROW_INVALID", 1)
        assert (row["fault"]["field"], row["fault"]["value"]) == ("priority", "soon")


@pytest.mark.skipif("connection.vendor != 'postgresql'", reason="Only PostgreSQL has infinite times.")
def test_an_infinite_time_switches_its_row_off(caller: Caller) -> None:
    raw("UPDATE ce_rule SET created_at = 'infinity' WHERE intent_code = 'HOURS'")

    assert caller.say("hours", inputParams={"vip": True})["state"] == "IDLE"
    assert list_messages(2)[0]["field"] == "created_at"


@pytest.mark.parametrize("model", MODELS)
def test_rows_read_by_hand_are_what_the_orm_reads(model: type[m.ControlPlaneRow]) -> None:
    row = make(model)
    row.refresh_from_db()

    assert content.contents(model._meta.db_table, [row.pk]) == {row.pk: content.content_of(row)}
