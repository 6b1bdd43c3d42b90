from tests.builders import make_intent, make_rule, make_snapshot


def test_a_row_is_found_by_the_names_of_a_record() -> None:
    rule = make_rule()
    snapshot = make_snapshot(make_intent("42"), rule)

    assert snapshot.find_row("ce_rule", str(rule.pk)) is rule
    assert getattr(snapshot.find_row("ce_intent", "42"), "intent_code", None) == "42"
    assert snapshot.find_row("ce_rule", "no key") is None
    assert snapshot.find_row("ce_no_table", "1") is None
