"""Sessions 2: every move of a session that there is, with its event, and every one that there is not."""

from collections.abc import Sequence
from typing import Any

import pytest

from convengine.engine.pipeline.engine import Engine
from convengine.engine.pipeline.step import Continue, Step
from convengine.engine.threads.lifecycle import move_lifecycle
from convengine.engine.turn.enums import Lifecycle
from convengine.engine.turn.session import Session
from convengine.engine.turn.turn import Turn
from convengine.server import wiring
from convengine.server.sessions.models import CeConversation, CeConversationHistory
from tests.convengine.server.threads.rows.stories import CLOSE, INTERRUPTION, Story
from tests.convengine.server.turns.test_take_turn import hold_lease

#: The table of moves as the page has it.
ALLOWED = {
    "RUNNING": ("AWAITING_USER", "INTERRUPTED", "PENDING_COMPLETE", "COMPLETE", "ABORTED"),
    "AWAITING_USER": ("RUNNING", "COMPLETE", "ABORTED"),
    "INTERRUPTED": ("RUNNING", "ABORTED"),
    "PENDING_COMPLETE": ("RUNNING", "COMPLETE", "ABORTED"),
    "COMPLETE": (),
    "ABORTED": (),
}
#: From, to: how it comes about, and the reason and the turn of its event.
MOVES: dict[tuple[str, str], tuple[Sequence[str], str, int]] = {
    ("RUNNING", "AWAITING_USER"): (("a visa",), "question", 1),
    ("RUNNING", "INTERRUPTED"): (("hours", INTERRUPTION), "interrupted", 2),
    ("RUNNING", "PENDING_COMPLETE"): (("a trip",), "mode_review", 1),
    ("RUNNING", "COMPLETE"): (("hours", CLOSE), "closed", 1),
    ("RUNNING", "ABORTED"): (("hours", "never mind"), "abandoned", 2),
    ("AWAITING_USER", "RUNNING"): (("a visa", "Japan"), "response", 2),
    ("AWAITING_USER", "COMPLETE"): (("a visa", CLOSE), "closed", 1),
    ("AWAITING_USER", "ABORTED"): (("a visa", "never mind"), "abandoned", 2),
    ("INTERRUPTED", "RUNNING"): (("hours", INTERRUPTION, "and on sunday?"), "continuation", 3),
    ("INTERRUPTED", "ABORTED"): (("hours", INTERRUPTION, "start over"), "explicit_reset", 2),
    ("PENDING_COMPLETE", "RUNNING"): (("a trip", "edit"), "modification", 2),
    ("PENDING_COMPLETE", "COMPLETE"): (("a trip", "looks good"), "confirmed", 2),
    ("PENDING_COMPLETE", "ABORTED"): (("a trip", "never mind"), "abandoned", 2),
}


def test_every_move_of_the_table_has_its_story() -> None:
    assert set(MOVES) == {(start, end) for start, ends in ALLOWED.items() for end in ends}


@pytest.mark.parametrize(("start", "end"), MOVES, ids=[f"S2-{start}-to-{end}" for start, end in MOVES])
def test_a_move_of_the_table_is_made_and_told(story: Story, start: str, end: str) -> None:
    script, reason, turn_no = MOVES[start, end]
    story.play(*script)

    expected = {"from": start, "to": end, "reason": reason, "turn_no": turn_no}
    assert [event for event in story.events if (event["from"], event["to"]) == (start, end)] == [expected]


class Moves(Step):
    """A deployment's step that moves every session from one state to another."""

    writes = frozenset({"lifecycle", "lifecycle_detail"})
    start = end = ""
    requires_persisted = True

    def execute(self, session: Session, turn: Turn) -> Continue:
        """Raises SessionTransitionInvalid."""
        if session.lifecycle != self.start:
            return Continue(session)
        return Continue(move_lifecycle(session, turn, Lifecycle(self.end), "because"))


