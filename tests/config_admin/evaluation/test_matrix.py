"""The matrix of confusions."""

from typing import Any

from config_admin.evaluation import page


def build(confusions: dict[tuple[str, str], int]) -> Any:
    intents = sorted({intent for pair in confusions for intent in pair if intent} | {"FINE"})
    document = {
        "confusions": [{"intent": a, "decision": b, "count": count} for (a, b), count in confusions.items()],
        "intents": [{"intent": intent, "right": 5} for intent in intents],
    }
    return page.build_matrix(document, str)


def test_only_confused_intents_are_in_it_beside_those_that_they_are_confused_with() -> None:
    built = build({("A", "C"): 8, ("B", "D"): 3, ("C", "A"): 1, ("D", "E"): 1, ("", "A"): 9})
    assert built["columns"] == ["A", "C", "D", "B", "E"]
    assert [row["name"] for row in built["rows"]] == built["columns"]


def test_a_cell_has_how_often_and_how_much_that_is() -> None:
    built = build({("A", "B"): 8, ("B", "A"): 1})
    first, second = (row["cells"] for row in built["rows"])
    assert [(cell["count"], cell["weight"], cell["is_right"]) for cell in first] == [(5, 0, True), (8, 4, False)]
    assert [(cell["count"], cell["weight"], cell["is_right"]) for cell in second] == [(1, 1, False), (5, 0, True)]


def test_the_most_confused_intents_are_shown_and_the_others_counted(monkeypatch: Any) -> None:
    monkeypatch.setattr(page, "MOST_IN_MATRIX", 2)
    built = build({("A", "B"): 8, ("C", "D"): 1})

    assert (built["columns"], built["more"]) == (["A", "B"], 2)


def test_without_confusions_there_is_none() -> None:
    assert build({("", "A"): 2}) is None
