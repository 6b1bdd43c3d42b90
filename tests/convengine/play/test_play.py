"""Played turns: the same answers as real ones, and nothing is stored."""

import uuid
from dataclasses import fields
from datetime import UTC, datetime

import pytest
from django.apps import apps

from audit.replay.replay import replay_turn
from config_admin.models import CeResponse, CeRule
from convengine.engine.turn.snapshot import Snapshot
from convengine.engine.turn.turn import TurnRequest
from convengine.play.play import PlayedConversation, PlayedMessage, PlayedTurn, play
from convengine.server.extensions.registry import Registry, TaskEntry
from convengine.server.extensions.tasks import TaskCall
from convengine.server.interfaces.configuration import configuration
from convengine.server.interfaces.turn_reader import turn_reader
from convengine.server.sessions.models import CeConversation, CeConversationHistory
from convengine.server.threads.find_session import Thread
from convengine.server.threads.take_message import take_message
from convengine.server.turns.answer import TurnAnswer
from convengine.server.turns.stored_recording import read_recording
from convengine.server.turns.take_turn import take_turn
from convengine.server.wiring import OutsideWorld
from tests.worlds import create_help_desk

pytestmark = pytest.mark.django_db(transaction=True)
NOW = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
#: Columns of the row alone; the context has the time of the turn.
_OWN = {"conversation_id", "created_at", "remote_jid", "context_json"}


def play_messages(snapshot: Snapshot, *messages: str) -> list[PlayedTurn]:
    return play(
        snapshot,
        PlayedConversation.begin(NOW),
        [PlayedMessage(message, at=NOW) for message in messages],
        OutsideWorld(),
    )


def count_rows() -> dict[str, int]:
    return {model._meta.label: model._base_manager.count() for model in apps.get_models()}


def test_a_tried_conversation_goes_as_a_real_one_and_stores_nothing() -> None:
    create_help_desk()
    messages = ["hours", "something else entirely", "hours", "", "hours"]
    real: list[TurnAnswer] = []
    key = str(uuid.uuid4())
    for message in messages:
        answer = take_turn(TurnRequest(key, message))
        assert isinstance(answer, TurnAnswer)
        real.append(answer)
    before = count_rows()
    tried = play_messages(configuration().current(), *messages)
    assert count_rows() == before
    for mine, other in zip(tried, real, strict=True):
        assert (mine.turn.turn_no, mine.seen.answer) == (other.turn_no, other.payload and other.payload.value)
        assert (mine.session.intent, mine.session.state) == (other.session.intent, other.session.state)
        assert mine.session.history == other.session.history
        assert mine.session.context.keys() == other.session.context.keys()


def test_a_stored_conversation_goes_on_as_it_did_from_any_turn_of_it() -> None:
    create_help_desk()
    key, messages = str(uuid.uuid4()), ["hours", "fees", "hours", "fees"]
    for message in messages:
        take_turn(TurnRequest(key, message))
    for row in CeConversationHistory.objects.filter(conversation_id=key):
        begun = PlayedConversation.of(read_recording(row.recording))
        played = play(
            configuration().current(),
            begun,
            [PlayedMessage(each) for each in messages[begun.turn_no :]],
            OutsideWorld(),
        )
        assert [each.turn.turn_no for each in played] == list(range(row.turn_no, 5))
        assert played[-1].session.state == row.conversation.state_code
        assert len(played[-1].session.history) == 3


def test_a_stored_turn_of_a_thread_is_seen_as_a_turn_without_its_session() -> None:
    create_help_desk()
    answer = take_message(Thread("default", "whatsapp", "+1555"), TurnRequest("", "hours", channel="whatsapp"))
    assert isinstance(answer, TurnAnswer)

    played = replay_turn(CeConversationHistory.objects.get()).turn

    assert played
    assert played.seen.answer == answer.body["turn"]["payload"]["value"]


def test_a_turn_that_fails_leaves_a_tried_conversation_as_a_real_one() -> None:
    create_help_desk()
    CeResponse.objects.exclude(intent_code="HOURS").delete()
    turns = [("hours", {"vip": True}), ("fees", {}), ("fees", {"reset": True}), ("hours", {})]
    played = PlayedConversation.begin(NOW)
    key = played.loaded.conversation.conversation_id
    for message, params in turns:
        answer = take_turn(TurnRequest(key, message, params))
        assert isinstance(answer, TurnAnswer)
        (turn,) = play(configuration().current(), played, [PlayedMessage(message, params, at=NOW)], OutsideWorld())
        assert turn.error == (answer.error and answer.error.code)
        played, row = turn.after, CeConversation.objects.get(pk=key)
        names = {field.name for field in fields(played.loaded.conversation)} - _OWN
        assert {name: getattr(played.loaded.conversation, name) for name in names} == {
            name: getattr(row, name) for name in names
        }
        assert played.loaded.conversation.context_json.keys() == row.context_json.keys()
        assert played.turn_no == row.last_turn_no
        assert played.loaded.previous_turn
    assert not answer.error


def test_a_task_whose_tried_turn_fails_is_not_run_again_and_its_result_counts() -> None:
    create_help_desk()
    CeRule.objects.create(
        phase="PRE_RESPONSE_RESOLUTION", intent_code="HOURS", state_code="ANY", rule_type="EXACT", match_pattern="ANY",
        action="SET_TASK", action_value="clock:look",
    )  # fmt: skip
    answers = list(CeResponse.objects.values())
    CeResponse.objects.all().delete()
    runs: list[int] = []

    def read_clock(call: TaskCall) -> bool:
        runs.append(1)
        call.set_context("looked", len(runs))
        return True

    registry = Registry()
    registry.add_task("clock", TaskEntry({"look": read_clock}))
    outside, before = OutsideWorld(registry=registry), count_rows()
    (failed,) = play(configuration().current(), PlayedConversation.begin(NOW), [PlayedMessage("hours")], outside)
    assert failed.error
    assert count_rows() == before
    CeResponse.objects.bulk_create(CeResponse(**values) for values in answers)

    (again,) = play(configuration().current(), failed.after, [PlayedMessage("hours")], outside)

    assert (len(runs), again.session.context["looked"]) == (1, 1)


def test_a_tried_turn_is_explained_like_a_stored_one() -> None:
    create_help_desk()
    turn = play_messages(configuration().current(), "hours")[0].turn
    lines = turn_reader().explain_unstored_turn(turn)
    assert any("hours" in line for line in lines)
    stages = [event.stage for event in turn_reader().list_unstored_events(turn)]
    assert stages[0] == turn.trail.events[0].stage
    assert len(stages) > 10
