"""The reserved context branch `dialogue`."""

from convengine.engine.turn.dialogue_state import DialogueState, update_dialogue
from tests.builders import make_session


def test_it_is_stored_and_read_back_and_defaults_need_no_branch() -> None:
    state = DialogueState(asked_field="name", misses=2, listed_options=("A",))
    session = state.store(make_session(context={"x": 1}))

    assert session.context == {"x": 1, "dialogue": {"asked_field": "name", "misses": 2, "listed_options": ["A"]}}
    assert DialogueState.of(session) == state
    assert DialogueState().store(session).context == {"x": 1}


def test_a_change_that_changes_nothing_gives_the_same_session() -> None:
    session = make_session(context={"dialogue": {"asked_field": "name"}})

    assert update_dialogue(session, asked_field="name", misses=0) is session
    assert update_dialogue(session, misses=1).context == {"dialogue": {"asked_field": "name", "misses": 1}}
    assert update_dialogue(session, asked_field=None).context == {}


def test_a_damaged_branch_has_the_defaults() -> None:
    for branch in ("text", {"asked_field": 1, "misses": True, "listed_options": "A"}):
        assert DialogueState.of(make_session(context={"dialogue": branch})) == DialogueState()
