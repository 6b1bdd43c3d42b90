from dataclasses import replace

from config_admin.health.checks.saved import run_save_checks
from config_admin.health.survey import Survey
from tests.builders import make_action, make_classifier, make_intent, make_response, make_rule
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
