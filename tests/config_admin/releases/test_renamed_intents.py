"""A renamed intent is found under its older codes."""

import pytest

from config_admin import models as m
from config_admin.releases.change_set import change_set
from config_admin.releases.content import contents
from config_admin.releases.renamed_intents import find_deletion, find_renamed_intent, list_older_codes
from config_admin.releases.restore_rows import restore_rows
from tests.config_admin.admin.pages import newest
from tests.config_admin.builders import make

pytestmark = pytest.mark.django_db


def rename(old: str, new: str) -> int:
    row = contents("ce_intent", [old])[old]
    with change_set():
        restore_rows({"ce_intent": {old: None, new: {**row, "intent_code": new}}})
    return int(newest().pk)


@pytest.fixture(autouse=True)
def loan(db: None) -> None:
    with change_set():
        make(m.CeIntent)


def test_every_older_code_leads_to_the_present_one() -> None:
    rename("LOAN", "CREDIT")
    last = rename("CREDIT", "MONEY")

    assert find_renamed_intent("LOAN") == find_renamed_intent("CREDIT") == ("MONEY", last)


def test_the_present_code_leads_to_every_older_one() -> None:
    rename("LOAN", "CREDIT")
    rename("CREDIT", "MONEY")

    assert list_older_codes("MONEY") == ["CREDIT", "LOAN"]
    assert list_older_codes("NEVER") == []


def test_an_intent_that_exists_or_never_did_was_not_renamed() -> None:
    assert find_renamed_intent("LOAN") is None
    assert find_renamed_intent("NEVER") is None


def test_a_deleted_intent_was_not_renamed_to_another_that_came_with_its_deletion() -> None:
    with change_set():
        m.CeIntent.objects.all().delete()
        make(m.CeIntent, intent_code="CREDIT")

    assert find_renamed_intent("LOAN") is None


def test_a_renamed_and_deleted_intent_is_gone() -> None:
    rename("LOAN", "CREDIT")
    with change_set():
        m.CeIntent.objects.all().delete()

    assert find_renamed_intent("LOAN") is None
    assert find_deletion("LOAN") == find_deletion("CREDIT") == newest().pk
    assert find_deletion("NEVER") is None


def test_a_name_that_went_round_is_found() -> None:
    rename("LOAN", "CREDIT")
    last = rename("CREDIT", "LOAN")

    assert (find_renamed_intent("LOAN"), find_renamed_intent("CREDIT")) == (None, ("LOAN", last))
