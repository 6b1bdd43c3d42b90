"""A row of a past release beside the present one."""

import pytest

from config_admin import models as m
from config_admin.editing.links import row_url
from config_admin.history.row_in_release import then_and_now
from config_admin.releases.change_set import change_set
from config_admin.releases.content import contents
from config_admin.releases.restore_rows import restore_rows
from tests.config_admin.admin.pages import newest
from tests.config_admin.builders import make


@pytest.mark.django_db
def test_an_intent_that_was_renamed_since_is_found_by_its_old_code() -> None:
    with change_set():
        make(m.CeIntent)
    before = newest().pk
    row = contents("ce_intent", ["LOAN"])["LOAN"]
    with change_set():
        restore_rows({"ce_intent": {"LOAN": None, "CREDIT": {**row, "intent_code": "CREDIT"}}})

    comparison = then_and_now("ce_intent", "LOAN", before)

    assert comparison is not None
    assert comparison.in_now
    assert comparison.url == row_url("ce_intent", "CREDIT")
    assert [(column.then, column.now) for column in comparison.columns if column.change] == [("LOAN", "CREDIT")]
