"""A release is told row by row, as the table of revisions in the data model (tables 8)."""

import pytest

from config_admin import models as m
from config_admin.releases.change_set import change_set
from config_admin.releases.revisions import revisions
from config_admin.restore.roll_back import roll_back
from tests.config_admin.builders import make

pytestmark = [pytest.mark.django_db, pytest.mark.dialects]


def version():
    return m.CeConfigHead.objects.get(pk=1).config_version


def test_each_row_is_told_once_with_before_and_after():
    with change_set():
        changed, gone = make(m.CeRule), make(m.CePolicy)
    gone_pk = gone.pk
    with change_set("ADMIN", "ada", "second") as change:
        changed.priority = 3
        changed.save()
        gone.delete()
        make(m.CeIntent)
    found = {(r.table_name, r.row_pk): r for r in revisions(version())}
    assert {key: r.operation for key, r in found.items()} == {
        ("ce_intent", "LOAN"): "INSERT",
        ("ce_rule", changed.pk): "UPDATE",
        ("ce_policy", gone_pk): "DELETE",
    }
    one = found["ce_rule", changed.pk]
    assert (one.before_json["priority"], one.after_json["priority"]) == (100, 3)
    assert (one.changed_by, one.comment, one.config_version, one.change_set) == ("ada", "second", version(), change.id)
    assert found["ce_intent", "LOAN"].before_json is None
    assert found["ce_policy", gone_pk].after_json is None


def test_what_was_put_back_is_told_as_that():
    before = version()
    with change_set():
        make(m.CeRule)
    roll_back(before, checked=False)
    assert [r.operation for r in revisions(version())] == ["REVERT"]
