from dataclasses import replace
from itertools import count
from time import process_time

from config_admin.health.check import CHECKS, check_all, check_touched
from config_admin.health.checks.loops import find_loops
from config_admin.health.diagnosis import RowKey
from config_admin.health.reachability import find_reachable_states, is_reachable
from config_admin.health.survey import Survey
from convengine.engine.turn import rows
from tests.builders import make_classifier, make_intent, make_response, make_rule, make_schema, make_snapshot
from tests.config_admin.validation.shop import WORLD, shop

LOAN = make_intent("LOAN")
ANSWER = make_response("Hello.")


def test_a_sound_shop_has_nothing_but_a_state_that_nothing_leads_to() -> None:
    assert [finding.code for finding in check_all(shop(), WORLD).findings] == ["UNREACHABLE_STATE"]


def test_errors_come_first_and_nothing_is_said_twice() -> None:
    rules = [
        make_rule(action="SET_TASK", action_value="gone"),
        make_rule(action_value="A"),
        make_rule(action_value="B"),
    ]

    health = check_all(make_snapshot(LOAN, ANSWER, *rules), WORLD)

    assert health.errors == 1
    assert health.findings[0].is_error
    assert len({(finding.code, finding.row, finding.message) for finding in health.findings}) == len(health.findings)
    assert set(health.seconds) == {check.name for check in CHECKS}


def test_progress_is_told_before_each_check() -> None:
    steps: list[tuple[str, int, int]] = []

    check_all(make_snapshot(LOAN), WORLD, progress=lambda *step: steps.append(step))

    assert [number for _, number, _ in steps] == list(range(len(CHECKS)))


def test_what_is_left_out_for_want_of_time_is_told() -> None:
    rules = [make_rule(action_value=f"S{number}") for number in range(3)]

    health = check_all(make_snapshot(LOAN, ANSWER, *rules), WORLD, seconds=0)

    assert health.left_out["pairs of rules"] == 3
    assert [finding.message for finding in health.findings if finding.code == "CHECK_INCOMPLETE"]


def test_a_search_in_a_large_form_ends_with_the_time() -> None:
    impossible = "$[?(@.schemaComplete == true && @.context.f1 == 'x' && @.inputParams.p > 3 && @.inputParams.q < 3)]"
    condition = {"rule_type": "JSON_PATH", "match_pattern": impossible, "phase": "POST_SCHEMA_EXTRACTION"}
    rules = [make_rule(intent_code="LOAN", action_value=state, **condition) for state in "AB"]
    fields = {f"f{number}": {"type": "string", "pattern": "^abc$"} for number in range(50)}
    snapshot = make_snapshot(LOAN, ANSWER, *rules, make_schema("LOAN", fields))
    time, deadline = count(), 100
    survey = Survey(snapshot, WORLD, None, lambda: next(time), deadline)

    assert not [*find_loops(survey)]

    assert survey.left_out == {"circles of rules": 1}
    assert next(time) < deadline + 50


def test_of_touched_rows_only_what_concerns_them_is_told() -> None:
    far = [make_rule(intent_code="LOAN", state_code="IDLE", action_value=state) for state in "AB"]
    near = [make_rule(phase="POST_DIALOGUE_ACT", action="SET_INPUT_PARAM", action_value=f"x:{n}") for n in range(2)]
    snapshot = make_snapshot(LOAN, ANSWER, *far, *near, make_classifier("LOAN", "loan"))

    findings = check_touched(snapshot, WORLD, [near[1]]).findings

    assert [finding.code for finding in findings] == ["RULE_COLLISION"]
    assert {key.pk for key in findings[0].rows} == {rule.rule_id for rule in near}
    assert check_touched(snapshot, WORLD, [RowKey("ce_rule", near[1].rule_id)]).findings == findings


def test_a_touched_phrase_whose_words_no_pattern_has_is_checked() -> None:
    phrase = make_classifier("LOAN", "what are your prices", rule_type="PHRASE")

    assert not check_touched(make_snapshot(LOAN, ANSWER, phrase), WORLD, [phrase]).findings


def test_a_fingerprint_stays_until_one_of_the_rows_changes() -> None:
    rules = [make_rule(action_value="A"), make_rule(action_value="B")]

    def fingerprint(*of: rows.Row) -> str:
        snapshot = make_snapshot(LOAN, ANSWER, *of)
        (collision,) = [finding for finding in check_all(snapshot, WORLD).findings if finding.code == "RULE_COLLISION"]
        return collision.fingerprint(snapshot)

    first = fingerprint(*rules)

    assert fingerprint(*rules, make_response("Else.", intent_code="LOAN")) == first
    assert fingerprint(rules[0], replace(rules[1], description="new")) != first


def test_many_general_rules_are_followed_once_each() -> None:
    rules = [make_rule(action_value=f"S{number}") for number in range(3000)]
    snapshot = make_snapshot(LOAN, ANSWER, *rules)
    began = process_time()

    assert is_reachable(snapshot, "LOAN", "S2999")

    assert process_time() - began < 2


def test_every_intent_is_no_intent_that_has_states() -> None:
    assert set(find_reachable_states(make_snapshot(LOAN, make_intent("ANY")))) == {"LOAN", "UNKNOWN"}
