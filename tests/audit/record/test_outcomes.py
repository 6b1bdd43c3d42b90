"""What became of a conversation: one outcome, after each turn."""

import pytest

from audit.record.outcomes import FormOutcome, Outcome, TurnResult, follow_conversation

ANSWER, MISS, THANKS = TurnResult(is_answered=True), TurnResult(is_not_understood=True, is_answered=True), TurnResult()
FAILED, TASK_FAILED = TurnResult(is_committed=False), TurnResult(is_answered=True, has_task_failed=True)
PERSON, QUESTION = TurnResult(is_handed_over=True), TurnResult(is_answered=True, asks=True)
FAILURE = MISS._replace(is_handed_over=True, has_bot_failed=True)
#: A form begins, or goes on; and how it ends.
FORM = "form"
DONE, LEFT, GAVE_UP = FormOutcome.COMPLETED, FormOutcome.LEFT, FormOutcome.GAVE_UP


@pytest.mark.parametrize(
    ("turns", "outcome"),
    [
        ([ANSWER], Outcome.RESOLVED),
        ([MISS, ANSWER], Outcome.RESOLVED),
        ([ANSWER, THANKS], Outcome.RESOLVED),
        ([FORM, DONE], Outcome.RESOLVED),
        ([FORM, LEFT, FORM, DONE], Outcome.RESOLVED),
        ([ANSWER, MISS], Outcome.NOT_UNDERSTOOD),
        ([MISS, THANKS], Outcome.NOT_UNDERSTOOD),
        ([FORM, DONE, MISS], Outcome.NOT_UNDERSTOOD),
        ([FORM, LEFT], Outcome.GIVEN_UP),
        ([FORM, GAVE_UP, ANSWER], Outcome.GIVEN_UP),
        ([ANSWER, FORM, LEFT, MISS], Outcome.GIVEN_UP),
        ([PERSON, ANSWER], Outcome.HANDED_OVER),
        ([FORM, GAVE_UP, PERSON], Outcome.HANDED_OVER),
        ([MISS, MISS, FAILURE], Outcome.HANDED_OVER_FAILED),
        ([FAILURE, PERSON], Outcome.HANDED_OVER_FAILED),
        ([PERSON, FAILURE], Outcome.HANDED_OVER),
        ([THANKS], Outcome.OPEN),
        ([FORM], Outcome.OPEN),
        ([FORM, LEFT, FORM], Outcome.OPEN),
        ([ANSWER, FAILED], Outcome.OPEN),
        ([ANSWER, TASK_FAILED], Outcome.OPEN),
        ([QUESTION, THANKS], Outcome.OPEN),
        ([MISS._replace(has_task_failed=True)], Outcome.OPEN),
    ],
)
def test_a_conversation_has_one_outcome(turns: list[TurnResult | FormOutcome | str], outcome: Outcome) -> None:
    now = Outcome.OPEN
    for turn in turns:
        result = turn if isinstance(turn, TurnResult) else ANSWER
        ends = {turn} if isinstance(turn, FormOutcome) else set()
        now = follow_conversation(now, result, ends, has_open_form=turn is FORM)
    assert now is outcome
