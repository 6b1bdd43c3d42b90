"""Save checks of the state graph."""

from dataclasses import replace

from tests.config_admin.validation.shop import EDGES, RULE, codes, list_messages

EDGE = EDGES[1]


def test_a_state_may_always_stay_as_it_is() -> None:
    assert list_messages(replace(EDGE, to_state="collect")) == [
        ("EDGE_SELF", "A conversation may always stay in its state, so this edge is not needed.")
    ]


def test_an_edge_stands_once_even_when_switched_off() -> None:
    again = replace(EDGE, edge_id=9)
    assert list_messages(again) == [("DUPLICATE", "This edge exists already (row 2).")]
    assert codes(again, replace(EDGE, enabled=False)) == ["DUPLICATE"]
    assert codes(replace(again, intent_code="ANY")) == []


def test_both_ends_are_codes() -> None:
    assert codes(replace(EDGE, from_state="", to_state="1")) == ["SCOPE_BLANK", "CODE_FORMAT"]


def test_states_that_nothing_names_are_questioned() -> None:
    assert codes(replace(EDGE, edge_id=9, to_state="CONFIRMD")) == ["STATE_UNKNOWN"]


def test_a_state_that_no_edge_leads_to_is_told() -> None:
    assert list_messages(replace(EDGES[2], edge_id=9, from_state="LOOKUP", to_state="CANCELLED")) == [
        ("STATE_UNREACHABLE", "No edge of this graph leads to LOOKUP.")
    ]


def test_where_a_conversation_starts_needs_no_edge() -> None:
    assert "STATE_UNREACHABLE" not in codes(EDGES[0]) + codes(replace(EDGE, edge_id=9, from_state="ANY"))


def test_a_rule_that_the_graph_does_not_allow_is_told() -> None:
    assert list_messages(replace(EDGE, to_state="CANCELLED")) == [
        ("RULE_OUTSIDE_GRAPH", "Rule 1 moves from COLLECT to CONFIRM, which this graph does not allow.")
    ]


def test_rules_of_another_intent_and_other_actions_are_not_asked() -> None:
    elsewhere = replace(RULE, intent_code="FAQ")
    assert codes(replace(EDGE, to_state="CANCELLED"), elsewhere) == []
    assert codes(replace(EDGE, to_state="CANCELLED"), replace(RULE, action="SET_CONTEXT")) == []


def test_an_edge_to_any_allows_every_target() -> None:
    assert codes(replace(EDGE, to_state="ANY")) == []
