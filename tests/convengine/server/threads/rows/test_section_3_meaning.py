"""Sessions 3, row by row: what a message means to its session, and what comes of it."""

from collections.abc import Sequence
from typing import Any

import pytest

from config_admin.releases.change_set import change_set
from convengine.engine.llm.scripted import ScriptedModel, ScriptLine
from convengine.server import wiring
from convengine.server.extensions.registry import Registry, TaskEntry
from convengine.server.extensions.tasks import TaskCall
from convengine.server.memory.compaction import compact_ended_sessions
from convengine.server.sessions.models import CeMemory, CePendingActionExecution
from convengine.server.turns import take_turn
from tests.api import Caller
from tests.convengine.server.extensions.test_task_keys import lose_the_database
from tests.convengine.server.threads.rows.stories import INTERRUPTION, Story
from tests.threads import Participant, row_of, set_rule, setting

#: How a session comes to stand in each open state.
STANDS = {
    "RUNNING": ("hours",),
    "AWAITING_USER": ("a visa",),
    "INTERRUPTED": ("hours", INTERRUPTION),
    "PENDING_COMPLETE": ("a trip",),
}


def get_meaning(story: Story, answer: Any) -> str:
    """The meaning: the same in the answer, in the trail, and in the input params of the turn's record."""
    meaning = answer["message_intent"]
    intents = [event["messageIntent"] for event in story.guest.stages(answer, "MESSAGE_INTENT_CLASSIFIED")]
    record = row_of(answer).turns.get(turn_no=answer["turn"]["turnNo"])
    assert (intents[-1], record.facts["message_intent"]) == (meaning, meaning)
    return str(meaning)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("Japan", id="S3-row1-RESPONSE-answer"),
        pytest.param("what is that?", id="S3-row1-RESPONSE-question"),
        pytest.param("yes", id="S3-row1-RESPONSE-affirm"),
        pytest.param("no", id="S3-row1-RESPONSE-negate"),
        pytest.param("edit", id="S3-row1-RESPONSE-edit"),
        pytest.param("hello", id="S3-row1-RESPONSE-greeting"),
        pytest.param("another visa", id="S3-row1-RESPONSE-same-intent"),
    ],
)
def test_anything_said_while_a_question_is_open_responds(story: Story, text: str) -> None:
    answer = story.play("a visa", text)

    assert get_meaning(story, answer) == "RESPONSE"
    assert story.guest.moves(answer)[0] == "AWAITING_USER>RUNNING"
    assert answer["session_id"] == story.session_id


@pytest.mark.parametrize(
    ("text", "meaning"),
    [
        pytest.param("never mind", "ABANDON", id="S3-row1-not-an-abandon-phrase"),
        pytest.param("tell me the hours", "NEW_TASK", id="S3-row1-not-a-clear-request-for-another-intent"),
    ],
)
def test_but_for_what_clearly_does_not(story: Story, text: str, meaning: str) -> None:
    assert get_meaning(story, story.play("a visa", text)) == meaning


def test_S3_row1_not_a_wish_to_start_over(story: Story) -> None:
    answer = story.play("a visa", "start over")

    assert (answer["reason"], answer["message_intent"]) == ("explicit_reset", None)


@pytest.mark.parametrize("state", ["RUNNING", "INTERRUPTED", "PENDING_COMPLETE"])
def test_S3_row2_MODIFICATION_is_an_edit(story: Story, state: str) -> None:
    answer = story.play(*STANDS[state], "edit")

    assert get_meaning(story, answer) == "MODIFICATION"
    assert story.guest.moves(answer)[:1] == ([] if state == "RUNNING" else [f"{state}>RUNNING"])


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("yes", id="S3-row3-CONFIRMATION-affirm"),
        pytest.param("looks good", id="S3-row3-CONFIRMATION-looks-good"),
        pytest.param("Done.", id="S3-row3-CONFIRMATION-done"),
        pytest.param("perfect, thanks", id="S3-row3-CONFIRMATION-perfect-thanks"),
        pytest.param("yes, thanks", id="S3-row3-CONFIRMATION-yes-thanks"),
    ],
)
def test_what_accepts_a_proposed_end_completes_the_session_which_is_compacted(story: Story, text: str) -> None:
    answer = story.play("a trip", text)

    assert get_meaning(story, answer) == "CONFIRMATION"
    assert story.guest.moves(answer) == ["PENDING_COMPLETE>COMPLETE"]
    assert answer["reply"] == "Great, all done. Come back any time."
    assert left_of(story) == ("COMPLETE", "confirmed", 2)


