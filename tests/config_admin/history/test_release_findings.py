"""What the page of a release says about its rows."""

import pytest
from django.test import Client

from config_admin import models as m
from config_admin.editing.links import release_url
from config_admin.health.check import check_all
from config_admin.health.stored_findings import store_findings
from config_admin.releases.active import snapshots
from config_admin.releases.change_set import change_set
from config_admin.validation.world import World
from tests.config_admin.builders import make

pytestmark = pytest.mark.django_db
UNANSWERED = "This leads to intent LOAN, state LATER, which has no answer."


def test_a_state_without_an_answer_is_told_on_the_page_of_its_release(ada: Client) -> None:
    with change_set():
        make(m.CeIntent)
        make(m.CeRule, state_code="ANY", action_value="LATER")
    made = snapshots.current().config_version
    page = ada.get(release_url(made)).content.decode()

    assert "Findings of this release" in page
    assert UNANSWERED in page

    snapshot = snapshots.current()
    store_findings(check_all(snapshot, World()), snapshot)
    with change_set():
        make(m.CeIntent, intent_code="CARD")
    assert UNANSWERED in ada.get(release_url(made)).content.decode()
    assert UNANSWERED not in ada.get(release_url(made + 1)).content.decode()
