"""Sessions 5, row by row: what is presented to a user who comes back after a pause."""

from collections.abc import Sequence
from typing import Any

import pytest

from tests.convengine.server.threads.rows.stories import INTERRUPTION, Story
from tests.threads import DAY, later, row_of, setting

#: What was found: how it came about, the setting of its text, what that sees, and the words of the default.
FOUND = [
    pytest.param(
        "AWAITING_USER", ("a visa",), "RESUME_TEXT_AWAITING_USER", "{{ question }}",
        "Welcome back. We are not done yet. {shown}", id="S5-AWAITING_USER",
    ),
    pytest.param(
        "PENDING_COMPLETE", ("a trip",), "RESUME_TEXT_PENDING_COMPLETE", "{{ summary }}",
        "Welcome back. This is where we stand: {shown} Does it look good?", id="S5-PENDING_COMPLETE",
    ),
    pytest.param(
        "RUNNING", ("hours",), "RESUME_TEXT_RUNNING", "{{ context_summary }}",
        "Welcome back. So far: {shown} Shall we continue, or start fresh?", id="S5-RUNNING",
    ),
    pytest.param(
        "INTERRUPTED", ("hours", INTERRUPTION), "RESUME_TEXT_RUNNING", "{{ context_summary }}",
        "Welcome back. So far: {shown} Shall we continue, or start fresh?", id="S5-INTERRUPTED",
    ),
]  # fmt: skip
in_each_state = pytest.mark.parametrize(("state", "script", "key", "variable", "words"), FOUND)


@pytest.fixture(autouse=True)
def offers(guest: Any) -> None:
    setting("RESUME_MODE", "offer_resume")


def away(story: Story, settings: Any, script: Sequence[str]) -> dict[str, str]:
    """Play, and let a day and a minute pass; gives what there is to be shown."""
    story.play(*script)
    row = story.row
    later(settings, DAY + 60)
    detail = row.lifecycle_detail
    return {
        "{{ question }}": detail.get("question", ""),
        "{{ summary }}": detail.get("summary", ""),
        "{{ context_summary }}": row.context_summary,
    }


@in_each_state
def test_where_things_stood_is_presented_before_anything_else(
    story: Story, settings: Any, state: str, script: Sequence[str], key: str, variable: str, words: str
) -> None:
    shown = away(story, settings, script)[variable]
    assert shown
    assert story.row.lifecycle == state

    answer = story.play("tell me about a refund")

    assert (answer["reason"], answer["session_id"]) == ("resume_offered", story.session_id)
    assert answer["reply"] == words.format(shown=shown)
    row = story.row
    assert (row.lifecycle, row.lifecycle_detail["options"]) == ("AWAITING_USER", ["continue", "start fresh"])
    # Nothing of the message was looked at.
    assert story.guest.stages(answer, "INTENT_RESOLVE_NO_CHANGE")
    assert not story.guest.stages(answer, "MESSAGE_INTENT_CLASSIFIED")


@in_each_state
def test_the_texts_are_rows_rendered_as_templates(
    story: Story, settings: Any, state: str, script: Sequence[str], key: str, variable: str, words: str
) -> None:
    setting(key, f"Again! {variable}")
    shown = away(story, settings, script)[variable]

    assert story.play("hello")["reply"] == f"Again! {shown}"


@in_each_state
def test_continue_resumes_where_things_stood(
    story: Story, settings: Any, state: str, script: Sequence[str], key: str, variable: str, words: str
) -> None:
    away(story, settings, script)
    last_words = story.row.last_assistant_json["value"]
    detail = story.row.lifecycle_detail

    answer = story.play("hello", "continue")

    assert (answer["reason"], answer["session_id"], answer["reply"]) == ("within_timeout", story.session_id, last_words)
    row = story.row
    assert row.lifecycle == ("RUNNING" if state == "INTERRUPTED" else state)
    if state in ("AWAITING_USER", "PENDING_COMPLETE"):
        assert row.lifecycle_detail == detail


@pytest.mark.parametrize("text", ["Go on, please.", "keep going", "Continue!"])
def test_a_wish_to_go_on_gets_the_last_answer_again(story: Story, settings: Any, text: str) -> None:
    away(story, settings, ("a trip",))
    last_words = story.row.last_assistant_json["value"]

    assert story.play("hello", text)["reply"] == last_words


@in_each_state
@pytest.mark.parametrize("phrase", ["start fresh", "new task"])
def test_start_fresh_or_a_reset_phrase_aborts_and_opens_a_new_session(
    story: Story, settings: Any, state: str, script: Sequence[str], key: str, variable: str, words: str, phrase: str
) -> None:
    away(story, settings, script)

    answer = story.play("hello", phrase)

    assert (answer["reason"], answer["session"]["previous_session_id"]) == ("explicit_reset", story.session_id)
    assert (story.row.lifecycle, story.row.lifecycle_detail["reason"]) == ("ABORTED", "explicit_reset")
    assert row_of(answer).lifecycle == "RUNNING"


def test_S5_any_other_text_counts_as_continue_and_is_processed(story: Story, settings: Any) -> None:
    away(story, settings, ["a trip"])

    answer = story.play("hello", "looks good")

    assert (answer["message_intent"], story.row.lifecycle) == ("CONFIRMATION", "COMPLETE")
    assert story.guest.moves(answer) == [
        "AWAITING_USER>RUNNING",
        "RUNNING>PENDING_COMPLETE",
        "PENDING_COMPLETE>COMPLETE",
    ]
