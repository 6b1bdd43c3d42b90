"""What is told of a row's health right after it was saved."""

import pytest
from django.test import Client

from config_admin import models as m
from config_admin.health.check import check_touched
from config_admin.health.diagnosis import RowKey
from config_admin.models import CeHealthAcknowledgement
from config_admin.releases.active import snapshots
from config_admin.releases.change_set import change_set
from config_admin.validation.installation import describe_installation
from tests.config_admin.admin.pages import address, send_again
from tests.config_admin.builders import make, new

pytestmark = pytest.mark.django_db
MOVES = {"intent_code": "LOAN", "state_code": "IDLE", "rule_type": "REGEX", "action": "SET_STATE"}


@pytest.fixture
def two_rules() -> list[m.CeRule]:
    """Rules of which one begins to collide with the other when its pattern is changed."""
    make(m.CeIntent)
    rules = [
        new(m.CeRule, **MOVES, match_pattern="cancel", action_value="A", priority=1),
        new(m.CeRule, **MOVES, match_pattern="refund", action_value="B", priority=2),
    ]
    with change_set():
        for rule in rules:
            rule.save()
    return rules


def save_rule(client: Client, rule: m.CeRule, **values: str) -> str:
    page = client.get(address(m.CeRule, "change", rule.pk))
    response = send_again(client, page, **values, reason="Because", _confirm="1")
    if response.status_code == 200:
        response = send_again(client, response, _confirm="1")
    assert response.status_code == 302
    return str(client.get(response["Location"]).content.decode())


def test_a_rule_that_begins_to_collide_says_so_on_the_next_page(ben: Client, two_rules: list[m.CeRule]) -> None:
    page = save_rule(ben, two_rules[1], match_pattern="cancel|refund")

    assert "Findings, also listed in" in page
    assert f"Rule {two_rules[0].pk}" in page or f"rule {two_rules[0].pk}" in page


def test_what_was_accepted_is_not_told(ben: Client, two_rules: list[m.CeRule]) -> None:
    two_rules[1].match_pattern = "cancel|refund"
    two_rules[1].save()
    snapshot = snapshots.current()
    for finding in check_touched(snapshot, describe_installation(), [RowKey("ce_rule", two_rules[1].pk)]).findings:
        CeHealthAcknowledgement.objects.create(
            pk=finding.fingerprint(snapshot), code=finding.code, reason="meant", made_by="ada"
        )

    page = ben.get(address(m.CeRule, "change", two_rules[1].pk))
    send_again(ben, page, reason="Because", _confirm="1")
    assert "Findings, also listed in" not in ben.get(address(m.CeRule)).content.decode()