REFUSED = [
    (start.value, end.value) for start in Lifecycle for end in Lifecycle if end.value not in ALLOWED[start.value]
]
#: How a session comes to stand somewhere, for the open states; what ends it in the very turn, for the closed ones.
STANDS = {
    "RUNNING": ("hours",),
    "AWAITING_USER": ("a visa",),
    "INTERRUPTED": ("hours", INTERRUPTION),
    "PENDING_COMPLETE": ("a trip",),
    "COMPLETE": ("a trip",),
    "ABORTED": ("a trip",),
}
SAID = {"COMPLETE": "looks good", "ABORTED": "never mind"}


@pytest.mark.parametrize(("start", "end"), REFUSED, ids=[f"S2-{start}-not-to-{end}" for start, end in REFUSED])
def test_a_move_that_is_not_in_the_table_is_refused_and_changes_nothing(
    story: Story, monkeypatch: pytest.MonkeyPatch, start: str, end: str
) -> None:
    story.play(*STANDS[start])
    before, earlier = read_stable_columns(story), story.events
    step = Moves()
    step.start, step.end = start, end
    step_name = "PersistConversationStep" if start in SAID else "LoadOrCreateConversationStep"
    step_index = next(number for number, candidate in enumerate(wiring.steps(), 1) if candidate.name == step_name)
    steps = wiring.steps()
    monkeypatch.setattr(wiring, "engine", lambda: Engine([*steps[:step_index], step, *steps[step_index:]]))

    answer = story.play(SAID.get(start, "hours"))

    assert (answer["errorCode"], answer["turn"]["success"]) == ("SESSION_TRANSITION_INVALID", False)
    assert answer["session_id"] == story.session_id
    assert read_stable_columns(story) == before
    assert [event for event in story.events if event not in earlier and event["from"] == start] == []
    record = CeConversationHistory.objects.get(turn_no=story.row.last_turn_no)
    assert (record.status, record.error_code) == ("FAILED", "SESSION_TRANSITION_INVALID")


def read_stable_columns(story: Story) -> dict[str, Any]:
    """The row, but for what a turn that does not commit may change."""
    row = CeConversation.objects.filter(pk=story.session_id).values().get()
    return {name: value for name, value in row.items() if name not in ("last_turn_no", "last_message_at", "chain_head")}


@pytest.mark.parametrize(
    ("script", "lifecycle"),
    [
        pytest.param(("a trip", "looks good"), "COMPLETE", id="S2-COMPLETE-is-terminal"),
        pytest.param(("a trip", "never mind"), "ABORTED", id="S2-ABORTED-is-terminal"),
    ],
)
def test_the_next_message_of_a_closed_session_opens_one_that_points_back(
    story: Story, script: Sequence[str], lifecycle: str
) -> None:
    story.play(*script)

    answer = story.play("hours")

    assert (answer["reason"], answer["session"]["previous_session_id"]) == ("session_closed", story.session_id)
    assert story.row.lifecycle == lifecycle


def test_S2_a_close_of_an_interrupted_session_goes_by_RUNNING(story: Story) -> None:
    story.play("hours", INTERRUPTION, CLOSE)

    assert [(event["from"], event["to"]) for event in story.events][-2:] == [
        ("INTERRUPTED", "RUNNING"),
        ("RUNNING", "COMPLETE"),
    ]


def test_S2_a_process_that_dies_during_a_turn_leaves_the_last_committed_state(story: Story) -> None:
    story.play("a visa")
    hold_lease(story.session_id, -1)

    answer = story.play("Japan")

    assert (answer["message_intent"], answer["turn"]["turnNo"]) == ("RESPONSE", 3)
    dead = story.row.turns.get(turn_no=2)
    assert (dead.status, dead.error_code, dead.user_input) == ("FAILED", "LEASE_EXPIRED", "lost words")
    assert [(event["from"], event["to"], event["turn_no"]) for event in story.events] == [
        ("RUNNING", "AWAITING_USER", 1),
        ("AWAITING_USER", "RUNNING", 3),
        ("RUNNING", "AWAITING_USER", 3),
    ]
