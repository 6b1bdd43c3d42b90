"""Rows as they stood when a turn ran, beside today's, and what releases changed between two turns."""

import uuid
from collections.abc import Callable

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client

from audit.addresses import between_url, row_url, turn_url
from config_admin.models import CeResponse, CeRule
from config_admin.releases.change_set import change_set
from tests.api import Caller
from tests.worlds import create_help_desk

Words = Callable[[str], str]
pytestmark = pytest.mark.django_db


@pytest.fixture
def key(db: None) -> uuid.UUID:
    """A conversation of two turns, between which a response changed, a rule was deleted and another made."""
    create_help_desk()
    caller = Caller()
    caller.say("hours please")
    with change_set(reason="longer hours"):
        response = CeResponse.objects.get(intent_code="HOURS", state_code="IDLE")
        response.exact_text = "Nine to six."
        response.save()
    with change_set(reason="no more VIPs"):
        CeRule.objects.all().delete()
    with change_set(reason="closed on Sundays"):
        CeResponse.objects.create(intent_code="HOURS", state_code="SUNDAY", response_type="EXACT", exact_text="Closed.")
    caller.say("hours please")
    return uuid.UUID(caller.conversation_id)


def delete_rule() -> int:
    """The rule that is there no more."""
    return int(CeRule.history.latest("history_date").rule_id)


def test_a_row_that_changed_is_shown_then_and_now_with_what_differs(
    reader: Client, words: Words, key: uuid.UUID
) -> None:
    pk = CeResponse.objects.get(intent_code="HOURS", state_code="IDLE").pk
    address = row_url(key, 1, "ce_response", pk)

    text, source = words(address), reader.get(address).content.decode()

    assert f"Answer {pk} changed since then" in text
    assert "It was used in turn 1." in text
    assert "Nine to five." in text
    assert "<del>five.</del><ins>six.</ins>" in source
    assert "unchanged" in words(row_url(key, 2, "ce_response", pk))


def test_a_row_says_who_made_its_version_when_and_why(words: Words, key: uuid.UUID) -> None:
    pk = CeResponse.objects.get(intent_code="HOURS", state_code="IDLE").pk

    assert "release 2: longer hours" not in words(row_url(key, 1, "ce_response", pk))
    assert ": a desk" in words(row_url(key, 1, "ce_response", pk))
    assert ": longer hours" in words(row_url(key, 2, "ce_response", pk))


def test_a_turn_says_of_each_row_who_made_it_and_what_it_says_today(
    reader: Client, words: Words, key: uuid.UUID
) -> None:
    before, after = words(turn_url(key, 1)), words(turn_url(key, 2))

    assert "Configuration that this turn used" in before
    assert "changed since then This version was made by" in before
    assert "What is different today" in before
    assert "<del>five.</del><ins>six.</ins>" in reader.get(turn_url(key, 1)).content.decode()
    assert "the same today This version was made by" in after
    assert "What is different today" not in after


def test_a_row_that_is_gone_is_shown_as_it_was_and_one_made_since_as_it_is(words: Words, key: uuid.UUID) -> None:
    new = CeResponse.objects.get(state_code="SUNDAY").pk

    gone = words(row_url(key, 1, "ce_rule", delete_rule()))
    made = words(row_url(key, 1, "ce_response", new))

    assert "deleted since then" in gone
    assert "It existed in turn 1." in gone
    assert "$[?(@.inputParams.vip == true)]" in gone
    assert "Open the current version" not in gone
    assert "added since then" in made
    assert "It did not exist in turn 1." in made


@pytest.mark.parametrize("query", ["", "?table=ce_rule&row=999", "?table=ce_rule&row=x", "?table=auth_user&row=1"])
def test_what_is_no_row_is_not_found(reader: Client, key: uuid.UUID, query: str) -> None:
    assert reader.get(row_url(key, 1, "", "").partition("?")[0] + query).status_code == 404


def test_between_two_turns_stand_the_releases_with_what_each_changed(
    reader: Client, words: Words, key: uuid.UUID
) -> None:
    text = words(between_url(key, 2, 1))

    assert "What changed between turn 1 and turn 2" in text
    places = [text.index(reason) for reason in ("closed on Sundays", "no more VIPs", "longer hours")]
    assert places == sorted(places)
    assert "five. six." in text
    assert words(between_url(key, 1, 2)).count("longer hours") == 1
    assert "Both turns used the same configuration." in words(between_url(key, 2, 2))
    assert reader.get(between_url(key, 2, 9)).status_code == 404
    assert reader.get(between_url(key, 2, 1).partition("?")[0]).status_code == 404


def test_many_releases_come_page_by_page(words: Words, key: uuid.UUID) -> None:
    response = CeResponse.objects.get(intent_code="FEES")
    for number in range(22):
        with change_set(reason=f"fee {number}."):
            response.exact_text = f"{number} euros."
            response.save()
    Caller(conversation_id=str(key)).say("fees please")

    first = words(between_url(key, 3, 2))
    assert "fee 21." in first
    assert "fee 1." not in first
    older = words(f"{between_url(key, 3, 2)}&behind=9")
    assert "« Newest" in older


def test_who_may_not_read_rules_does_not_read_old_ones(key: uuid.UUID) -> None:
    user = User.objects.create_user("rita", is_staff=True)
    user.user_permissions.add(Permission.objects.get(codename="view_ceaudit"))
    client = Client()
    client.force_login(user)

    assert client.get(row_url(key, 1, "ce_rule", delete_rule())).status_code == 403
    assert client.get(between_url(key, 2, 1)).status_code == 403
