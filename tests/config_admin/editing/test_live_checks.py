"""What a form is told before it is sent."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from config_admin import models as m
from config_admin.releases.change_set import change_set
from convengine.server.sessions.models import CeConversationHistory
from tests.api import Caller
from tests.config_admin.admin.pages import address, form_of, sent_by
from tests.config_admin.builders import make
from tests.sign_in import sign_in_superuser
from tests.worlds import create_help_desk

pytestmark = pytest.mark.django_db


def post_check(client: Client, model: Any, view: str, **values: Any) -> Any:
    return client.post(reverse(f"admin:config_admin_{model._meta.model_name}_{view}_of_form"), values)


RULE = {
    "phase": "POST_SCHEMA_EXTRACTION",
    "intent_code": "LOAN",
    "state_code": "ANY",
    "rule_type": "JSON_PATH",
    "match_pattern": "$[?(@.schemaComplete == true)]",
    "match_target": "USER_TEXT",
    "action": "SET_STATE",
    "action_value": "CONFIRM",
    "priority": "10",
}


def test_a_form_is_judged_as_it_is_and_a_rule_is_said_in_words(ada: Client) -> None:
    make(m.CeIntent)
    body = post_check(ada, m.CeRule, "judge", **RULE, enabled="on", reason="New").json()

    assert body["errors"] == {}
    assert body["sentence"] == "When the form of LOAN is complete, set state to CONFIRM."


def test_errors_stand_at_their_fields_with_the_remedy(ada: Client) -> None:
    make(m.CeIntent)
    body = post_check(ada, m.CeRule, "judge", **RULE | {"match_pattern": "$[?(", "intent_code": "LOON"}).json()

    assert "Did you mean LOAN?" in body["errors"]["intent_code"][0]["text"]
    assert "This is not a valid JSON path" in body["errors"]["match_pattern"][0]["text"]
    assert body["errors"]["match_pattern"][0]["url"] == "/docs/reference/checks/#check.JSONPATH_INVALID"


def test_judging_stores_nothing_and_makes_no_release(ada: Client) -> None:
    with change_set():
        make(m.CeIntent)
        row = make(m.CeRule)
    before = m.CeRelease.objects.count()

    body = post_check(ada, m.CeRule, "judge", **RULE, _pk=row.pk).json()

    assert body["sentence"].endswith("set state to CONFIRM.")
    assert m.CeRule.objects.get().action_value == "DONE"
    assert m.CeRelease.objects.count() == before


def test_a_pattern_is_tried_against_a_typed_text(ada: Client) -> None:
    values = RULE | {"rule_type": "REGEX", "match_pattern": "loan", "_field": "match_pattern"}

    assert "The condition is met." in post_check(ada, m.CeRule, "try_it", **values, _text="a loan").content.decode()
    assert "No match." in post_check(ada, m.CeRule, "try_it", **values, _text="<b>a car").content.decode()
    assert "&lt;b&gt;a car" in post_check(ada, m.CeRule, "try_it", **values, _text="<b>a car").content.decode()


def test_a_path_is_tried_against_the_facts_of_a_stored_turn() -> None:
    create_help_desk()
    Caller().say("hours", inputParams={"vip": True})
    turn = CeConversationHistory.objects.get()
    values = RULE | {
        "match_pattern": "$[?(@.inputParams.vip == true)]",
        "_field": "match_pattern",
        "_turn": turn.turn_id,
    }
    superuser = sign_in_superuser("root")
    shown = post_check(superuser, m.CeRule, "try_it", **values).content.decode()

    assert "The condition is met." in shown
    assert "@.inputParams.vip" in shown
    assert "This row would not be evaluated in that turn. The conversation was in intent HOURS" in shown


def test_turns_are_for_who_may_see_turns(somebody: Callable[..., Client]) -> None:
    reader = somebody("quinn", "qa")
    nobody = somebody("nobody")

    for client in (reader, nobody):
        url = reverse("admin:config_admin_cerule_turns_of_form")
        assert client.get(url).status_code == 403
        assert post_check(client, m.CeRule, "judge", **RULE).status_code == 403
        assert post_check(client, m.CeRule, "try_it", **RULE, _field="match_pattern").status_code == 403


def test_a_form_knows_where_to_ask(ada: Client, somebody: Callable[..., Client]) -> None:
    with change_set():
        make(m.CeIntent)
        row = make(m.CeRule)
    page = ada.get(address(m.CeRule, "change", row.pk)).content.decode()

    assert f'data-pk="{row.pk}"' in page
    assert 'id="ce-sentence"' in page
    assert 'id="ce-form"' not in somebody("quinn", "qa").get(address(m.CeRule, "change", row.pk)).content.decode()


def test_what_cannot_be_tried_is_not_found(ada: Client) -> None:
    assert post_check(ada, m.CeRule, "try_it", **RULE, _field="priority").status_code == 404


def test_every_form_can_be_judged(ada: Client) -> None:
    for model in (m.CeIntent, m.CeOutputSchema, m.CeMcpServer, m.CeVerbose):
        sent = sent_by(form_of(ada.get(address(model, "add"))))
        assert post_check(ada, model, "judge", **sent).json()["errors"]


def test_a_row_that_was_deleted_meanwhile_is_judged_as_a_new_one(ada: Client) -> None:
    make(m.CeIntent)
    rule = make(m.CeRule)
    pk = rule.pk
    rule.delete()

    body = post_check(ada, m.CeRule, "judge", **RULE, enabled="on", reason="New", _pk=str(pk)).json()

    assert body["sentence"] == "When the form of LOAN is complete, set state to CONFIRM."
    assert post_check(ada, m.CeRule, "judge", **RULE, _pk="4711").status_code == 404
    assert post_check(ada, m.CeRule, "judge", **RULE, _pk="x").status_code == 404
