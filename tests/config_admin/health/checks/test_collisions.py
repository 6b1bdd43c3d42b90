from dataclasses import replace

from config_admin.health.checks.collisions import find_rule_collisions, find_rules_that_undo_forms, list_pairs
from config_admin.health.survey import Survey
from config_admin.validation.world import World
from tests.builders import make_config, make_intent, make_response, make_rule, make_schema, make_snapshot
from tests.config_admin.health.run_check import run_check

LOAN = make_intent("LOAN")


def test_a_collision_says_what_both_rules_do_and_what_that_means_for_the_customer() -> None:
    first = make_rule(rule_type="REGEX", match_pattern="pay", action_value="PAYING", description="pays", priority=1)
    second = make_rule(rule_type="REGEX", match_pattern="pay bill", action_value="BILL")

    (diagnosis,) = run_check(find_rule_collisions, LOAN, first, second)

    assert (diagnosis.code, diagnosis.table, diagnosis.row) == ("RULE_COLLISION", "ce_rule", second.rule_id)
    assert diagnosis.message == (
        f"Rule {first.rule_id} (“pays”) and Rule {second.rule_id} apply to the same message. The first one "
        "sets the state to PAYING, then the second one sets the state to BILL."
    )
    assert "has no effect" in diagnosis.consequence
    assert [key.pk for key in diagnosis.rows] == [second.rule_id, first.rule_id]
    assert diagnosis.as_dict()["witness"]["userText"] == "pay bill"


def test_of_rules_on_different_words_one_message_with_both_is_told_of_each() -> None:
    rules = [make_rule(rule_type="REGEX", match_pattern=f"topic{word}", action_value=word) for word in "ABCDEFGH"]

    diagnoses = run_check(find_rule_collisions, LOAN, *rules)

    assert 0 < len(diagnoses) < len(rules)
    assert all(diagnosis.witness and diagnosis.witness.joined for diagnosis in diagnoses)


def test_rules_meet_in_every_combination_of_scopes_once() -> None:
    scopes = [("LOAN", "A"), ("LOAN", "ANY"), ("ANY", "A"), ("ANY", "ANY"), ("LOAN", "B"), ("CARD", "ANY")]
    rules = [make_rule(intent_code=i, state_code=s, action_value=f"S{n}") for n, (i, s) in enumerate(scopes)]
    snapshot = make_snapshot(LOAN, make_intent("CARD"), *rules)
    positions = {rule.rule_id: number for number, rule in enumerate(rules)}

    met = [
        tuple(sorted((positions[first.rule_id], positions[two.rule_id])))
        for first, two in list_pairs(Survey(snapshot, World()))
    ]

    wanted = {(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (1, 4), (2, 3), (2, 5), (3, 4), (3, 5)}
    assert len(met) == len(set(met))
    assert set(met) == wanted


def test_of_a_touched_rule_its_pairs_are_looked_at_and_no_others() -> None:
    rules = [make_rule(action_value=f"S{number}") for number in range(4)]

    diagnoses = run_check(find_rule_collisions, LOAN, *rules, touched=rules[2])

    assert len(diagnoses) == 3
    assert all(rules[2].rule_id in [key.pk for key in diagnosis.rows] for diagnosis in diagnoses)


def test_a_general_rule_that_undoes_a_specific_one_is_named_with_the_setting_that_prevents_it() -> None:
    intent = make_intent("LOAN")
    specific = make_rule(intent_code="LOAN", action_value="CONFIRM")
    general = make_rule(rule_type="REGEX", match_pattern="hello", action_value="FALLBACK")

    (found,) = run_check(find_rule_collisions, intent, specific, general)

    assert (found.code, found.row) == ("GENERAL_RULE_UNDOES", general.rule_id)
    assert "with Rules/GENERAL_MAY_UNDO off, it leaves the state alone" in found.consequence
    assert found.witness is not None
    marked = replace(general, override=True)
    assert run_check(find_rule_collisions, intent, specific, marked)[0].code == "RULE_COLLISION"
    keeps = make_config("Rules/GENERAL_MAY_UNDO", "false")
    assert run_check(find_rule_collisions, keeps, intent, specific, general) == []


def test_a_general_rule_that_takes_the_no_of_a_form_is_named_unless_it_cannot() -> None:
    form = make_schema("LOAN", {}, state_code="COLLECT", json_schema={"type": "object", "x-on-no": "RESTART"})
    confirm = make_rule(
        intent_code="LOAN", state_code="COLLECT", action_value="CONFIRM", phase="POST_SCHEMA_EXTRACTION"
    )
    done = make_rule(intent_code="LOAN", state_code="CONFIRM", action_value="DONE", phase="POST_DIALOGUE_ACT")
    answer = make_response(intent_code="LOAN", state_code="CONFIRM")
    general = make_rule(
        state_code="CONFIRM", rule_type="EXACT", match_target="DIALOGUE_ACT", match_pattern="NEGATE",
        action_value="KEPT", phase="POST_DIALOGUE_ACT",
    )  # fmt: skip
    others = (LOAN, form, confirm, done, answer)

    (found,) = run_check(find_rules_that_undo_forms, *others, general)

    assert (found.code, found.row) == ("GENERAL_RULE_UNDOES", general.rule_id)
    assert "at the confirmation of LOAN" in found.message
    assert found.witness is not None
    for harmless in (
        replace(general, intent_code="LOAN"), replace(general, match_pattern="AFFIRM"), replace(general, state_code="X")
    ):  # fmt: skip
        assert run_check(find_rules_that_undo_forms, *others, harmless) == []
    off = make_config("Rules/GENERAL_MAY_UNDO", "false")
    assert run_check(find_rules_that_undo_forms, *others, off, general) == []
    assert run_check(find_rules_that_undo_forms, *others, off, replace(general, override=True)) != []
