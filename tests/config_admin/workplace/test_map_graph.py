from typing import Any

from config_admin.workplace.map_graph import (
    ANYWHERE,
    START,
    MapEdge,
    MapMark,
    NodeKind,
    StateMap,
    make_intent_chart,
    make_overview_chart,
    make_state_chart,
)
from convengine.engine.turn.rows import Row, Rule
from convengine.engine.turn.snapshot import Snapshot
from tests.builders import make_classifier, make_edge, make_intent, make_response, make_rule, make_snapshot

REFUND = make_intent("REFUND")


def goes(start: str, end: str, **values: Any) -> Rule:
    return make_rule(
        **{"intent_code": "REFUND", "state_code": start, "action": "SET_STATE", "action_value": end, **values}
    )


def answers(*states: str) -> list[Row]:
    return [make_response(intent_code="REFUND", state_code=state) for state in states]


def draw(*all_rows: Row) -> StateMap:
    return make_intent_chart(make_snapshot(REFUND, *all_rows), "REFUND")


def arrow(chart: StateMap, start: str, end: str) -> MapEdge:
    (only_move,) = [move for move in chart.moves if (move.start, move.end) == (start, end)]
    return only_move


def marks_by_state(chart: StateMap) -> dict[str, tuple[MapMark, ...]]:
    return {node.state: node.marks for node in chart.nodes if node.kind is NodeKind.STATE}


def test_phrases_and_rules_are_arrows_and_what_holds_in_a_state_stands_in_its_box() -> None:
    phrase = make_classifier("REFUND", "money back", state_code="COLLECT")
    rule, other = goes("COLLECT", "CONFIRM"), goes("COLLECT", "CONFIRM", priority=5)
    chart = draw(phrase, rule, other, *answers("COLLECT", "CONFIRM"))

    assert arrow(chart, START, "state:COLLECT").rows == [phrase]
    assert set(arrow(chart, "state:COLLECT", "state:CONFIRM").rows) == {rule, other}
    assert [node.state for node in chart.nodes] == ["", "COLLECT", "CONFIRM"]
    assert [len(node.rows) for node in chart.nodes] == [0, 1, 1]
    assert marks_by_state(chart) == {"COLLECT": (), "CONFIRM": (MapMark.ENDS,)}


def test_states_that_only_rules_of_every_intent_lead_to_are_in_the_order_of_their_names() -> None:
    states = ["A", "G", "B", "F", "C", "E", "D"]
    chart = draw(
        make_classifier("REFUND", "x", state_code="M"),
        *(goes("M", state, intent_code="ANY") for state in states),
    )

    assert [node.state for node in chart.nodes if node.kind is NodeKind.STATE] == [*sorted(states), "M"]


def test_a_rule_of_any_state_goes_from_where_its_condition_says_else_from_anywhere() -> None:
    conditioned = goes("ANY", "DONE", rule_type="JSON_PATH", match_pattern="$[?(@.state == 'CONFIRM')]")
    chart = draw(conditioned, goes("ANY", "LOST"), make_classifier("REFUND", "x", state_code="CONFIRM"))

    assert arrow(chart, "state:CONFIRM", "state:DONE").rows == [conditioned]
    assert arrow(chart, ANYWHERE, "state:LOST").rows


def test_rules_of_every_intent_count_in_states_of_this_one_and_say_so() -> None:
    shared = goes("CONFIRM", "DONE", intent_code="ANY")
    chart = draw(
        make_classifier("REFUND", "x", state_code="CONFIRM"), shared, goes("ELSEWHERE", "DONE", intent_code="ANY")
    )

    assert arrow(chart, "state:CONFIRM", "state:DONE").is_shared
    assert "ELSEWHERE" not in marks_by_state(chart)
    assert not arrow(chart, START, "state:CONFIRM").is_shared


def test_what_nothing_leads_to_and_what_has_no_answer_is_marked() -> None:
    chart = draw(
        make_classifier("REFUND", "x", state_code="COLLECT"), *answers("COLLECT", "LOST"), goes("COLLECT", "MUTE")
    )

    assert marks_by_state(chart) == {
        "COLLECT": (),
        "LOST": (MapMark.UNREACHABLE, MapMark.ENDS),
        "MUTE": (MapMark.NO_ANSWER, MapMark.ENDS),
    }


def test_a_state_where_no_conversation_rests_needs_no_answer() -> None:
    """As the health check has it, which plays what it says."""
    idle = make_classifier("REFUND", "x", state_code="IDLE"), *answers("COLLECT")
    named = goes("GHOST", "COLLECT")

    assert MapMark.NO_ANSWER not in {mark for marks in marks_by_state(draw(*idle, named)).values() for mark in marks}


