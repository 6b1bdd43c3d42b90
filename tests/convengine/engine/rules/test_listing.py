from convengine.engine.rules.listing import get_listing
from tests.builders import make_intent, make_rule, make_snapshot

PHASE = "PRE_RESPONSE_RESOLUTION"
SNAPSHOT = make_snapshot(
    make_intent("LOAN"),
    make_rule(rule_id=1, intent_code="LOAN", state_code="IDLE", rule_type="REGEX", match_pattern="a"),
    make_rule(rule_id=2, intent_code="LOAN", rule_type="JSON_PATH", match_pattern="$.a"),
    make_rule(rule_id=3, intent_code="LOAN", rule_type="REGEX", match_pattern="(", priority=1),
    make_rule(rule_id=4, match_pattern="b", priority=1),
    make_rule(rule_id=5, match_pattern="b", match_target="RESOLVED_INPUT", priority=2),
    make_rule(rule_id=6, intent_code="GONE"),
    make_rule(rule_id=7, enabled=False),
)


def test_the_list_is_that_of_the_snapshot() -> None:
    found = get_listing(SNAPSHOT, PHASE, "LOAN", "IDLE")

    assert tuple(found) == SNAPSHOT.rules(PHASE, "LOAN", "IDLE")
    assert [rule.rule_id for rule in found] == [1, 3, 2, 4, 5]
    assert len(found) == 5


def test_only_texts_that_hit_and_other_rules_are_visited_in_order() -> None:
    found = get_listing(SNAPSHOT, PHASE, "LOAN", "IDLE")

    assert [(place, rule.rule_id) for place, rule in found.list_visited("a")] == [(0, 1), (2, 2), (4, 5)]
    assert [(place, rule.rule_id) for place, rule in found.list_visited("b")] == [(2, 2), (3, 4), (4, 5)]
    assert [rule.rule_id for _, rule in found.list_visited(None)] == [2, 5]


def test_unusable_rows_are_known_by_place_and_reason() -> None:
    found = list(get_listing(SNAPSHOT, PHASE, "LOAN", "IDLE").invalid())

    assert [(place, rule.rule_id) for place, rule, _ in found] == [(1, 3)]
    assert found[0][2]


def test_the_texts_before_a_place_are_counted() -> None:
    found = get_listing(SNAPSHOT, PHASE, "LOAN", "IDLE")

    assert [found.texts_before(end) for end in range(6)] == [0, 1, 1, 1, 2, 2]


def test_a_bucket_is_prepared_once_for_all_states_that_share_it() -> None:
    one, other = (get_listing(SNAPSHOT, PHASE, "LOAN", state) for state in ("IDLE", "DONE"))

    assert one.buckets[1] is other.buckets[0]
    assert one.buckets[2] is other.buckets[1]
