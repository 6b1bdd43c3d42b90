"""Coverage counts what a configuration has, and what turns reach."""

from convengine.engine.turn.scope import ANY
from convengine.play.coverage import Coverage, format_coverage, render_coverage, serialize_coverage
from tests.builders import make_classifier, make_edge, make_intent, make_response, make_rule, make_snapshot

SNAPSHOT = make_snapshot(
    make_intent("PAY"),
    make_intent("OLD", enabled=False),
    make_classifier("PAY", "pay <b>", classifier_id=1, state_code="COLLECT"),
    make_classifier("OLD", "old", classifier_id=2),
    make_rule(rule_id=1, intent_code="PAY", state_code="COLLECT", action_value="DONE"),
    make_rule(rule_id=2, intent_code="PAY", state_code=ANY, action_value="GONE"),
    make_rule(rule_id=3, intent_code="PAY", enabled=False),
    make_response("Paid.", response_id=1, intent_code="PAY", state_code="DONE"),
    make_edge("DONE", "COLLECT", intent_code="PAY", edge_id=1),
)


def measure(*turns: tuple[list[tuple[str, str]], list[tuple[str, str]]]) -> Coverage:
    coverage = Coverage()
    coverage.add_configuration(SNAPSHOT)
    for rows, positions in turns:
        coverage.add_turn("a", rows, positions)
    return coverage


def count_reached(coverage: Coverage, kind: str) -> tuple[int, int]:
    items = dict(coverage.list_kinds())[kind]
    return sum(bool(item.scenarios) for item in items), len(items)


def test_rows_in_force_states_and_moves_count() -> None:
    coverage = measure()

    assert {kind: count_reached(coverage, kind) for kind, _ in coverage.list_kinds()} == {
        "Phrases": (0, 1), "Rules": (0, 2), "Answers": (0, 1), "States": (0, 3), "Moves": (0, 3),
    }  # fmt: skip
    assert coverage.percent == 0


def test_rows_that_decide_states_and_moves_of_a_turn_are_reached() -> None:
    coverage = measure(
        (
            [("ce_intent_classifier", "1"), ("ce_rule", "1"), ("ce_response", "1")],
            [("", ""), ("PAY", "COLLECT"), ("PAY", "DONE")],
        )
    )

    assert count_reached(coverage, "Phrases") == (1, 1)
    assert count_reached(coverage, "Rules") == (1, 2)
    assert count_reached(coverage, "States") == (2, 3)
    assert count_reached(coverage, "Moves") == (1, 3)
    assert coverage.percent == 60


def test_a_rule_of_any_state_makes_its_move_from_each() -> None:
    coverage = measure(([], [("PAY", "DONE"), ("PAY", "GONE")]))

    assert count_reached(coverage, "Moves") == (1, 3)
    assert any(line.strip() == "not reached: PAY from COLLECT to DONE" for line in format_coverage(coverage))
    assert not any("from any state to GONE" in line for line in format_coverage(coverage))


def test_a_phrase_that_switches_the_intent_makes_no_move() -> None:
    coverage = measure(([], [("OTHER", "COLLECT"), ("PAY", "DONE")]), ([], [("OTHER", "X"), ("PAY", "GONE")]))

    assert count_reached(coverage, "States") == (2, 3)
    assert count_reached(coverage, "Moves") == (0, 3)


def test_the_reports_name_each_item_and_its_scenarios() -> None:
    coverage = measure(([("ce_rule", "1")], []), ([("ce_rule", "1")], []))
    document, page = serialize_coverage(coverage), render_coverage(coverage)

    assert document["percent"] == 10.0
    kinds = {kind["kind"]: kind for kind in document["kinds"]}  # type: ignore[attr-defined]
    assert [item["scenarios"] for item in kinds["Rules"]["items"]] == [["a"], []]
    assert "<h1>Coverage: 10.0 %</h1>" in page
    assert "pay &lt;b&gt;" in page


def test_without_a_configuration_nothing_is_covered() -> None:
    assert Coverage().percent == 0