def left_of(story: Story) -> tuple[str, str, int]:
    """What the job makes of the first session: outcome, reason, last turn."""
    for _ in compact_ended_sessions():
        pass
    memory_row = CeMemory.objects.get(conversation_id=story.session_id, memory_type="COMPACTED")
    assert memory_row.summary_text == story.row.context_summary
    return memory_row.detail_json["outcome"], memory_row.detail_json["reason"], memory_row.to_turn


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("looks good but also add a hotel", id="S3-row4-MODIFICATION-looks-good-but-also"),
        pytest.param("yes, and a car", id="S3-row4-MODIFICATION-yes-and"),
        pytest.param("done except the hotel", id="S3-row4-MODIFICATION-done-except"),
        pytest.param("perfect plus a window seat", id="S3-row4-MODIFICATION-perfect-plus"),
    ],
)
def test_a_yes_and_more_goes_on(story: Story, text: str) -> None:
    answer = story.play("a trip", text)

    assert get_meaning(story, answer) == "MODIFICATION"
    assert story.guest.moves(answer)[0] == "PENDING_COMPLETE>RUNNING"
    assert story.row.lifecycle != "COMPLETE"


@pytest.mark.parametrize(
    ("before", "text"),
    [
        pytest.param("hours", "plan a trip", id="S3-row5-NEW_TASK-from-RUNNING"),
        pytest.param("a trip", "tell me the hours", id="S3-row5-NEW_TASK-from-PENDING_COMPLETE"),
        pytest.param("a visa", "tell me the hours", id="S3-row5-NEW_TASK-from-AWAITING_USER"),
    ],
)
def test_a_request_for_another_intent_ends_this_session_and_runs_in_the_next(
    story: Story, before: str, text: str
) -> None:
    answer = story.play(before, text)

    assert get_meaning(story, answer) == "NEW_TASK"
    assert (answer["turn"]["turnNo"], answer["session"]["previous_session_id"]) == (1, story.session_id)
    assert [turn.user_input for turn in row_of(answer).turns.all()] == [text]
    assert (story.row.lifecycle, story.row.lifecycle_detail["reason"]) == ("COMPLETE", "new_task")
    assert row_of(answer).context_json["memory"]["recalled_summary"] == story.row.context_summary
    assert left_of(story)[:2] == ("COMPLETE", "new_task")


def test_a_task_of_the_turn_that_begins_the_next_session_runs_once_in_all_attempts(story: Story) -> None:
    runs: list[str] = []

    def plan(call: TaskCall) -> bool:
        runs.append(str(call.idempotency_key))
        call.set_context("plan", len(runs))
        return True

    with change_set(reason="a rule with a task"):
        set_rule("TRIP", "SET_TASK", "plans:plan")
    registry = Registry()
    registry.add_task("plans", TaskEntry({"plan": plan}))
    story.play("hours")
    with wiring.replace_outside_world(wiring.OutsideWorld(registry=registry)):
        with story.monkeypatch.context() as broken:
            broken.setattr(take_turn, "commit_turn", lose_the_database)
            assert story.guest.say("plan a trip")["errorCode"] == "CONVERSATION_PERSIST_FAILED"
        answer = story.play("plan a trip")

    assert (get_meaning(story, answer), answer["turn"]["turnNo"]) == ("NEW_TASK", 1)
    assert (len(runs), row_of(answer).context_json["plan"]) == (1, 1)
    assert str(CePendingActionExecution.objects.get().conversation_id) == story.session_id != answer["session_id"]


@pytest.mark.parametrize(
    ("before", "text"),
    [
        pytest.param("hello", "tell me the hours", id="S3-row5-not-the-first-request"),
        pytest.param("hours", "the hours again", id="S3-row5-not-the-same-intent"),
        pytest.param("a trip", "what about the hours?", id="S3-row5-not-a-question"),
    ],
)
def test_what_is_no_new_task_stays_in_its_session(story: Story, before: str, text: str) -> None:
    answer = story.play(before, text)

    assert get_meaning(story, answer) != "NEW_TASK"
    assert answer["session_id"] == story.session_id


def test_S3_row5_not_on_the_plain_turn_api(guest: Participant) -> None:
    caller = Caller(guest.secret)
    caller.say("a trip")

    answer = caller.say("tell me the hours")

    assert (answer["conversationId"], answer["turnNo"]) == (caller.conversation_id, 2)


