from typing import Any

from convengine.engine.rules.choice import choose_row, find_row
from convengine.engine.rules.explain import explain
from convengine.engine.turn.enums import DecisionKind
from convengine.engine.turn.rows import OutputSchema
from tests.builders import make_intent, make_schema, make_session, make_snapshot, make_turn, payload


def row(schema_id: int, **values: Any) -> OutputSchema:
    return make_schema("LOAN", {"a": {"type": "string"}}, schema_id=schema_id, **values)


def test_the_best_row_that_takes_part_wins_and_the_others_have_reasons() -> None:
    rows = (row(1, state_code="GATE"), row(2), row(3), row(4, state_code="DONE"), row(5, enabled=False))
    snapshot = make_snapshot(make_intent("LOAN"), *rows)

    def find_refusal(row: OutputSchema) -> str | None:
        return "BROKEN" if row.schema_id == 1 else None

    choice = choose_row(snapshot, OutputSchema, "LOAN", "GATE", find_refusal)

    assert choice.winner is rows[1]
    assert find_row(snapshot, OutputSchema, "LOAN", "GATE", find_refusal) is rows[1]
    assert [(candidate.row_id, candidate.matched, candidate.reason) for candidate in choice.candidates()] == [
        (2, True, None),
        (3, False, "LOWER_PRIORITY"),
        (1, False, "BROKEN"),
    ]
    assert {reason: count for reason, count in choice.cut.items() if count} == {"DISABLED": 1, "SCOPE_STATE": 1}


def test_the_winner_is_listed_however_many_rows_take_no_part() -> None:
    rows = [row(number) for number in range(1, 30)]
    snapshot = make_snapshot(make_intent("LOAN"), *rows)

    choice = choose_row(snapshot, OutputSchema, "LOAN", "GATE", lambda row: None if row.schema_id == 29 else "BROKEN")

    assert choice.candidates()[0].row_id == 29
    assert len(choice.candidates()) == 11
    assert choice.cut["OUTRANKED"] == 18


def test_a_reader_derives_the_rows_that_were_cut() -> None:
    rows = (row(1), row(2, state_code="DONE"), row(3, enabled=False))
    turn = make_turn(make_snapshot(make_intent("LOAN"), *rows))
    choice = choose_row(turn.snapshot, OutputSchema, "LOAN", "GATE", lambda row: None)
    turn.decide(
        make_session(),
        DecisionKind.SCHEMA,
        key={"intent": "LOAN", "state": "GATE"},
        winner=choice.winner,
        candidates=choice.candidates(),
        cut=choice.cut,
    )

    explained = explain(turn.snapshot, payload(turn, "DECISION"))

    assert {row.row_id: row.reason for row in explained} == {1: None, 2: "SCOPE_STATE", 3: "DISABLED"}


def test_nothing_in_scope_has_no_winner() -> None:
    choice = choose_row(make_snapshot(), OutputSchema, "LOAN", "GATE", lambda row: None)

    assert (choice.winner, choice.candidates()) == (None, [])
    assert find_row(make_snapshot(), OutputSchema, "LOAN", "GATE", lambda row: None) is None
