"""Rows with ids of their own do not stand in the way of rows without."""

import pytest
from django.db import connection

from config_admin import models as m
from config_admin.releases.change_set import change_set
from config_admin.snapshot.active import snapshots
from tests.config_admin.builders import make, new

pytestmark = [pytest.mark.django_db, pytest.mark.dialects]


def test_the_next_row_after_given_ids_has_the_next_id():
    first = make(m.CeRule)
    m.CeRule.objects.bulk_create([new(m.CeRule, rule_id=first.pk + 1), new(m.CeRule, rule_id=first.pk + 5)])
    assert make(m.CeRule).pk == first.pk + 6


def test_ids_of_deleted_rows_are_not_given_again():
    with change_set():
        last = make(m.CeRule).pk
        m.CeRule.objects.all().delete()
        make(m.CeRule, rule_id=1)
    assert make(m.CeRule).pk > last


def test_ids_given_by_raw_sql_are_known_after_the_next_pin():
    first = make(m.CeConfig).pk
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO ce_config (config_id, config_type, config_key, config_value) VALUES (%s, 'A', 'B', 'C')",
            [first + 1],
        )
    snapshots.current()
    assert make(m.CeConfig, config_key="Y").pk == first + 2
