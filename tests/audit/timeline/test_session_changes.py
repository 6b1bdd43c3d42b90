"""What each step of a turn changed."""

import uuid
from types import SimpleNamespace

from django.utils import timezone

from audit.record.events import expand_events, list_events
from audit.timeline.session_changes import find_changes, group_by_step, unsaved_changes
from convengine.engine.text.difference import ABSENT, Difference
from convengine.json_value import Json


def list_differences(*steps: tuple[str, Json]) -> tuple[list[list[Difference]], list[Difference]]:
    """By step, and in the end, what events with these changes make of a context with one value."""
    turn = SimpleNamespace(
        conversation_id=uuid.uuid4(), turn_id=uuid.uuid4(), turn_no=1, config_version=1, created_at=timezone.now()
    )
    loaded = {"seq": 1, "stage": "CONVERSATION_LOADED", "session": {"context": {"known": {"x": 1}}}}
    entries = [
        {"seq": seq, "stage": "A", "step": step, "changed": change} for seq, (step, change) in enumerate(steps, 2)
    ]
    events = list(expand_events(list_events(turn, [loaded, *entries])))
    return [list(step.telling) for step in group_by_step(find_changes(events))], list(unsaved_changes(events).telling)


def test_a_part_of_a_value_that_is_new_in_a_step_is_in_its_change() -> None:
    by_step, whole = list_differences(
        ("FormsStep", {"set": {"/context/a": {"x": 1}}}), ("FormsStep", {"set": {"/context/a/x": 2}})
    )
    assert by_step == [[Difference(("context", "a"), ABSENT, {"x": 2})]]
    assert whole == by_step[0]


def test_a_value_that_is_replaced_after_a_part_of_it_changed_is_one_change() -> None:
    by_step, whole = list_differences(
        ("FormsStep", {"set": {"/context/known/x": 2}}), ("RulesStep", {"set": {"/context/known": "none"}})
    )
    assert by_step == [
        [Difference(("context", "known", "x"), 1, 2)],
        [Difference(("context", "known"), {"x": 2}, "none")],
    ]
    assert whole == [Difference(("context", "known"), {"x": 1}, "none")]


def test_a_value_that_changed_back_is_no_change() -> None:
    _, whole = list_differences(
        ("FormsStep", {"set": {"/context/known/x": 2}}), ("RulesStep", {"set": {"/context/known/x": 1}})
    )
    assert whole == []
