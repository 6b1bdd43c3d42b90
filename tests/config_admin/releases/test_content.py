"""A row goes into a release as JSON and comes out of it as it was."""

import json
from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal

import pytest

from config_admin import models as m
from config_admin.releases import content
from config_admin.validation.stored_columns import control_plane, kept_columns
from convengine.engine.turn import rows
from tests.config_admin.builders import MODELS, make


@pytest.mark.django_db
@pytest.mark.parametrize("model", MODELS)
def test_a_row_of_every_table_survives_the_way_there_and_back(model):
    table = model._meta.db_table
    row = content.load_rows(table, [make(model).pk]).popitem()[1]
    document = json.loads(json.dumps(content.content_of(row)))
    assert document == content.content_of(row)
    assert content.content_of(model(**content.column_values(table, document))) == document


def test_times_are_texts_that_compare_like_times():
    early = datetime(2026, 1, 1, 1, tzinfo=timezone(timedelta(hours=2)))
    assert content.as_json(early) == "2025-12-31T23:00:00.000000Z"
    assert content.as_json(early) < content.as_json(datetime(2026, 1, 1, 0, 0, 0, 5, tzinfo=UTC))


def test_decimals_are_numbers():
    assert content.as_json(Decimal("0.70")) == 0.7
    assert content.column_values("ce_prompt_template", {"temperature": 0.7}) == {"temperature": Decimal("0.7")}


def test_tables_stand_in_the_order_of_an_import():
    assert list(control_plane()) == [row_type.table for row_type in rows.ROW_TYPES]


def test_columns_that_the_engine_writes_are_not_kept():
    assert not set(m.CeMcpServer.ENGINE_COLUMNS) & set(kept_columns("ce_mcp_server"))


@pytest.mark.django_db
def test_only_the_rows_asked_for_are_read(django_assert_num_queries):
    wanted, _ = make(m.CeRule), make(m.CeRule)
    with django_assert_num_queries(1):
        assert list(content.load_rows("ce_rule", [wanted.pk, 12345])) == [wanted.pk]
    with django_assert_num_queries(0):
        assert content.load_rows("ce_rule", []) == {}
