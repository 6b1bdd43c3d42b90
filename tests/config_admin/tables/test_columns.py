"""The tables are those of the data model, and those that the engine reads."""

from dataclasses import MISSING

import pytest
from django.core.exceptions import ValidationError
from django.db import IntegrityError, connection, transaction

from config_admin import models as m
from convengine.engine.turn import rows
from tests.config_admin.builders import MODELS, make, new

STAMPS = {"created_at", "updated_at", "updated_by"}


def columns_of(model):
    return {column.attname for column in model._meta.concrete_fields}


def test_there_is_one_model_for_each_row_type_of_the_engine():
    assert {model._meta.db_table for model in MODELS} == {row_type.table for row_type in rows.ROW_TYPES}


@pytest.mark.parametrize("model", MODELS)
def test_the_engine_reads_all_columns_and_no_others(model):
    row_type = rows.ROW_TYPE_OF[model._meta.db_table]
    stored = columns_of(model) - STAMPS - set(model.ENGINE_COLUMNS)
    # The rows that belong to a tool are switched with the tool.
    read = set(rows.columns(row_type)) - {"created_at"} - (set() if "enabled" in stored else {"enabled"})
    assert stored == read


@pytest.mark.parametrize("model", MODELS)
def test_a_primary_key_is_called_as_the_engine_calls_it(model):
    assert model._meta.pk.attname == rows.ROW_TYPE_OF[model._meta.db_table].key


@pytest.mark.parametrize("model", MODELS)
def test_every_table_has_its_stamps_and_a_history_table(model):
    assert columns_of(model) >= STAMPS
    assert model.history.model._meta.db_table == f"{model._meta.db_table}_history"
    assert {"config_version", "change_set", "history_user_id"} <= columns_of(model.history.model)


@pytest.mark.parametrize("model", MODELS)
def test_defaults_are_those_of_the_engine(model):
    stored = {column.attname: column for column in model._meta.concrete_fields}
    for known in rows.ROW_TYPE_OF[model._meta.db_table].__dataclass_fields__.values():
        column = stored.get(known.name)
        # A text or a document that must be filled in has no default here, and a blank one there.
        if column is not None and column.has_default() and known.default not in (MISSING, "", None):
            assert column.get_default() == known.default, known.name
            assert column.has_db_default(), known.name


@pytest.mark.django_db
def test_raw_sql_gets_the_same_defaults():
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO ce_rule (intent_code, state_code, rule_type, match_pattern, action)"
            " VALUES ('LOAN', 'ANY', 'EXACT', 'ANY', 'SET_STATE')"
        )
    rule = m.CeRule.objects.get()
    assert (rule.phase, rule.priority, rule.enabled, rule.match_target) == (
        "PRE_RESPONSE_RESOLUTION",
        100,
        True,
        "USER_TEXT",
    )
    assert (rule.stop_processing, rule.null_leaf_matches, rule.updated_by) == (False, True, "")
    assert rule.created_at.tzinfo is not None


@pytest.mark.django_db
def test_raw_sql_gets_defaults_of_json_columns():
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO ce_tool (intent_code, state_code, tool_group) VALUES ('LOAN', 'ANY', 'DB')",
        )
    assert m.CeTool.objects.get().args_template == {}


@pytest.mark.django_db
@pytest.mark.parametrize("column", ["intent_code", "state_code"])
@pytest.mark.parametrize("blank", ["", "  "])
def test_the_database_refuses_a_blank_scope(column, blank):
    make(m.CeRule)
    with pytest.raises(IntegrityError), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(f"UPDATE ce_rule SET {column} = %s", [blank])


@pytest.mark.django_db
@pytest.mark.parametrize("column", ["step_value", "determinant"])
def test_the_database_refuses_a_progress_text_for_nothing(column):
    with pytest.raises(IntegrityError), transaction.atomic():
        make(m.CeVerbose, **{column: " "})


@pytest.mark.django_db
def test_a_form_tells_a_blank_scope_by_its_code():
    with pytest.raises(ValidationError) as refused:
        new(m.CeRule, intent_code=" ").full_clean()
    assert {error.code for error in refused.value.error_dict["intent_code"]} & {"blank", "SCOPE_BLANK"}


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("model", "values"),
    [
        (m.CeMcpTool, {"tool_code": "LOAN.Rate"}),
        (m.CeConfig, {"config_type": "SESSION", "config_key": "x"}),
        (m.CeStateGraph, {}),
        (m.CeMcpSqlGuardrail, {"match_value": "PG_SLEEP"}),
        (m.CeMcpServer, {}),
    ],
)
def test_names_are_unique_whatever_their_case(model, values):
    make(model)
    with pytest.raises(IntegrityError), transaction.atomic():
        make(model, **values)


@pytest.mark.django_db
@pytest.mark.parametrize("model", MODELS)
def test_a_row_says_what_it_is(model):
    row = make(model)
    assert str(row.pk) in str(row)
    assert len(str(row)) > len(str(row.pk)) or model is m.CeIntent
