"""What a template lets the user do."""

from typing import Any

import pytest

from convengine.engine.prompts.allowed_interactions import (
    choose_interaction,
    find_capabilities,
    list_allowed_interactions,
)
from convengine.engine.turn.rows import PromptTemplate
from tests.builders import make_intent, make_snapshot


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


def test_among_equals_the_newest_wins_then_the_highest_id() -> None:
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
