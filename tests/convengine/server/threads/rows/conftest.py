"""What the tests of the specification's rows begin with."""

import pytest

from config_admin.models import CeIntent, CeIntentClassifier, CeOutputSchema
from config_admin.releases.change_set import change_set
from tests.api import Caller
from tests.convengine.server.threads.rows.stories import BEGINNING, Story
from tests.threads import Participant, setting


@pytest.fixture
def story(guest: Participant, monkeypatch: pytest.MonkeyPatch) -> Story:
    """What they do, told in words."""
    return Story(guest, monkeypatch)


@pytest.fixture
def caller(guest: Participant) -> Caller:
    """A caller of the plain turn API, at a desk whose VISA has a form and whose BEGINNING starts over."""
    schema = {
        "type": "object",
        "properties": {
            "email": {"type": "string", "format": "email"},
            "country": {"type": "string", "enum": ["Japan", "Chile"]},
        },
        "required": ["email", "country"],
    }
    with change_set(reason="a form and a way to start over"):
        CeOutputSchema.objects.create(intent_code="VISA", state_code="ANY", json_schema=schema)
        CeIntent.objects.create(intent_code="BEGINNING", description="start over")
        CeIntentClassifier.objects.create(
            intent_code="BEGINNING", state_code="IDLE", rule_type="CONTAINS", pattern=BEGINNING
        )
        setting("ResetResolvedIntentStep/RESET_INTENT_CODES", "RESET_SESSION, BEGINNING")
    return Caller(guest.secret)
