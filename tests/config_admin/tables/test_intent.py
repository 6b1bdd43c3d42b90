"""Save checks of intents, and their columns in releases, exports and imports."""

from dataclasses import replace

import pytest

from config_admin.models import CeIntent
from config_admin.releases.change_set import change_set
from config_admin.transfer.apply_import import add_rows
from config_admin.transfer.files import JSON, export_configuration
from config_admin.validation.save_checks import check_row
from convengine.engine.turn import rows
from convengine.server.interfaces.configuration import configuration
from tests.config_admin.validation.shop import CANCEL, FAQ, WORLD, codes, list_messages, shop

RESETS = rows.Config(
    config_id=5, config_type="ResetResolvedIntentStep", config_key="RESET_INTENT_CODES", config_value="CANCEL_ORDER"
)


def test_any_is_no_intent() -> None:
    assert list_messages(replace(CANCEL, intent_code="any")) == [
        ("INTENT_RESERVED", "ANY stands for every intent. Choose another code.")
    ]


@pytest.mark.parametrize("value", ["", "cancel order", "9LIVES"])
def test_a_code_has_a_shape(value: str) -> None:
    assert codes(replace(CANCEL, intent_code=value)) == ["CODE_FORMAT"]


def test_unknown_may_have_a_row() -> None:
    assert codes(replace(CANCEL, intent_code="UNKNOWN")) == []


def test_an_intent_says_when_it_applies() -> None:
    assert list_messages(replace(CANCEL, description=" ")) == [
        ("DESCRIPTION_BLANK", "Describe when this intent applies. A model chooses the intent by this text.")
    ]


def test_the_code_of_an_intent_in_use_cannot_be_changed() -> None:
    renamed = replace(CANCEL, intent_code="STOP_ORDER")
    (finding, *_) = check_row(renamed, shop(), WORLD, replaces=CANCEL)
    assert (finding.code, finding.message) == (
        "CONFLICT",
        "The code cannot be changed, because other rows use it. Create a new intent and move the rows to it.",
    )


def test_the_code_of_an_unused_intent_can_be_changed() -> None:
    unused = replace(FAQ, intent_code="UNUSED")
    findings = check_row(replace(unused, intent_code="OTHER"), shop(unused), WORLD, replaces=unused)
    assert "CONFLICT" not in [finding.code for finding in findings]


def test_rows_of_an_intent_that_resets_are_never_reached() -> None:
    assert list_messages(CANCEL, RESETS) == [
        (
            "RESET_INTENT_MIXED",
            "This intent resets the conversation as soon as it is recognised, so its rows are never used.",
        )
    ]
    assert codes(CANCEL) == []


def test_an_intent_that_nothing_can_answer_is_told() -> None:
    new = replace(FAQ, intent_code="NEW_THING")
    assert list_messages(new) == [("NO_RESPONSE_FOR_INTENT", "This intent has no answer yet. Add one.")]
    anywhere = rows.Response(response_id=50, intent_code="ANY", state_code="IDLE", exact_text="Hm.")
    assert list_messages(new, anywhere) == []


def test_neither_a_disabled_intent_nor_one_that_resets_needs_an_answer() -> None:
    assert codes(replace(FAQ, intent_code="NEW_THING", enabled=False)) == []
    assert codes(replace(FAQ, intent_code="RESET_SESSION")) == []


def test_an_intent_that_answers_in_between_needs_no_form() -> None:
    assert codes(replace(CANCEL, returns=True)) == ["RETURNING_INTENT_WITH_FORM"]
    assert codes(replace(FAQ, returns=True)) == codes(FAQ)


@pytest.mark.django_db
def test_whether_an_intent_answers_and_returns_is_in_releases_exports_and_imports() -> None:
    with change_set(reason="one"):
        CeIntent.objects.create(intent_code="BOOKING", description="Book.")
    add_rows(
        {"ce_intent": [{"intent_code": "HOURS", "description": "Hours.", "returns": True}]}, author="ada", reason="two"
    )

    snapshot = configuration().current()
    returns = {row.intent_code: row.returns for row in snapshot.rows(rows.Intent)}
    assert (returns["BOOKING"], returns["HOURS"]) == (False, True)
    assert snapshot.returning_intents == {"HOURS"}
    assert b'"returns": true' in export_configuration(form=JSON)
