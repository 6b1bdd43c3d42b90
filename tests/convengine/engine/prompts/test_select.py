from typing import Any

import pytest

from convengine.engine.errors import PromptContextMissing
from convengine.engine.prompts.select import (
    choose_interaction,
    choose_template,
    decide_template,
    find_capabilities,
    list_allowed_interactions,
)
from convengine.engine.turn.rows import PromptTemplate
from tests.builders import make_intent, make_session, make_snapshot, make_turn, payload


def template(template_id: int, intent: str = "LOAN", state: str = "CONFIRM", use: str = "TEXT", **values: Any) -> Any:
    return PromptTemplate(template_id=template_id, intent_code=intent, state_code=state, response_type=use, **values)


def winner(*rows: PromptTemplate, use: str = "TEXT") -> Any:
    choice = choose_template(make_snapshot(make_intent("LOAN"), *rows), use, "loan", "confirm")
    return choice.winner and choice.winner.template_id


def test_the_intent_counts_more_than_the_state() -> None:
    every = [template(1, "ANY", "ANY"), template(2, "ANY"), template(3, state="ANY"), template(4)]

    assert [winner(*every[:count]) for count in (1, 2, 3, 4)] == [1, 2, 3, 4]


def test_the_mode_plays_no_part() -> None:
    assert winner(template(1, interaction_mode="CONFIRM"), template(2)) == 2


def test_among_equals_the_newest_wins_then_the_highest_id() -> None:
    old, new = "2026-01-01T00:00:00+00:00", "2026-02-01T00:00:00+00:00"

    assert winner(template(1, created_at=new), template(2, created_at=old)) == 1
    assert winner(template(1, created_at="?"), template(2)) == 2


def test_a_template_for_something_else_takes_no_part() -> None:
    assert winner(template(1, use="json"), use="TEXT") is None
    assert winner(template(1, use="json"), use="JSON") == 1


def test_extraction_takes_none_of_any_intent() -> None:
    assert winner(template(1, "ANY", use="SCHEMA_JSON"), use="SCHEMA_JSON") is None


def test_the_decision_tells_what_it_was_for() -> None:
    turn = make_turn(make_snapshot(make_intent("LOAN"), template(1), template(2, use="JSON"), template(3, state="ANY")))

    assert decide_template(make_session(intent="LOAN", state="CONFIRM"), turn, "TEXT").template_id == 1
    decision = payload(turn, "DECISION")
    assert (decision["kind"], decision["key"]["use"]) == ("TEMPLATE", "TEXT")
    assert [(candidate["id"], candidate.get("reason")) for candidate in decision["candidates"]] == [
        (1, None), (3, "LESS_SPECIFIC"), (2, "OTHER_USE"),
    ]  # fmt: skip


def test_without_a_template_the_error_says_what_to_add() -> None:
    with pytest.raises(PromptContextMissing, match="No enabled TEXT prompt template fits intent LOAN"):
        decide_template(make_session(intent="LOAN", state="CONFIRM"), make_turn(), "TEXT")


def make_template(mode: str | None, contract: Any = None) -> PromptTemplate:
    return PromptTemplate(
        template_id=1,
        intent_code="ORDER",
        state_code="CONFIRM",
        response_type="TEXT",
        interaction_mode=mode,
        interaction_contract=contract,
    )


@pytest.mark.parametrize(
    ("mode", "allowed"),
    [
        ("NORMAL", set()),
        ("IDLE", set()),
        ("FINAL", set()),
        ("DISAMBIGUATE", set()),
        ("FOLLOW_UP", set()),
        ("PENDING_ACTION", set()),
        ("COLLECT", {"reset", "structured_input"}),
        ("confirm ", {"affirm", "edit", "reset"}),
        ("REVIEW", {"edit", "reset"}),
        ("PROCESSING", {"retry"}),
        ("ERROR", {"retry", "reset"}),
        ("DREAMING", set()),
        ("", set()),
        (None, set()),
    ],
)
def test_a_mode_stands_for_capabilities(mode: str | None, allowed: set[str]) -> None:
    assert find_capabilities(make_template(mode)) == allowed


@pytest.mark.parametrize(
    ("contract", "allowed"),
    [
        ({"allows": ["Affirm ", "retry"]}, {"affirm", "retry"}),
        ({"allows": []}, set()),
        ({"expects": ["structured_input"]}, {"affirm", "edit", "reset", "structured_input"}),
        ({"allows": ["sing", "edit"], "expects": []}, {"edit"}),
        ({"allows": "affirm"}, {"affirm", "edit", "reset"}),
        ([], {"affirm", "edit", "reset"}),
        (None, {"affirm", "edit", "reset"}),
    ],
)
def test_a_list_of_the_contract_decides_alone(contract: Any, allowed: set[str]) -> None:
    assert find_capabilities(make_template("CONFIRM", contract)) == allowed


def test_structured_input_is_expected_or_not_apart_from_what_is_allowed() -> None:
    assert find_capabilities(make_template("COLLECT", {"allows": ["edit"]})) == {"edit", "structured_input"}
    assert find_capabilities(make_template("COLLECT", {"expects": []})) == {"reset"}


def make_scoped_template(template_id: int, **values: Any) -> PromptTemplate:
    defaults = {"intent_code": "LOAN", "state_code": "CONFIRM", "response_type": "TEXT", "interaction_mode": "CONFIRM"}
    return PromptTemplate(template_id=template_id, **{**defaults, **values})


def choose_template_id(*rows: PromptTemplate) -> Any:
    choice = choose_interaction(make_snapshot(make_intent("LOAN"), *rows), "loan", "confirm")
    return choice.winner and choice.winner.template_id


def test_the_most_specific_template_says_what_is_allowed() -> None:
    assert (
        choose_template_id(
            make_scoped_template(1, intent_code="ANY"),
            make_scoped_template(2, state_code="ANY"),
            make_scoped_template(3),
        )
        == 3
    )
    assert (
        choose_template_id(make_scoped_template(1, intent_code="ANY"), make_scoped_template(2, state_code="ANY")) == 2
    )
    assert (
        choose_template_id(
            make_scoped_template(1, intent_code="ANY"), make_scoped_template(2, intent_code="ANY", state_code="ANY")
        )
        == 1
    )


def test_among_equal_templates_the_newest_decides_the_mode() -> None:
    old, new = "2026-01-01T00:00:00+00:00", "2026-02-01T00:00:00+00:00"

    assert choose_template_id(make_scoped_template(1, created_at=new), make_scoped_template(2, created_at=old)) == 1
    assert choose_template_id(make_scoped_template(1, created_at=old), make_scoped_template(2, created_at=old)) == 2


def test_templates_without_mode_and_contract_say_nothing() -> None:
    rows = (make_scoped_template(1, interaction_mode="DANCE"), make_scoped_template(2, state_code="ANY"))

    choice = choose_interaction(make_snapshot(make_intent("LOAN"), *rows), "LOAN", "CONFIRM")

    assert choice.winner is rows[1]
    assert [(one.row_id, one.reason) for one in choice.candidates()] == [(2, None), (1, "NO_INTERACTION")]


def test_a_contract_alone_is_enough_and_decides_alone() -> None:
    rows = (make_scoped_template(1, interaction_mode=None, interaction_contract={"allows": ["retry"]}),)

    assert list_allowed_interactions(make_snapshot(make_intent("LOAN"), *rows), "LOAN", "CONFIRM") == {"retry"}


def test_without_a_template_nothing_is_allowed() -> None:
    assert list_allowed_interactions(make_snapshot(make_intent("LOAN")), "LOAN", "CONFIRM") == frozenset()
