"""A release answers for every row that it has, and only for releases that there are."""

import pytest

from config_admin import models as m
from config_admin.releases.change_set import change_set
from config_admin.releases.head import EMPTY_HASH
from config_admin.releases.queries import NoSuchRelease, content_hash_of, manifest_of, release_of, row_at
from tests.config_admin.builders import make, version

pytestmark = [pytest.mark.django_db, pytest.mark.dialects]


def test_a_row_is_shown_as_it_was():
    with change_set():
        rule = make(m.CeRule)
    first, pk = version(), rule.pk
    rule.priority = 3
    with change_set():
        rule.save()
    with change_set():
        rule.delete()
    shown = [row_at(first + later, "ce_rule", str(pk)) for later in range(3)]
    assert [row and row["priority"] for row in shown] == [100, 3, None]


def test_a_row_is_found_by_any_spelling_of_its_code():
    make(m.CeIntent)
    assert row_at(version(), "ce_intent", " loan")["description"] == "Wants a loan."


def test_an_unknown_table_is_told():
    with pytest.raises(KeyError):
        row_at(version(), "auth_user", 1)


def test_version_zero_is_the_empty_configuration():
    assert (manifest_of(0), content_hash_of(0), row_at(0, "ce_rule", 1)) == ({}, EMPTY_HASH, None)


@pytest.mark.parametrize("question", [release_of, manifest_of, content_hash_of])
def test_a_release_that_never_was_is_told(question):
    with pytest.raises(NoSuchRelease, match="Release 4711 does not exist"):
        question(4711)
