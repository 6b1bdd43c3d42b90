from typing import Any

import pytest

from config_admin.models import CeIntentClassifier, CePolicy, CeResponse, CeRule
from tests.api import Caller

pytestmark = pytest.mark.django_db


def why(caller: Caller, turn: int = 1, **query: Any) -> dict[str, list[dict[str, Any]]]:
    """The decisions of a turn by kind."""
    found: dict[str, list[dict[str, Any]]] = {}
    for decision in caller.get("/why", turn=turn, **query).json()["decisions"]:
        found.setdefault(decision["kind"], []).append(decision)
    return found


def reasons(decision: dict[str, Any]) -> dict[Any, str | None]:
    return {row["id"]: row["reason"] for row in decision["candidates"]}


def test_a_path_that_did_not_hold_shows_the_value_found_and_the_comparison(caller: Caller) -> None:
    rule = CeRule.objects.get()
    caller.say("hours", inputParams={"vip": False})

    decision = next(d for d in why(caller)["RULE"] if d["source"] == "RulesStep")

    (row,) = [row for row in decision["candidates"] if row["id"] == rule.pk]
    assert (row["matched"], row["reason"], row["derived"]) == (False, "TYPE_CONDITION_NOT_MET", False)
    (operand,) = row["operands"]
    assert operand["path"] == "@.inputParams.vip"
    assert (operand["value"], operand["op"], operand["literal"], operand["result"]) == (False, "==", True, False)


def test_rows_that_were_cut_are_derived_with_their_reason(caller: Caller) -> None:
    other_phase = CeRule.objects.create(
        phase="POST_DIALOGUE_ACT", intent_code="HOURS", state_code="IDLE", rule_type="EXACT", match_pattern="ANY",
        action="SET_STATE", action_value="X",
    )  # fmt: skip
    other_intent = CeRule.objects.create(
        phase="PRE_RESPONSE_RESOLUTION", intent_code="FEES", state_code="IDLE", rule_type="EXACT", match_pattern="ANY",
        action="SET_STATE", action_value="X",
    )  # fmt: skip
    switched_off = CeRule.objects.create(
        phase="PRE_RESPONSE_RESOLUTION", intent_code="ANY", state_code="ANY", rule_type="EXACT", match_pattern="ANY",
        action="SET_STATE", action_value="X", enabled=False,
    )  # fmt: skip
    other_text = CeRule.objects.create(
        phase="PRE_RESPONSE_RESOLUTION", intent_code="ANY", state_code="ANY", rule_type="REGEX", match_pattern="zebra",
        action="SET_STATE", action_value="X",
    )  # fmt: skip
    caller.say("hours")

    decision = next(d for d in why(caller)["RULE"] if d["source"] == "RulesStep")

    found = reasons(decision)
    assert found[other_phase.pk] == "PHASE"
    assert found[other_intent.pk] == "SCOPE_INTENT"
    assert found[switched_off.pk] == "DISABLED"
    assert found[other_text.pk] == "PATTERN"
    assert decision["cut"]["PATTERN"] == 1


def test_each_choice_of_a_turn_is_there_with_its_winner(caller: Caller) -> None:
    caller.say("hours", inputParams={"vip": True})

    found = why(caller)

    assert found["POLICY"][0]["winners"] == []
    assert found["CLASSIFIER"][0]["winners"] == [CeIntentClassifier.objects.get(intent_code="HOURS").pk]
    assert [one["winners"] for one in found["RULE"] if one["winners"]] == [[CeRule.objects.get().pk]]
    assert found["RESPONSE"][0]["winners"] == [CeResponse.objects.get(state_code="VIP").pk]
    assert reasons(found["RESPONSE"][0])[CeResponse.objects.get(intent_code="FEES").pk] == "SCOPE_INTENT"


def test_a_policy_that_was_outranked_says_so(caller: Caller) -> None:
    late = CePolicy.objects.create(rule_type="CONTAINS", pattern="my cvv", response_text="Late.", priority=99)
    caller.say("my cvv is 1")

    assert reasons(why(caller)["POLICY"][0])[late.pk] == "LOWER_PRIORITY"


def test_a_turn_is_explained_on_the_release_that_it_ran_on(caller: Caller) -> None:
    caller.say("hours")
    CeRule.objects.all().delete()
    CeResponse.objects.filter(state_code="VIP").delete()

    found = why(caller)

    assert len(found["RESPONSE"][0]["candidates"]) == 4
    assert any(d["candidates"] for d in found["RULE"])


def test_long_lists_are_cut_and_the_rest_is_counted(caller: Caller) -> None:
    caller.say("hours")

    (decision,) = why(caller, limit=1)["RESPONSE"]

    assert len(decision["candidates"]) == 1
    assert decision["candidates"][0]["matched"] is True
    assert sum(decision["omitted"].values()) == 3


def test_a_turn_that_does_not_exist_is_not_found(caller: Caller) -> None:
    caller.say("hours")

    assert caller.get("/why", turn=9).status_code == 404
    assert caller.get("/why").status_code == 400


def test_rules_that_were_told_one_by_one_are_explained_the_same(caller: Caller) -> None:
    from config_admin.models import CeConfig

    caller.say("hours")
    CeConfig.objects.create(config_type="RulesStep", config_key="AUDIT_NO_MATCH", config_value="EACH")
    caller.say("hours")

    summary = next(d for d in why(caller, 1)["RULE"] if d["source"] == "RulesStep")
    each = next(d for d in why(caller, 2)["RULE"] if d["source"] == "RulesStep")
    assert reasons(summary) == reasons(each)
