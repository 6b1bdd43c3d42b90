"""Rules and stories are read as what follows each message and each form."""

from typing import Any

from config_admin.contrib.come_over.paths import Reply, read_replies

FORMS = {"hire_form": {}}


def read(kind: str, *steps: Any, condition: Any = ()) -> list[Reply]:
    return read_replies({kind: "x", "condition": condition, "steps": steps}, kind, FORMS)


def test_an_intent_has_the_actions_up_to_the_next_one() -> None:
    first, second = read(
        "story", {"intent": "greet"}, {"action": "utter_greet"}, {"action": "action_listen"}, {"intent": "hire"}
    )
    assert (first.intents, first.actions, first.is_first, first.follows) == (["greet"], ["utter_greet"], True, "")
    assert (second.intents, second.actions, second.is_first, second.follows) == (["hire"], [], False, "utter_greet")


def test_alternatives_have_the_same_reply() -> None:
    [reply] = read("rule", {"or": [{"intent": "hire"}, {"intent": "rent"}]}, {"action": "hire_form"})
    assert reply.intents == ["hire", "rent"]


def test_the_end_of_a_form_has_a_reply_of_its_own() -> None:
    begin, end = read(
        "story",
        *({"intent": "hire"}, {"action": "hire_form"}, {"active_loop": "hire_form"}),
        *({"active_loop": "null"}, {"action": "utter_booked"}),
    )
    assert (begin.actions, end.form, end.actions, end.loop) == (["hire_form"], "hire_form", ["utter_booked"], "")


def test_a_rule_within_a_form_says_so() -> None:
    steps = ({"intent": "stop"}, {"action": "action_deactivate_loop"}, {"active_loop": "null"}, {"action": "utter_bye"})
    [reply] = read("rule", *steps, condition=[{"active_loop": "hire_form"}])
    assert (reply.loop, reply.actions) == ("hire_form", ["action_deactivate_loop", "utter_bye"])


def test_slots_and_checkpoints_make_what_follows_conditional() -> None:
    whole, some = read(
        "story", {"intent": "hire"}, {"action": "utter_a"}, {"slot_was_set": [{"boat": "canoe"}]}, {"action": "utter_b"}
    )
    assert (whole.actions, whole.is_conditional) == (["utter_a"], False)
    assert (some.actions, some.is_conditional) == (["utter_a", "utter_b"], True)
    [begun] = read("story", {"checkpoint": "paid"}, {"intent": "hire"})
    assert begun.is_conditional
    [free] = read("rule", {"intent": "hire"}, {"slot_was_set": [{"boat": "null"}]}, {"action": "utter_a"})
    assert (free.actions, free.is_conditional) == (["utter_a"], False)


def test_a_value_behind_a_message_is_one_that_it_says() -> None:
    slots = [{"boat": "canoe"}]
    for step in ({"slot_was_set": slots}, {"or": [{"slot_was_set": slots}, {"slot_was_set": ["raft"]}]}):
        [reply] = read("story", {"intent": "hire"}, step, {"action": "utter_a"})
        assert (reply.actions, reply.needs_value, reply.is_conditional) == (["utter_a"], True, False)


def test_values_in_a_form_are_answers() -> None:
    values = {"slot_was_set": [{"requested_slot": "boat"}, {"boat": "canoe"}]}
    begin, end = read(
        "story",
        *({"intent": "hire"}, {"action": "hire_form"}, {"active_loop": "hire_form"}, values),
        *({"active_loop": "null"}, {"action": "utter_booked"}),
    )
    assert (begin.actions, end.actions) == (["hire_form"], ["utter_booked"])
    condition = [{"active_loop": "hire_form"}, {"slot_was_set": [{"boat": "true"}]}]
    [end] = read("rule", {"action": "hire_form"}, {"active_loop": "null"}, {"action": "utter_a"}, condition=condition)
    assert (end.form, end.actions, end.is_conditional) == ("hire_form", ["utter_a"], False)


def test_a_form_that_code_leaves_has_no_end() -> None:
    steps = ({"intent": "drop"}, {"action": "action_reset"}, {"active_loop": "null"}, {"action": "utter_bye"})
    [reply] = read("rule", *steps, condition=[{"active_loop": "hire_form"}])
    assert reply.actions == ["action_reset", "utter_bye"]


def test_what_the_bot_says_counts_in_any_shape() -> None:
    [reply] = read("rule", {"intent": "chat"}, {"action": "action_default_fallback"})
    assert reply.actions == ["utter_default"]
    [reply] = read("story", {"user": "lovely day"}, {"bot": "It is."})
    assert reply.actions == ["“It is.”"]


def test_only_what_comes_first_begins_a_path() -> None:
    for first, is_first in (("action_session_start", True), ("utter_offer", False)):
        [reply] = read("rule", {"action": first}, {"intent": "hire"})
        assert reply.is_first is is_first