@pytest.mark.parametrize("text", ["never mind", "Stop!", "forget it"])
@pytest.mark.parametrize("state", STANDS)
def test_S3_row6_ABANDON(story: Story, state: str, text: str) -> None:
    answer = story.play(*STANDS[state], text)

    assert get_meaning(story, answer) == "ABANDON"
    assert story.guest.moves(answer)[-1] == f"{state}>ABORTED"
    assert answer["reply"] == "All right, I have dropped it. Tell me when you need something."
    assert left_of(story)[:2] == ("ABORTED", "abandoned")


@pytest.mark.parametrize("text", ["stop", "no"])
def test_S3_row6_not_with_an_open_action_which_a_no_rejects(story: Story, text: str) -> None:
    answer = story.play("a refund", text)

    assert get_meaning(story, answer) == "RESPONSE"
    assert story.row.lifecycle != "ABORTED"
    if text == "no":
        assert story.guest.stages(answer, "PENDING_ACTION_REJECTED")


@pytest.mark.parametrize("text", ["please do not stop", "I never mind the rain", "looks good to me, stop it"])
def test_S3_row6_not_a_phrase_inside_a_longer_text(story: Story, text: str) -> None:
    story.play("hours", text)

    assert story.row.lifecycle != "ABORTED"


def test_S3_row7_UNCLEAR_asks_to_go_on_or_to_start_something_new(story: Story) -> None:
    answer = story.play("a trip", "bananas")

    assert get_meaning(story, answer) == "UNCLEAR"
    assert answer["reply"] == "Would you like to go on with this, or start something new?"
    assert story.guest.moves(answer) == ["PENDING_COMPLETE>RUNNING", "RUNNING>AWAITING_USER"]
    assert story.row.lifecycle_detail["question"] == answer["reply"]


@pytest.mark.parametrize(
    ("confidence", "meaning"),
    [
        pytest.param(0.79, "UNCLEAR", id="S3-row7-UNCLEAR-below-the-threshold"),
        pytest.param(0.8, "MODIFICATION", id="S3-row7-a-model-at-the-threshold-decides"),
    ],
)
def test_a_model_settles_what_the_table_leaves_unclear_when_it_is_sure(
    story: Story, confidence: float, meaning: str
) -> None:
    setting("CLASSIFY_WITH_LLM", "true")
    story.play("a trip")
    reply = f'{{"messageIntent": "MODIFICATION", "confidence": {confidence}}}'

    with wiring.replace_outside_world(
        wiring.OutsideWorld(model=ScriptedModel([ScriptLine(("DIALOGUE_ACT",), reply, None, ("Task so far",))]))
    ):
        answer = story.play("bananas")

    assert get_meaning(story, answer) == meaning


def test_S3_row7_a_model_is_asked_only_where_the_setting_says_so(story: Story) -> None:
    story.play("a trip")
    model = ScriptedModel([ScriptLine(("DIALOGUE_ACT",), '{"messageIntent": "MODIFICATION", "confidence": 1}')])

    with wiring.replace_outside_world(wiring.OutsideWorld(model=model)):
        answer = story.play("bananas")

    assert get_meaning(story, answer) == "UNCLEAR"


@pytest.mark.parametrize(
    "script",
    [
        pytest.param(("hours", "and on sunday?"), id="S3-row8-CONTINUATION-from-RUNNING"),
        pytest.param(("hours", INTERRUPTION, "and on sunday?"), id="S3-row8-CONTINUATION-from-INTERRUPTED"),
        pytest.param(("hours", "looks good"), id="S3-row8-CONTINUATION-a-closing-phrase-with-nothing-to-close"),
        pytest.param(("hours", "yes"), id="S3-row8-CONTINUATION-a-yes-to-nothing"),
        pytest.param(("a trip", "the trip?"), id="S3-row8-CONTINUATION-when-the-turn-resolved-an-intent"),
    ],
)
def test_everything_else_goes_on(story: Story, script: Sequence[str]) -> None:
    answer = story.play(*script)

    assert get_meaning(story, answer) == "CONTINUATION"
    assert answer["session_id"] == story.session_id


@pytest.mark.parametrize(
    ("key", "phrase", "before", "meaning"),
    [
        pytest.param("CLOSING_PHRASES", "ship it", "a trip", "CONFIRMATION", id="S3-closing-phrases-are-rows"),
        pytest.param("ABANDON_PHRASES", "drop it", "hours", "ABANDON", id="S3-abandon-phrases-are-rows"),
    ],
)
def test_phrases_are_rows_of_the_configuration(story: Story, key: str, phrase: str, before: str, meaning: str) -> None:
    setting(key, phrase)

    assert get_meaning(story, story.play(before, f"  {phrase.title()}! ")) == meaning
