"""Checks of each row by itself."""

from dataclasses import replace

import pytest

from config_admin.health.checks.single_rows import find_answers_with_gaps, find_patterns_of_empty_text, run_save_checks
from config_admin.health.survey import Survey
from convengine.server.interfaces.turn_reports import EmptyValue
from tests.builders import make_action, make_classifier, make_intent, make_policy, make_response, make_rule
from tests.config_admin.health.run_check import list_codes, run_check
from tests.config_admin.validation.shop import WORLD, shop


def test_what_the_form_warned_of_is_still_told_with_what_it_does_to_a_customer() -> None:
    derived = make_response(None, response_type="DERIVED", derivation_hint="Be brief.")

    by_code = {diagnosis.code: diagnosis for diagnosis in run_check(run_save_checks, derived)}

    assert {"DERIVED_NO_PROMPT", "DERIVED_WITHOUT_MODEL"} <= by_code.keys()
    assert "error instead of an answer" in by_code["DERIVED_NO_PROMPT"].consequence
    assert by_code["DERIVED_NO_PROMPT"].rows[0].pk == derived.response_id


def test_a_prompt_with_a_name_that_nobody_sets_is_told() -> None:
    response = make_response("Dear {{ coustomer }}")

    (diagnosis,) = run_check(run_save_checks, response)

    assert (diagnosis.code, diagnosis.field) == ("TEMPLATE_VAR_UNKNOWN", "exact_text")


def test_a_task_that_is_gone_is_an_error() -> None:
    rule = make_rule(action="SET_TASK", action_value="billing:refund")

    assert list_codes(run_save_checks, rule) == [("REFERENCE_GONE", rule.rule_id)]
    assert not list_codes(run_save_checks, rule, tasks={"billing": ("refund",)})


def test_two_actions_that_users_are_asked_about_are_one_finding() -> None:
    tasks = {"billing": ("refund",)}
    findings = list_codes(run_save_checks, make_action("CARD"), make_action("VOUCHER"), tasks=tasks)

    assert [code for code, _ in findings].count("ACTION_AMBIGUOUS") == 1


def test_a_phrase_of_two_intents_is_one_finding() -> None:
    phrases = [make_classifier(intent, "I want to stop my order", rule_type="PHRASE") for intent in ("STOP", "FAQ")]
    findings = list_codes(run_save_checks, make_intent("STOP"), make_intent("FAQ"), *phrases)

    assert findings.count(("PHRASE_OF_OTHER_INTENT", phrases[0].classifier_id)) == 1
    assert [code for code, _ in findings].count("PHRASE_OF_OTHER_INTENT") == 1


def test_rows_of_an_intent_that_is_off_are_not_judged_one_by_one() -> None:
    rule = make_rule(intent_code="OLD", action="SET_TASK", action_value="gone")

    assert not list_codes(run_save_checks, make_intent("OLD", enabled=False), rule)


def test_a_sound_shop_is_well() -> None:
    assert [diagnosis.code for diagnosis in run_save_checks(Survey(shop(), replace(WORLD)))] == []


@pytest.mark.parametrize("pattern", ["a*", ".*", "(yes)?", "^", r"\bno\b|", "x{0,3}"])
def test_a_pattern_that_is_found_in_the_empty_text_is_told(pattern: str) -> None:
    rule = make_rule(rule_type="REGEX", match_pattern=pattern)
    classifier = make_classifier("LOAN", pattern, rule_type="REGEX")
    policy = make_policy("REGEX", pattern)

    codes = list_codes(find_patterns_of_empty_text, make_intent("LOAN"), rule, classifier, policy)

    assert codes == [("PATTERN_EMPTY_TEXT", row.pk) for row in (rule, classifier, policy)]


@pytest.mark.parametrize(
    ("pattern", "words"), [("a*", "whatever the user text is"), (r"^\s*$", "matches an empty message")]
)
def test_only_of_a_pattern_that_every_text_fulfils_that_is_said(pattern: str, words: str) -> None:
    [diagnosis] = run_check(find_patterns_of_empty_text, make_rule(rule_type="REGEX", match_pattern=pattern))
    assert words in diagnosis.message


@pytest.mark.parametrize("pattern", ["a", "^a*b$", "(", "", r"\w"])
def test_other_patterns_are_not(pattern: str) -> None:
    assert not list_codes(find_patterns_of_empty_text, make_rule(rule_type="REGEX", match_pattern=pattern))
    assert not list_codes(find_patterns_of_empty_text, make_rule(rule_type="EXACT", match_pattern="a*"))


ANSWER = make_response("Order {{ orderNumber }} is a {{ item }}.", response_id=4)


def gap(*names: str) -> EmptyValue:
    return EmptyValue("ce_response", 4, names, 1)


def test_an_answer_that_had_gaps_in_several_turns_is_told_with_its_names() -> None:
    gaps = [gap("item"), gap("item"), gap("orderNumber", "gone")]

    (finding,) = run_check(find_answers_with_gaps, ANSWER, empty_values=lambda: gaps)

    assert (finding.code, finding.row, finding.field) == ("ANSWER_WITH_GAPS", 4, "exact_text")
    assert "In 3 recent turns, item, orderNumber had no value" in finding.message


def test_one_gap_and_names_that_the_text_no_longer_has_are_no_finding() -> None:
    gaps = [gap("item"), gap("gone"), gap("gone")]

    assert run_check(find_answers_with_gaps, ANSWER, empty_values=lambda: gaps) == []
