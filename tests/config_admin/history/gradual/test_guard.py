"""The guard stops a gradual release whose rate is worse than that of the others."""

import uuid
from typing import Any

import pytest

from config_admin import models as m
from config_admin.drafts.open_draft import open_draft
from config_admin.drafts.publish_draft import publish_draft
from config_admin.history.gradual.guard import count_sides, find_guard_reason, run_guard
from config_admin.releases.audience import (
    AudienceSpec,
    Guard,
    find_gradual_release,
    give_to_all,
    start_gradual_release,
)
from config_admin.releases.change_set import change_set
from config_admin.releases.undo import stop_gradual_release
from convengine.engine.turn.turn import TurnRequest
from convengine.server.turns.take_turn import take_turn
from tests.worlds import create_help_desk

pytestmark = [pytest.mark.django_db, pytest.mark.dialects]


def say(conversation_id: str, text: str = "hours") -> Any:
    return take_turn(TurnRequest(conversation_id, text))


@pytest.fixture
def people() -> tuple[list[str], list[str]]:
    """Three who get a release that breaks the answer to "hours", and three others."""
    create_help_desk()
    staff, others = ([str(uuid.uuid4()) for _ in range(3)] for _ in range(2))
    draft = m.CeDraft.objects.create(title="Broken")
    with open_draft(draft.pk, None, writing=True), change_set():
        m.CeIntentClassifier.objects.filter(intent_code="HOURS").update(state_code="NOWHERE")
    guard = Guard("ERRORS", bound=10, turns=3)
    publish_draft(draft.pk, "ada", audience=AudienceSpec(participants=staff, guard=guard))
    return staff, others


def test_the_sides_are_counted_beside_each_other(people: tuple[list[str], list[str]]) -> None:
    staff, others = people
    for conversation_id in staff[:2] + others:
        say(conversation_id)
    say(staff[0], "unheard of")
    sides = count_sides(m.CeGradualRelease.objects.get())
    assert (sides.newer.turns, sides.newer.conversations, sides.newer.failed) == (3, 2, 2)
    assert (sides.older.turns, sides.older.conversations, sides.older.failed) == (3, 3, 0)


def test_turns_after_the_end_do_not_count(people: tuple[list[str], list[str]]) -> None:
    staff, others = people
    for conversation_id in staff + others:
        say(conversation_id)
    row = stop_gradual_release("ada")
    for conversation_id in staff + others:
        say(conversation_id)
    sides = count_sides(row)
    assert (sides.newer.turns, sides.newer.failed, sides.older.turns) == (3, 3, 3)


def test_the_guard_stops_only_the_release_that_it_judged(
    people: tuple[list[str], list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    staff, others = people
    for conversation_id in staff + others:
        say(conversation_id)
    judged = m.CeGradualRelease.objects.get()
    sides = count_sides(judged)
    give_to_all("ada")
    with change_set():
        m.CeResponse.objects.filter(intent_code="FEES").update(exact_text="Ten.")
    start_gradual_release(m.CeRelease.objects.latest("config_version"), AudienceSpec(share=1), "ada")
    monkeypatch.setattr("config_admin.history.gradual.guard.find_gradual_release", lambda: judged)
    monkeypatch.setattr("config_admin.history.gradual.guard.count_sides", lambda row: sides)
    assert not list(run_guard())
    assert find_gradual_release() is not None


def test_it_waits_for_enough_turns_and_stops(people: tuple[list[str], list[str]]) -> None:
    staff, others = people
    for conversation_id in staff + others[:2]:
        say(conversation_id)
    assert not list(run_guard())
    say(others[2])
    assert list(run_guard()) == [{"stopped": 1}]
    row = m.CeGradualRelease.objects.get()
    assert (row.status, row.ended_by) == ("STOPPED", "guard")
    assert row.ended_reason.startswith("Errors: 100.0\xa0% of 3 turns, against 0.0\xa0% of 3 turns")
    assert say(staff[0]).payload.value == "Nine to five."
    assert not list(run_guard())


def test_within_the_bound_it_goes_on(people: tuple[list[str], list[str]]) -> None:
    staff, others = people
    for conversation_id in staff + others:
        say(conversation_id)
    row = m.CeGradualRelease.objects.get()
    row.guard_bound = 100
    assert not find_guard_reason(row, count_sides(row))
    row.guard_metric = "HANDED_OVER"
    assert not find_guard_reason(row, count_sides(row))
