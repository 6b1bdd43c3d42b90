import pytest
from django.db import transaction

from config_admin.models import CeIntent, CePolicy, CeResponse, CeRule
from config_admin.releases.models import CeRelease
from convengine.play import tables
from convengine.play.schema import ScenarioFileError

pytestmark = pytest.mark.django_db

POLICY = {"rule_type": "REGEX", "pattern": "x", "response_text": "No."}
RULE = {
    "intent_code": "ANY",
    "state_code": "ANY",
    "rule_type": "REGEX",
    "match_pattern": "x",
    "action": "SET_STATE",
    "action_value": "A",
}


def test_a_column_that_is_left_out_takes_the_default() -> None:
    tables.insert("ce_rule", [RULE])

    row = CeRule.objects.get()
    assert (row.phase, row.priority, row.enabled) == ("PRE_RESPONSE_RESOLUTION", 100, True)


def test_given_ids_are_kept_and_the_others_are_counted_on_from_them() -> None:
    tables.insert("ce_policy", [POLICY, {**POLICY, "policy_id": 1, "response_text": "One."}, POLICY])

    assert CePolicy.objects.get(pk=1).response_text == "One."
    assert CePolicy.objects.count() == 3


def test_rows_come_without_the_checks_of_a_form_and_make_a_release() -> None:
    before = CeRelease.objects.count()
    with transaction.atomic():
        tables.insert("ce_policy", [{**POLICY, "pattern": "("}])
        tables.insert("ce_rule", [RULE])

    assert CeRelease.objects.count() == before + 1


def test_what_the_database_refuses_is_an_error_of_the_file() -> None:
    tables.insert("ce_intent", [{"intent_code": "A", "description": "a"}])

    with pytest.raises(ScenarioFileError, match="ce_intent: the database refuses a row"):
        tables.insert("ce_intent", [{"intent_code": "A", "description": "again"}])


def test_a_number_that_no_column_holds_is_an_error_of_the_file() -> None:
    with pytest.raises(ScenarioFileError, match=r"tables\.ce_rule\[0\]\.priority: cannot convert"):
        tables.read_row({**RULE, "priority": float("inf")}, "ce_rule", "tables.ce_rule[0]")


def test_rows_that_fit_are_changed_one_by_one() -> None:
    CeResponse.objects.all().delete()
    for state, text in (("A", "x"), ("B", "x"), ("C", None)):
        tables.insert(
            "ce_response",
            [{"intent_code": "I", "state_code": state, "response_type": "EXACT", "exact_text": text}],
        )

    tables.update("ce_response", {"exact_text": "x"}, {"enabled": False})
    tables.update("ce_response", {"exact_text": None}, {"exact_text": "y"})

    assert list(CeResponse.objects.order_by("state_code").values_list("enabled", "exact_text")) == [
        (False, "x"),
        (False, "x"),
        (True, "y"),
    ]


def test_rows_that_fit_are_deleted() -> None:
    for code in ("A", "B"):
        tables.insert("ce_intent", [{"intent_code": code, "description": code}])

    tables.delete("ce_intent", {"intent_code": "A"})

    assert list(CeIntent.objects.values_list("intent_code", flat=True)) == ["B"]


def test_an_edit_that_fits_no_row_changes_nothing() -> None:
    before = CeRelease.objects.count()
    tables.update("ce_intent", {"intent_code": "A"}, {"enabled": False})
    tables.delete("ce_intent", {"intent_code": "A"})

    assert CeRelease.objects.count() == before


def test_every_table_of_the_engine_may_be_filled_but_not_the_history_of_rows() -> None:
    models = tables.models_of_worlds()

    assert {"ce_rule", "ce_conversation", "ce_conversation_history", "ce_memory"} <= models.keys()
    assert "ce_rule_history" not in models
    assert "auth_user" not in models