def test_moves_that_go_round_and_moves_that_the_graph_forbids_are_marked() -> None:
    chart = draw(goes("A", "B"), goes("B", "A"), goes("B", "C"), make_edge("A", "B", intent_code="REFUND"))

    assert arrow(chart, "state:A", "state:B").marks == (MapMark.ROUND,)
    assert arrow(chart, "state:B", "state:A").marks == (MapMark.ROUND, MapMark.FORBIDDEN)
    assert arrow(chart, "state:B", "state:C").marks == (MapMark.FORBIDDEN,)


def test_another_intent_is_a_place_of_its_own() -> None:
    turn = goes("COLLECT", "", action="SET_INTENT", action_value="NEVER_MIND")
    chart = draw(turn)

    assert arrow(chart, "state:COLLECT", "intent:NEVER_MIND").rows == [turn]
    assert [node.intent for node in chart.nodes if node.kind is NodeKind.INTENT] == ["NEVER_MIND"]


def test_switched_off_rows_lead_nowhere() -> None:
    assert draw(goes("A", "B", enabled=False)).moves == ()


def test_the_map_of_all_has_a_place_for_each_intent() -> None:
    turn = make_rule(intent_code="REFUND", action="SET_INTENT", action_value="COMPLAINT")
    chart = make_overview_chart(
        make_snapshot(REFUND, make_intent("COMPLAINT"), make_intent("LOST"), make_classifier("REFUND", "x"), turn)
    )

    assert arrow(chart, "intent:REFUND", "intent:COMPLAINT").rows == [turn]
    marks_by_intent = {node.intent: node.marks for node in chart.nodes if node.kind is NodeKind.INTENT}
    assert marks_by_intent == {"REFUND": (), "COMPLAINT": (), "LOST": (MapMark.UNREACHABLE,)}


def world(*more: object) -> Snapshot:
    return make_snapshot(
        make_intent("LOAN"),
        make_intent("REFUND"),
        make_intent("LONELY"),
        make_classifier("LOAN", "loan", state_code="COLLECT"),
        make_rule(rule_id=1, intent_code="LOAN", state_code="COLLECT", action="SET_STATE", action_value="DONE"),
        make_rule(rule_id=2, intent_code="LOAN", state_code="DONE", action="SET_INTENT", action_value="REFUND"),
        make_rule(rule_id=3, intent_code="REFUND", state_code="COLLECT", action="SET_STATE", action_value="DONE"),
        make_response(response_id=1, intent_code="ANY", state_code="ANY"),
        *more,  # type: ignore[arg-type]
    )


def test_states_of_two_intents_are_two_places_in_two_groups() -> None:
    chart, rest = make_state_chart(world())
    states = [(node.intent, node.state) for node in chart.nodes if node.kind is NodeKind.STATE]

    assert states == [("LOAN", "COLLECT"), ("LOAN", "DONE"), ("REFUND", "COLLECT"), ("REFUND", "DONE")]
    assert len({node.key for node in chart.nodes}) == len(chart.nodes)
    assert rest == ""


def test_arrows_lead_from_phrases_through_states_to_other_intents() -> None:
    chart, _ = make_state_chart(world())

    assert [(move.start, move.end) for move in chart.moves] == [
        ("intent:LOAN", "LOAN/state:COLLECT"),
        ("LOAN/state:COLLECT", "LOAN/state:DONE"),
        ("LOAN/state:DONE", "intent:REFUND"),
        ("REFUND/state:COLLECT", "REFUND/state:DONE"),
    ]
    assert {move.start for move in chart.moves} | {move.end for move in chart.moves} <= {
        node.key for node in chart.nodes
    }


def test_an_intent_that_nothing_leads_to_is_marked() -> None:
    chart, _ = make_state_chart(world())
    marked = [node.intent for node in chart.nodes if node.kind is NodeKind.INTENT and MapMark.UNREACHABLE in node.marks]

    assert marked == ["LONELY"]


def test_a_drawing_ends_with_a_whole_intent_and_says_where_the_next_begins() -> None:
    first, rest = make_state_chart(world(), most=2)
    assert rest == "LONELY"
    assert {node.intent for node in first.nodes} == {"LOAN", "REFUND"}
    second, rest = make_state_chart(world(), rest)
    assert rest == ""
    assert {node.intent for node in second.nodes} == {"LONELY", "REFUND"}


def test_rules_of_every_intent_have_a_group_where_they_move_something() -> None:
    rule = make_rule(rule_id=9, intent_code="ANY", state_code="ANY", action="SET_STATE", action_value="HELP")
    chart, _ = make_state_chart(world(rule))

    assert ("ANY/anywhere", "ANY/state:HELP") in {(move.start, move.end) for move in chart.moves}
