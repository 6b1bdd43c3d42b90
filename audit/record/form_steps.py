"""How far a turn brought a form: asked, given, refused, completed. It is in the index, for reports and searches.

A step is `schema/KIND:field`, such as `2/ASKED:phone`. The steps of a turn are the role of its first stage of forms.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from audit.record.task_errors import find_rule_role, is_task_undone
from convengine.engine.forms.life import ClearCause, clears_on, is_final_state
from convengine.engine.forms.stages import (
    FIELDS_READ,
    FORM_CLEARED,
    FORM_INTERRUPTED,
    FORM_LEFT,
    FORM_REFUSED,
    FORM_RESUMED,
)
from convengine.engine.stages import base_name
from convengine.engine.steps.conversation.stages import CONVERSATION_CREATED, CONVERSATION_LOADED
from convengine.engine.steps.correction.stages import CORRECTION_STEP_CONFIRM_ACCEPT
from convengine.engine.steps.forms.stages import SCHEMA_STATUS
from convengine.engine.steps.responses.stages import FORM_GIVEN_UP, PERSON_WANTED
from convengine.engine.text.compare import code
from convengine.engine.turn.dialogue_state import DialogueState
from convengine.engine.turn.enums import Vocabulary
from convengine.engine.turn.rows import OutputSchema
from convengine.engine.turn.scope import HAND_OVER
from convengine.engine.turn.session import Session
from convengine.engine.turn.stages import CONVERSATION_RESET
from convengine.engine.turn.trail import AuditEvent
from convengine.engine.turn.turn import Turn

#: The stages that may hold the steps, the usual one first.
FORM_STAGES = tuple(map(str, (FIELDS_READ, SCHEMA_STATUS, FORM_LEFT, FORM_GIVEN_UP, FORM_CLEARED, CONVERSATION_RESET)))
_OTHERS = (FORM_INTERRUPTED, FORM_REFUSED, FORM_RESUMED, CORRECTION_STEP_CONFIRM_ACCEPT, PERSON_WANTED)
_WANTED = frozenset({*FORM_STAGES, *map(str, _OTHERS)})
#: Their sessions are as stored.
_LOADED = frozenset({str(CONVERSATION_CREATED), str(CONVERSATION_LOADED)})
_SEPARATOR = "|"


class FormStep(Vocabulary):
    """What happened to a form in a turn."""

    STARTED = "STARTED", "Started", "The form began."
    ASKED = "ASKED", "Asked", "The answer asks for the field, which was not asked for before."
    GIVEN = "GIVEN", "Given", "The message gave the field."
    OFFERED = "OFFERED", "Asked if meant", "The answer asks whether the value that was read is meant."
    REFUSED = "REFUSED", "Refused", "The message gave a value that the field does not take."
    MISSED = "MISSED", "No answer", "The message gave no value for the field that was asked for."
    GAVE_UP = "GAVE_UP", "Given up", "The bot gave the form up after too many failed answers for the field."
    LEFT = "LEFT", "Left", "The user left the form while the field was asked for."
    HANDED_OVER = "HANDED_OVER", "Handed over", "A person took over while the field was asked for."
    FILLED = "FILLED", "All fields known", "The last field was given."
    DECLINED = "DECLINED", "Not confirmed", "The user said no to the confirmation."
    COMPLETED = "COMPLETED", "Completed", "The form was done."


class FormProgress(NamedTuple):
    """A step of a form; the field is blank for a step of the whole form."""

    schema: int
    kind: FormStep
    field: str = ""

    def __str__(self) -> str:
        return f"{self.schema}/{self.kind}:{self.field.replace(_SEPARATOR, '_')}"

    @classmethod
    def parse(cls, text: str) -> "FormProgress":
        """Read a step in the form of `str(step)`; the field may be absent. Raises ValueError for another text."""
        schema, _, rest = text.partition("/")
        kind, _, field = rest.partition(":")
        return cls(int(schema), FormStep(kind), field)

    @property
    def pattern(self) -> str:
        """What the roles of turns with this step contain."""
        return f"{_SEPARATOR}{self}{_SEPARATOR}"


def encode_steps(steps: Sequence[FormProgress]) -> str:
    return f"{_SEPARATOR}{_SEPARATOR.join(map(str, steps))}{_SEPARATOR}" if steps else ""


def split_steps(role: str) -> list[str]:
    return [text for text in role.split(_SEPARATOR) if text]


def list_steps(turn: Turn) -> list[FormProgress]:
    """The steps of a turn, each once; none for a turn without a form."""
    events = [event for event in turn.trail.events if event.stage in _WANTED]
    if not events:
        return []
    loaded = next((event for event in turn.trail.events if event.stage in _LOADED), turn.trail.events[0])
    # What the answer asks after the way back to an interrupted form was asked before.
    way_back = (event for event in events if event.stage == FORM_RESUMED and event.payload.get("state"))
    form_turn = _FormTurn(turn, loaded.session, next(way_back, turn.trail.events[-1]).session, events)
    return list(dict.fromkeys(form_turn.iterate_steps()))


class _FormTurn:
    """A turn with events of forms, with the sessions before it and after it."""

    def __init__(self, turn: Turn, first: Session, last: Session, events: Sequence[AuditEvent]) -> None:
        """`events` are those of forms; `first` and `last` the sessions before and after the turn."""
        self.turn, self.first, self.last = turn, first, last
        self.before, self.after = DialogueState.of(first), DialogueState.of(last)
        self.stages = {event.stage for event in events}
        self.readings = [event.payload for event in events if event.stage == FIELDS_READ]
        self.cleared = [event.payload for event in events if event.stage == FORM_CLEARED]
        self.causes = {payload.get("cause") for payload in self.cleared}
        self.schema = self.after.last_schema or self.before.last_schema or next(map(_read_schema, self.cleared), None)

    @property
    def is_started(self) -> bool:
        """True if the form of the session after the turn is another one, or began again; not if it only goes on."""
        is_open = self.after.last_schema == self.schema and FORM_RESUMED not in self.stages
        return is_open and (self.before.last_schema != self.schema or ClearCause.RESTART in self.causes)

    @property
    def asked_before(self) -> str | None:
        return None if self.is_started else self.before.asked_field

    @property
    def is_filled(self) -> bool:
        """True if this turn gave the last field."""
        was_open = self.is_started or bool(self.before.asked_field)
        return was_open and bool(self.last.schema_complete) and not self.after.asked_field

    def iterate_steps(self) -> Iterator[FormProgress]:
        """The steps in order; some may come twice. None if no form is known."""
        schema, asked_field = self.schema, self.after.asked_field
        if schema is None:
            return
        if self.is_started or self.before.last_schema is None:
            yield FormProgress(schema, FormStep.STARTED)
        yield from self._list_readings(schema)
        if asked_field and asked_field != self.asked_before:
            yield FormProgress(schema, FormStep.ASKED, asked_field)
        if self.is_filled:
            yield FormProgress(schema, FormStep.FILLED)
        yield from self._list_ends(self.before.last_schema or schema)

    def _list_readings(self, schema: int) -> Iterator[FormProgress]:
        """What the message did with the fields: given, offered, refused, or no answer for the asked one."""
        given, offered = self._list_read("read"), self._list_read("offered")
        refused = [refusal["field"] for refusal in self._list_read("refused")]
        yield from (FormProgress(schema, FormStep.GIVEN, name) for name in given)
        yield from (FormProgress(schema, FormStep.OFFERED, name) for name in offered if name not in given)
        yield from (FormProgress(schema, FormStep.REFUSED, name) for name in refused if name not in given)
        asked_field = self.before.asked_field if self.before.last_schema == self.schema else None
        # It is asked for again, and that counts as a failed answer.
        is_missed = self.after.asked_field == asked_field and self.after.misses > self.before.misses
        if is_missed and asked_field and asked_field not in (*given, *offered, *refused):
            yield FormProgress(schema, FormStep.MISSED, asked_field)

    def _list_read(self, key: str) -> list[Any]:
        return [entry for payload in self.readings for entry in payload.get(key) or ()]

    def _list_ends(self, schema: int) -> Iterator[FormProgress]:
        if FORM_REFUSED in self.stages:
            yield FormProgress(schema, FormStep.DECLINED)
        is_done = self._is_completed(schema) or (self.is_filled and self._is_answered(schema))
        events = self.turn.trail.events
        if is_done and not is_task_undone({(base_name(e.stage), find_rule_role(e.stage, e.payload)) for e in events}):
            yield FormProgress(schema, FormStep.COMPLETED)
        elif loss := self._find_loss():
            yield FormProgress(schema, loss, self.before.asked_field or "")

    def _find_loss(self) -> FormStep | None:
        """How a form ended that was not done.

        Returns None if it did not end. A form that was cleared as done although its task failed counts as given up.
        """
        is_with_person = code(self.last.state) == HAND_OVER and code(self.first.state) != HAND_OVER
        is_given_up = FORM_GIVEN_UP in self.stages and not (is_with_person and PERSON_WANTED in self.stages)
        if is_given_up or ClearCause.DONE in self.causes:
            return FormStep.GAVE_UP
        if is_with_person:
            return FormStep.HANDED_OVER
        if FORM_INTERRUPTED in self.stages:
            return None
        is_left = FORM_LEFT in self.stages or ClearCause.CANCEL in self.causes
        return FormStep.LEFT if is_left or self.before.last_schema not in (None, self.after.last_schema) else None

    def _is_completed(self, schema: int) -> bool:
        """True if the form was done: one that clears its fields then, by that; another one, by the user's yes."""
        row = self.turn.snapshot.row(OutputSchema, schema)
        if row is None or not clears_on(row, ClearCause.DONE):
            return CORRECTION_STEP_CONFIRM_ACCEPT in self.stages
        done = (payload for payload in self.cleared if payload.get("cause") == ClearCause.DONE)
        return schema in map(_read_schema, done)

    def _is_answered(self, schema: int) -> bool:
        """True for a look-up with its answer: a form that keeps its fields and leaves nothing to confirm or to do."""
        row = self.turn.snapshot.row(OutputSchema, schema)
        is_lookup = row is not None and not clears_on(row, ClearCause.DONE)
        is_for_a_person = FORM_GIVEN_UP in self.stages or code(self.last.state) == HAND_OVER
        return (
            is_lookup and not is_for_a_person and is_final_state(self.turn.snapshot, self.last.intent, self.last.state)
        )


def _read_schema(payload: Mapping[str, Any]) -> int | None:
    schema = payload.get("schemaId")
    return schema if isinstance(schema, int) else None
