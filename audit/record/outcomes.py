"""What became of a conversation, and of a form: declared here alone, followed turn by turn, and searched for."""

from collections.abc import Collection, Sequence, Set
from typing import Any, NamedTuple

from django.db.models import Exists, OuterRef

from audit.models import CeOutcome
from audit.record.form_steps import FormProgress, FormStep
from convengine.engine.steps.responses.stages import FORM_GIVEN_UP, NOT_UNDERSTOOD, PERSON_WANTED
from convengine.engine.turn.enums import Vocabulary


class Outcome(Vocabulary):
    """What became of a conversation. Each conversation has exactly one."""

    RESOLVED = "RESOLVED", "Resolved", "The bot answered or finished a form, and understood everything after it."
    HANDED_OVER = (
        "HANDED_OVER",
        "Handed over",
        "A person got the conversation, because the user or the flow wanted one, or a person wrote.",
    )
    HANDED_OVER_FAILED = (
        "HANDED_OVER_FAILED",
        "Handed over after failures",
        "A person got the conversation, because the bot did not understand, or gave a form up.",
    )
    GIVEN_UP = "GIVEN_UP", "Given up", "A form was given up or left, and no other form began after it."
    NOT_UNDERSTOOD = "NOT_UNDERSTOOD", "Ended not understood", "The last message was not understood."
    OPEN = "OPEN", "Open", "A question waits for its answer, or the last message or its task failed."


class FormOutcome(Vocabulary):
    """What became of a form. Each form that began has exactly one."""

    COMPLETED = "COMPLETED", "Completed", "The form was done, and its task did not fail."
    GAVE_UP = "GAVE_UP", "Given up", "The bot gave the form up."
    LEFT = "LEFT", "Left", "The user left the form, or the session ended before it was done."
    HANDED_OVER = "HANDED_OVER", "Handed over", "A person took over before it was done."
    OPEN = "OPEN", "Open", "The form waits for an answer, or for its task to run again."


#: The steps that end a form, and what becomes of it.
FORM_ENDS = {
    FormStep.COMPLETED: FormOutcome.COMPLETED,
    FormStep.GAVE_UP: FormOutcome.GAVE_UP,
    FormStep.LEFT: FormOutcome.LEFT,
    FormStep.HANDED_OVER: FormOutcome.HANDED_OVER,
}
#: What a form becomes when users are lost in it.
FORM_LOSSES = (FormOutcome.GAVE_UP, FormOutcome.LEFT, FormOutcome.HANDED_OVER, FormOutcome.OPEN)


#: The stages of a turn in which the bot gave up, unless the user wanted a person.
BOT_FAILURES = (str(NOT_UNDERSTOOD), str(FORM_GIVEN_UP))


def has_bot_failed(stages: Collection[str]) -> bool:
    """True for the stages of a turn after which a person is needed because of the bot, not of a wish of the user."""
    return PERSON_WANTED not in stages and any(stage in stages for stage in BOT_FAILURES)


class TurnResult(NamedTuple):
    """What a turn says about the outcome of its conversation."""

    #: It was saved: it did not fail, nor was it interrupted.
    is_committed: bool = True
    #: The conversation is with a person.
    is_handed_over: bool = False
    #: It went to one because the bot gave up, and not because the user wanted it.
    has_bot_failed: bool = False
    is_not_understood: bool = False
    #: A row answered for an intent that is known; thanks and greetings are no answer.
    is_answered: bool = False
    has_task_failed: bool = False
    #: The session waits for an answer of the user.
    asks: bool = False
    has_ended: bool = False
    steps: Sequence[FormProgress] = ()

    @property
    def is_missed(self) -> bool:
        """Not understood for no other reason than its words: where a task failed, that is the reason."""
        return self.is_not_understood and not self.has_task_failed


def follow_conversation(outcome: Outcome, turn: TurnResult, ends: Set[FormOutcome], *, has_open_form: bool) -> Outcome:
    """The outcome after one more turn, with what became of forms in it; `has_open_form`: one is open after it."""
    if outcome in (Outcome.HANDED_OVER, Outcome.HANDED_OVER_FAILED):
        return outcome
    if turn.is_handed_over:
        return Outcome.HANDED_OVER_FAILED if turn.has_bot_failed else Outcome.HANDED_OVER
    if has_open_form:
        return Outcome.NOT_UNDERSTOOD if turn.is_missed else Outcome.OPEN
    if ends:
        return Outcome.RESOLVED if FormOutcome.COMPLETED in ends else Outcome.GIVEN_UP
    # An answer to another question does not bring the form back.
    if outcome is Outcome.GIVEN_UP:
        return outcome
    if turn.is_missed:
        return Outcome.NOT_UNDERSTOOD
    if not turn.is_committed or turn.has_task_failed or turn.asks:
        return Outcome.OPEN
    return Outcome.RESOLVED if turn.is_answered else outcome


#: The form of a text that means any form.
ANY_FORM = "FORM"


class WantedOutcome(NamedTuple):
    outcome: str
    #: None for the conversation; blank for any form.
    form: str | None = None
    #: None for any field.
    field: str | None = None

    @classmethod
    def parse(cls, text: str) -> "WantedOutcome":
        """`RESOLVED`, `FORM/LEFT`, `2/LEFT` or `2/LEFT:phone`. Raises ValueError for another text."""
        form, slash, rest = text.strip().partition("/")
        if not slash:
            return cls(Outcome(form.upper()).value)
        outcome, colon, field = rest.partition(":")
        schema = "" if form == ANY_FORM else str(int(form))
        return cls(FormOutcome(outcome.upper()).value, schema, field if colon else None)

    def __str__(self) -> str:
        form = "" if self.form is None else f"{self.form or ANY_FORM}/"
        return f"{form}{self.outcome}{'' if self.field is None else f':{self.field}'}"

    @property
    def where(self) -> Any:
        """The condition on turns: the conversation or a form began in them, and became this."""
        rows = CeOutcome.objects.filter(
            conversation_id=OuterRef("conversation_id"), turn_no=OuterRef("turn_no"), outcome=self.outcome
        )
        if self.form is None:
            rows = rows.filter(schema_id=CeOutcome.CONVERSATION)
        elif self.form:
            rows = rows.filter(schema_id=int(self.form))
        else:
            rows = rows.exclude(schema_id=CeOutcome.CONVERSATION)
        return Exists(rows if self.field is None else rows.filter(field=self.field))
