from typing import Any

import pytest

from convengine.engine.errors import PromptContextMissing
from convengine.engine.prompts.select import choose_template, decide_template
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
    told = payload(turn, "DECISION")
    assert (told["kind"], told["key"]["use"]) == ("TEMPLATE", "TEXT")
    assert [(one["id"], one.get("reason")) for one in told["candidates"]] == [
        (1, None), (3, "LESS_SPECIFIC"), (2, "OTHER_USE"),
    ]  # fmt: skip


def test_without_a_template_the_error_says_what_to_add() -> None:
    with pytest.raises(PromptContextMissing, match="No enabled TEXT prompt template fits intent LOAN"):
        decide_template(make_session(intent="LOAN", state="CONFIRM"), make_turn(), "TEXT")
