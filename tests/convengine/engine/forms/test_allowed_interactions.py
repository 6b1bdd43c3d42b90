from typing import Any

from convengine.engine.forms.allowed_interactions import choose_interaction, list_allowed_interactions
from convengine.engine.turn.rows import PromptTemplate
from tests.builders import make_intent, make_snapshot


def template(template_id: int, **values: Any) -> PromptTemplate:
    defaults = {"intent_code": "LOAN", "state_code": "CONFIRM", "response_type": "TEXT", "interaction_mode": "CONFIRM"}
    return PromptTemplate(template_id=template_id, **{**defaults, **values})


def winner(*rows: PromptTemplate) -> Any:
    choice = choose_interaction(make_snapshot(make_intent("LOAN"), *rows), "loan", "confirm")
    return choice.winner and choice.winner.template_id


def test_the_most_specific_template_says_what_is_allowed() -> None:
    assert winner(template(1, intent_code="ANY"), template(2, state_code="ANY"), template(3)) == 3
    assert winner(template(1, intent_code="ANY"), template(2, state_code="ANY")) == 2
    assert winner(template(1, intent_code="ANY"), template(2, intent_code="ANY", state_code="ANY")) == 1


def test_among_equals_the_newest_wins_then_the_highest_id() -> None:
    old, new = "2026-01-01T00:00:00+00:00", "2026-02-01T00:00:00+00:00"

    assert winner(template(1, created_at=new), template(2, created_at=old)) == 1
    assert winner(template(1, created_at=old), template(2, created_at=old)) == 2


def test_templates_without_mode_and_contract_say_nothing() -> None:
    rows = (template(1, interaction_mode="DANCE"), template(2, state_code="ANY"))

    choice = choose_interaction(make_snapshot(make_intent("LOAN"), *rows), "LOAN", "CONFIRM")

    assert choice.winner is rows[1]
    assert [(one.row_id, one.reason) for one in choice.candidates()] == [(2, None), (1, "NO_INTERACTION")]


def test_a_contract_alone_is_enough_and_decides_alone() -> None:
    rows = (template(1, interaction_mode=None, interaction_contract={"allows": ["retry"]}),)

    assert list_allowed_interactions(make_snapshot(make_intent("LOAN"), *rows), "LOAN", "CONFIRM") == {"retry"}


def test_without_a_template_nothing_is_allowed() -> None:
    assert list_allowed_interactions(make_snapshot(make_intent("LOAN")), "LOAN", "CONFIRM") == frozenset()
