"""Dialogue 7, rule by rule: the general does not undo the specific."""

from typing import Any

import pytest

from config_admin.health.check import check_all
from config_admin.health.diagnosis import RowKey
from config_admin.health.page import news_of
from config_admin.models import CeConfig, CeRule
from config_admin.releases.active import snapshots
from config_admin.releases.change_set import change_set
from config_admin.validation.installation import describe_installation
from tests.dialogues.rows.worlds import get_text, list_events, make_caller, make_setting, say

pytestmark = pytest.mark.django_db

INTENTS = {
    "ce_intent": [{"intent_code": name, "description": name} for name in ("LOAN", "HELP", "OTHER")],
    "ce_intent_classifier": [
        {"intent_code": "LOAN", "state_code": "IDLE", "rule_type": "PHRASE", "pattern": "I need a loan"}
    ],
    "ce_response": [
        {"intent_code": "ANY", "state_code": state, "response_type": "EXACT", "exact_text": f"{{{{ intent }}}} {state}"}
        for state in ("IDLE", "CONFIRM", "FALLBACK")
    ],
}
SPECIFIC = {"intent_code": "LOAN", "state_code": "IDLE", "action": "SET_STATE", "action_value": "CONFIRM"}
GENERAL = {"intent_code": "ANY", "state_code": "ANY", "action": "SET_STATE", "action_value": "FALLBACK"}
BOTH_INTENTS = (
    {**SPECIFIC, "action": "SET_INTENT", "action_value": "HELP"},
    {**GENERAL, "action": "SET_INTENT", "action_value": "OTHER"},
)
TEXT = "I need a loan please"


def make_rule(number: int, values: dict[str, Any]) -> dict[str, Any]:
    rule = {"rule_type": "REGEX", "match_pattern": "loan", "phase": "PRE_RESPONSE_RESOLUTION", "priority": number}
    return {**rule, "description": f"rule {number}", **values}


def ask(may_undo: bool | None, *rules: dict[str, Any]) -> tuple[Any, str]:
    """The caller, and the answer with intent and state; null leaves the setting as it is by default."""
    with change_set():
        CeConfig.objects.filter(config_key="GENERAL_MAY_UNDO").delete()
    setting = [] if may_undo is None else [make_setting("Rules/GENERAL_MAY_UNDO", str(may_undo).lower())]
    listed = [make_rule(number, values) for number, values in enumerate(rules, 1)]
    caller = make_caller(rows={**INTENTS, "ce_rule": listed, "ce_config": setting})
    return caller, get_text(say(caller, TEXT))


@pytest.mark.parametrize(
    ("may_undo", "given", "answer"),
    [
        pytest.param(None, (SPECIFIC, GENERAL), "LOAN FALLBACK", id="by default a general rule may undo it"),
        pytest.param(False, (SPECIFIC, GENERAL), "LOAN CONFIRM", id="off: a general rule leaves the state alone"),
        pytest.param(False, BOTH_INTENTS, "HELP IDLE", id="off: a general rule leaves the intent alone"),
        pytest.param(
            False, (SPECIFIC, {**GENERAL, "override": True}), "LOAN FALLBACK", id="off: override may change it"
        ),
        pytest.param(
            False, (SPECIFIC, {**SPECIFIC, "action_value": "FALLBACK"}), "LOAN FALLBACK",
            id="off: a rule of the same bucket may change it",
        ),
        pytest.param(
            False, ({**SPECIFIC, "phase": "POST_CLASSIFIER_INTENT"}, GENERAL), "LOAN CONFIRM",
            id="off: it holds through all phases of the turn",
        ),
    ],
)  # fmt: skip
def test_a_more_general_rule(may_undo: bool | None, given: tuple[dict[str, Any], ...], answer: str) -> None:
    assert ask(may_undo, *given)[1] == answer


def test_it_holds_for_the_turn_only() -> None:
    later = {**GENERAL, "match_pattern": "stop"}
    caller, _ = ask(False, SPECIFIC, later)

    assert get_text(caller.say("stop the loan")) == "LOAN FALLBACK"


def test_the_skipped_rule_is_audited_with_the_reason() -> None:
    caller, _ = ask(False, SPECIFIC, GENERAL)
    skipped = [event for event in list_events(caller, 1, "RULE_NO_MATCH") if event.get("reason") == "OVERRIDDEN_BY"]
    names = dict(CeRule.objects.values_list("rule_id", "description"))
    assert {(names[event["ruleId"]], names[event["overriddenBy"]]) for event in skipped} == {("rule 2", "rule 1")}


def test_health_names_the_pair_with_a_message_that_shows_it() -> None:
    caller, _ = ask(None, SPECIFIC, {**GENERAL, "match_pattern": "please"})
    findings = check_all(snapshots.current(), describe_installation()).findings
    undone = [finding for finding in findings if finding.code == "GENERAL_RULE_UNDOES"]
    found = next(finding for finding in undone if "rule 1" in finding.message)

    names = dict(CeRule.objects.values_list("rule_id", "description"))
    assert names[found.row] == "rule 2"
    assert all(part in found.message for part in ("rule 1", "rule 2"))
    answer = caller.say(found.witness.text)
    assert answer["state"] == "FALLBACK"


def test_saving_a_rule_names_the_pair_with_a_message_that_shows_it() -> None:
    ask(None, SPECIFIC, GENERAL)
    general = CeRule.objects.get(description="rule 2")

    told = next(text for text in news_of([RowKey("ce_rule", general.pk)]) if "rule 1" in text)

    assert "“rule 2”" in told
    assert "For example: “loan”." in told
