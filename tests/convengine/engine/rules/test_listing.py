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
    listing = get_listing(SNAPSHOT, PHASE, "LOAN", "IDLE")

    assert tuple(listing) == SNAPSHOT.rules(PHASE, "LOAN", "IDLE")
    assert [rule.rule_id for rule in listing] == [1, 3, 2, 4, 5]
    assert len(listing) == 5


def test_only_texts_that_hit_and_other_rules_are_visited_in_order() -> None:
    listing = get_listing(SNAPSHOT, PHASE, "LOAN", "IDLE")

    assert [(index, rule.rule_id) for index, rule in listing.list_visited("a")] == [(0, 1), (2, 2), (4, 5)]
    assert [(index, rule.rule_id) for index, rule in listing.list_visited("b")] == [(2, 2), (3, 4), (4, 5)]
    assert [rule.rule_id for _, rule in listing.list_visited(None)] == [2, 5]


def test_unusable_rows_are_known_by_place_and_reason() -> None:
    invalid = list(get_listing(SNAPSHOT, PHASE, "LOAN", "IDLE").invalid())

    assert [(index, rule.rule_id) for index, rule, _ in invalid] == [(1, 3)]
    assert invalid[0][2]


def test_the_texts_before_a_place_are_counted() -> None:
    listing = get_listing(SNAPSHOT, PHASE, "LOAN", "IDLE")

    assert [listing.texts_before(end) for end in range(6)] == [0, 1, 1, 1, 2, 2]


def test_a_bucket_is_prepared_once_for_all_states_that_share_it() -> None:
    first, other = (get_listing(SNAPSHOT, PHASE, "LOAN", state) for state in ("IDLE", "DONE"))

    assert first.buckets[1] is other.buckets[0]
    assert first.buckets[2] is other.buckets[1]
