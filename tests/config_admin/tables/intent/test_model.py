"""The columns of intents in releases, exports and imports."""

import pytest

from config_admin.models import CeIntent
from config_admin.releases.change_set import change_set
from config_admin.transfer.apply_import import add_rows
from config_admin.transfer.files import JSON, export_configuration
from convengine.engine.turn import rows
from convengine.server.interfaces.configuration import configuration


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
