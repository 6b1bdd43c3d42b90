"""Sessions 2, row by row: what each state of a session carries, and how it is entered."""

from collections.abc import Sequence
from typing import Any

import pytest

from config_admin.models import CeIntent, CeIntentClassifier, CeOutputSchema, CePromptTemplate, CeResponse
from tests.convengine.server.threads.rows.stories import CLOSE, INTERRUPTION, Story
from tests.threads import DAY, Participant, later, row_of, set_rule


def test_S2_RUNNING_when_created_carries_nothing(guest: Participant) -> None:
    row = row_of(guest.resolve())

    assert (row.lifecycle, row.lifecycle_detail) == ("RUNNING", {})


@pytest.mark.parametrize(
    "script",
    [
        pytest.param(("a visa", "hours"), id="S2-RUNNING-user-answered"),
        pytest.param(("a trip", "and your hours?"), id="S2-RUNNING-user-asked-for-more"),
    ],
)
def test_RUNNING_carries_nothing(story: Story, script: Sequence[str]) -> None:
    row = row_of(story.play(*script))

    assert (row.lifecycle, row.lifecycle_detail) == ("RUNNING", {})


def a_form() -> None:
    """FORM wants a city."""
    CeIntent.objects.create(intent_code="FORM", description="a form")
    CeIntentClassifier.objects.create(intent_code="FORM", state_code="IDLE", rule_type="CONTAINS", pattern="form")
    schema = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
    CeOutputSchema.objects.create(intent_code="FORM", state_code="ANY", json_schema=schema)
    CeResponse.objects.create(intent_code="FORM", state_code="ANY", response_type="EXACT", exact_text="Which city?")


def of_the_mode(mode: str) -> Any:
    """Give the template of VISA a mode."""
    return lambda: CePromptTemplate.objects.filter(intent_code="VISA").update(interaction_mode=mode)


@pytest.mark.parametrize(
    ("arranged", "message", "question"),
    [
        pytest.param(None, "a visa for the trip", None, id="S2-AWAITING_USER-pending-clarification"),
        pytest.param(a_form, "the form", "Which city?", id="S2-AWAITING_USER-missing-required-fields"),
        pytest.param(None, "a refund", "Shall I pay it back?", id="S2-AWAITING_USER-open-pending-action"),
        *(
            pytest.param(of_the_mode(mode), "a visa", "Which country?", id=f"S2-AWAITING_USER-mode-{mode}")
            for mode in ("COLLECT", "CONFIRM", "DISAMBIGUATE", "PENDING_ACTION")
        ),
    ],
)
def test_AWAITING_USER_carries_the_question_and_when_it_was_asked(
    guest: Participant, arranged: Any, message: str, question: str | None
) -> None:
    if arranged:
        arranged()
    answer = guest.say(message)

    row = row_of(answer)
    assert (row.lifecycle, row.lifecycle_detail) == (
        "AWAITING_USER",
        {"question": question or answer["reply"], "asked_at": answer["session"]["last_message_at"]},
    )


def test_S2_INTERRUPTED_carries_the_newer_message_the_time_and_the_turn(story: Story) -> None:
    story.play("hours", INTERRUPTION)

    row = story.row
    assert row.lifecycle == "INTERRUPTED"
    assert row.lifecycle_detail["user_message"] == "a newer message"
    assert (row.lifecycle_detail["turn_no"], row.lifecycle_detail["interrupted_user_message"]) == (2, "Japan")
    assert row.lifecycle_detail["at"]


@pytest.mark.parametrize(
    ("mode", "rule", "message"),
    [
        pytest.param("FINAL", False, "a trip", id="S2-PENDING_COMPLETE-mode-FINAL"),
        pytest.param("REVIEW", False, "a trip", id="S2-PENDING_COMPLETE-mode-REVIEW"),
        pytest.param("REVIEW", True, "hours", id="S2-PENDING_COMPLETE-session_complete_proposed"),
    ],
)
def test_PENDING_COMPLETE_carries_the_summary_and_since_when(
    guest: Participant, mode: str, rule: bool, message: str
) -> None:
    CePromptTemplate.objects.filter(intent_code="TRIP").update(interaction_mode=mode)
    if rule:
        set_rule("HOURS", "SET_INPUT_PARAM", "session_complete_proposed:true")
    answer = guest.say(message)

    row = row_of(answer)
    assert (row.lifecycle, row.lifecycle_detail) == (
        "PENDING_COMPLETE",
        {"summary": row.context_summary, "since": answer["session"]["last_message_at"]},
    )


@pytest.mark.parametrize(
    ("script", "idle", "end", "reason"),
    [
        pytest.param(("a trip", "looks good"), 0, "COMPLETE", "confirmed", id="S2-COMPLETE-user-confirmed"),
        pytest.param(("hours", CLOSE), 0, "COMPLETE", "closed", id="S2-COMPLETE-close"),
        pytest.param(("hours", "never mind"), 0, "ABORTED", "abandoned", id="S2-ABORTED-user-abandoned"),
        pytest.param(("hours", "a trip"), 8 * DAY, "ABORTED", "stale", id="S2-ABORTED-stale"),
        pytest.param(("hours", "start over"), 0, "ABORTED", "explicit_reset", id="S2-ABORTED-explicit-reset"),
        pytest.param(("hours", "a trip"), DAY, "ABORTED", "timeout", id="S2-ABORTED-timeout"),
    ],
)
def test_a_closed_session_carries_why_and_when(
    story: Story, settings: Any, script: Sequence[str], idle: float, end: str, reason: str
) -> None:
    story.play(script[0])
    later(settings, idle)
    story.play(*script[1:])

    row = story.row
    assert (row.lifecycle, set(row.lifecycle_detail) - {"by"}) == (end, {"reason", "at"})
    assert row.lifecycle_detail["reason"] == reason
    assert row.lifecycle_detail["at"]
