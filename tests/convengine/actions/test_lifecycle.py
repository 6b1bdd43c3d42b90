"""Whatever is said, however turns end: an action runs when it was confirmed in time, and once (R81)."""

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from convengine.domain.ports import TaskAnswer
from tests.builders import make_action, make_intent, stages
from tests.convengine.actions.talk import Talk
from tests.fakes.ports import RecordingTasks

ROWS = (
    make_intent("ORDER"),
    make_action("PAY", intent_code="ORDER", state_code="CONFIRM", priority=10),
    make_action("SHIP", intent_code="ORDER", state_code="CONFIRM", priority=20),
)
WELL, BADLY = TaskAnswer(1, context={"paid": True}), TaskAnswer(error_type="ValueError")

MOVES = st.lists(
    st.fixed_dictionaries(
        {
            "text": st.sampled_from(["yes", "yes", "no", "hello", "what?", "change it"]),
            "lost": st.sampled_from([False, False, True]),
            "answer": st.sampled_from([WELL, WELL, BADLY]),
            "minutes": st.sampled_from([0, 0, 1, 40]),
            "state": st.sampled_from([None, None, None, "CONFIRM", "DONE"]),
            "key": st.sampled_from([None, None, None, "PAY", "SHIP"]),
        }
    ),
    max_size=14,
)


@settings(max_examples=300)
@given(MOVES)
def test_an_action_runs_once_for_each_opening_and_only_when_it_was_confirmed(moves: list[dict[str, Any]]) -> None:
    talk = Talk(ROWS)
    done: set[tuple[str, str]] = set()
    for move in moves:
        if move["state"] and move["state"] != talk.state:
            talk.state, done = move["state"], set()
        talk.minutes += move["minutes"]
        talk.tasks = RecordingTasks({"billing:refund": move["answer"]})
        before = dict(talk.book.claims)
        params = {"pending_action_key": move["key"]} if move["key"] else {}
        session, turn = talk.say(move["text"], lost=move["lost"], **params)

        ran = len(talk.tasks.calls)
        assert ran == len(talk.book.claims) - len(before) <= 1
        if ran:
            assert move["text"] == "yes"
            assert "EXPIRED" not in str(session.input_params.get("pending_action_result"))
            assert talk.state == "CONFIRM"
        # Naming an action again, in so many words, opens it again.
        done = {one for one in done if one[0] != move["key"]}
        found = session.context.get("pending_action_runtime") or {}
        identity = (str(found.get("action_key")), str(found.get("action_ref")))
        assert not ran or identity not in done
        told = [stage for stage in stages(turn) if stage.startswith("PENDING_ACTION_") and "LIFECYCLE" not in stage]
        assert len(told) <= 1
        if not move["lost"] and "PENDING_ACTION_EXECUTED" in told:
            assert found["status"] == "EXECUTED"
            assert session.context["paid"] is True
            done.add(identity)


@settings(max_examples=100)
@given(st.integers(1, 6), st.sampled_from([WELL, BADLY]))
def test_however_often_its_turn_is_lost_it_runs_once_and_ends_as_it_did(losses: int, answer: TaskAnswer) -> None:
    talk = Talk(ROWS, tasks=RecordingTasks({"billing:refund": answer}))
    for _ in range(losses):
        talk.say("yes", lost=True)
    session, _ = talk.say("yes")

    assert talk.tasks.calls == ["billing:refund"]
    assert session.input_params["pending_action_result"] == ("EXECUTED" if answer is WELL else "FAILED")
