"""All states of all intents in one drawing."""

from config_admin.workplace.map.graph import Kind, Mark
from config_admin.workplace.map.overview import chart_of_states
from convengine.engine.turn.snapshot import Snapshot
from tests.builders import make_classifier, make_intent, make_response, make_rule, make_snapshot


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
    found, rest = chart_of_states(world())
    states = [(place.intent, place.state) for place in found.places if place.kind is Kind.STATE]

    assert states == [("LOAN", "COLLECT"), ("LOAN", "DONE"), ("REFUND", "COLLECT"), ("REFUND", "DONE")]
    assert len({place.key for place in found.places}) == len(found.places)
    assert rest == ""


def test_arrows_lead_from_phrases_through_states_to_other_intents() -> None:
    found, _ = chart_of_states(world())

    assert [(move.start, move.end) for move in found.moves] == [
        ("intent:LOAN", "LOAN/state:COLLECT"),
        ("LOAN/state:COLLECT", "LOAN/state:DONE"),
        ("LOAN/state:DONE", "intent:REFUND"),
        ("REFUND/state:COLLECT", "REFUND/state:DONE"),
    ]
    assert {move.start for move in found.moves} | {move.end for move in found.moves} <= {
        place.key for place in found.places
    }


def test_an_intent_that_nothing_leads_to_is_marked() -> None:
    found, _ = chart_of_states(world())
    marked = [place.intent for place in found.places if place.kind is Kind.INTENT and Mark.UNREACHABLE in place.marks]

    assert marked == ["LONELY"]


def test_a_drawing_ends_with_a_whole_intent_and_says_where_the_next_begins() -> None:
    first, rest = chart_of_states(world(), most=2)
    assert rest == "LONELY"
    assert {place.intent for place in first.places} == {"LOAN", "REFUND"}
    second, rest = chart_of_states(world(), rest)
    assert rest == ""
    assert {place.intent for place in second.places} == {"LONELY", "REFUND"}


def test_rules_of_every_intent_have_a_group_where_they_move_something() -> None:
    rule = make_rule(rule_id=9, intent_code="ANY", state_code="ANY", action="SET_STATE", action_value="HELP")
    found, _ = chart_of_states(world(rule))

    assert ("ANY/anywhere", "ANY/state:HELP") in {(move.start, move.end) for move in found.moves}
