"""The matrix of confusions."""

from typing import Any

from config_admin.evaluation import matrix
from config_admin.evaluation.matrix import build_matrix


def make(confusions: dict[tuple[str, str], int]) -> dict[str, Any]:
    intents = sorted({intent for pair in confusions for intent in pair if intent} | {"FINE"})
    return {
        "confusions": [{"intent": a, "decision": b, "count": count} for (a, b), count in confusions.items()],
        "intents": [{"intent": intent, "right": 5} for intent in intents],
    }


def test_only_confused_intents_are_in_it_beside_those_that_they_are_confused_with() -> None:
    built = build_matrix(make({("A", "C"): 8, ("B", "D"): 3, ("C", "A"): 1, ("D", "E"): 1, ("", "A"): 9}))

    assert built
    assert built.intents == ["A", "C", "D", "B", "E"]
    assert [intent for intent, _ in built.rows] == built.intents


def test_a_cell_has_how_often_and_how_much_that_is() -> None:
    built = build_matrix(make({("A", "B"): 8, ("B", "A"): 1}))

    assert built
    (_, first), (_, second) = built.rows
    assert [(cell.times, cell.weight, cell.is_right) for cell in first] == [(5, 0, True), (8, 4, False)]
    assert [(cell.times, cell.weight, cell.is_right) for cell in second] == [(1, 1, False), (5, 0, True)]


def test_the_most_confused_intents_are_shown_and_the_others_counted(monkeypatch: Any) -> None:
    monkeypatch.setattr(matrix, "MOST_INTENTS", 2)
    built = build_matrix(make({("A", "B"): 8, ("C", "D"): 1}))

    assert built
    assert (built.intents, built.more) == (["A", "B"], 2)


def test_without_confusions_there_is_none() -> None:
    assert build_matrix(make({("", "A"): 2})) is None
