"""How far a turn brought a form: asked, given, refused, completed. It is in the index, for reports and searches.

A step is `schema/KIND:field`, such as `2/ASKED:phone`. The steps of a turn are the role of its first stage of forms.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from audit.record.task_errors import find_rule_role, is_task_undone
from convengine.engine.forms.life import ClearCause, clears_on, is_final_state
from convengine.engine.forms.stages import FIELDS_READ, FORM_CLEARED, FORM_LEFT, FORM_REFUSED
from convengine.engine.stages import base_name
from convengine.engine.steps.conversation.stages import CONVERSATION_CREATED, CONVERSATION_LOADED
from convengine.engine.steps.correction.stages import CORRECTION_STEP_CONFIRM_ACCEPT
from convengine.engine.steps.forms.stages import SCHEMA_STATUS
from convengine.engine.steps.responses.stages import FORM_GIVEN_UP
from convengine.engine.text.compare import code
from convengine.engine.turn.dialogue_state import DialogueState
from convengine.engine.turn.enums import Word
from convengine.engine.turn.rows import OutputSchema
from convengine.engine.turn.scope import HAND_OVER
from convengine.engine.turn.session import Session
from convengine.engine.turn.stages import CONVERSATION_RESET
from convengine.engine.turn.trail import AuditEvent
from convengine.engine.turn.turn import Turn

#: The stages that may hold the steps, the usual one first.
FORM_STAGES = tuple(map(str, (FIELDS_READ, SCHEMA_STATUS, FORM_LEFT, FORM_GIVEN_UP, FORM_CLEARED, CONVERSATION_RESET)))
_WANTED = frozenset({*FORM_STAGES, str(FORM_REFUSED), str(CORRECTION_STEP_CONFIRM_ACCEPT)})
#: Their sessions are as stored.
_LOADED = frozenset({str(CONVERSATION_CREATED), str(CONVERSATION_LOADED)})
_SEPARATOR = "|"


class FormStep(Word):
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


class Step(NamedTuple):
    """A step of a form; the field is blank for a step of the whole form."""

    schema: int
    kind: FormStep
    field: str = ""

    def __str__(self) -> str:
        return f"{self.schema}/{self.kind}:{self.field.replace(_SEPARATOR, '_')}"

    @classmethod
    def parse(cls, text: str) -> "Step":
        """Raises ValueError for another text."""
        schema, _, rest = text.partition("/")
        kind, _, field = rest.partition(":")
        return cls(int(schema), FormStep(kind), field)

    @property
    def pattern(self) -> str:
        """What the roles of turns with this step contain."""
        return f"{_SEPARATOR}{self}{_SEPARATOR}"


def encode_steps(steps: Sequence[Step]) -> str:
    """The role of an index entry."""
    return f"{_SEPARATOR}{_SEPARATOR.join(map(str, steps))}{_SEPARATOR}" if steps else ""


def split_steps(role: str) -> list[str]:
    """The steps of a role, as texts."""
    return [text for text in role.split(_SEPARATOR) if text]


def list_steps(turn: Turn) -> list[Step]:
    """The steps of a turn, each once; none for a turn without a form."""
    events = [event for event in turn.trail.events if event.stage in _WANTED]
    if not events:
        return []
    loaded = next((event for event in turn.trail.events if event.stage in _LOADED), turn.trail.events[0])
    return list(dict.fromkeys(_iterate_steps(turn, loaded.session, turn.trail.events[-1].session, events)))


def _iterate_steps(turn: Turn, first: Session, last: Session, events: Sequence[AuditEvent]) -> Iterator[Step]:
    before, after = DialogueState.of(first), DialogueState.of(last)
    cleared = [event.payload for event in events if event.stage == FORM_CLEARED]
    causes = {payload.get("cause") for payload in cleared}
    schema = after.last_schema or before.last_schema or next(map(_read_schema, cleared), None)
    if schema is None:
        return
    started = after.last_schema == schema and (before.last_schema != schema or ClearCause.RESTART in causes)
    if started or before.last_schema is None:
        yield Step(schema, FormStep.STARTED)
    yield from _list_readings(schema, before, after, events)
    if after.asked_field and (started or after.asked_field != before.asked_field):
        yield Step(schema, FormStep.ASKED, after.asked_field)
    is_filled = bool((started or before.asked_field) and last.schema_complete and not after.asked_field)
    if is_filled:
        yield Step(schema, FormStep.FILLED)
    yield from _list_ends(turn, before.last_schema or schema, first, last, events, is_filled=is_filled)


def _list_readings(
    schema: int, before: DialogueState, after: DialogueState, events: Sequence[AuditEvent]
) -> Iterator[Step]:
    given: list[str] = []
    offered: list[str] = []
    refused: list[str] = []
    for event in events:
        if event.stage == FIELDS_READ:
            given += event.payload.get("read") or ()
            offered += event.payload.get("offered") or ()
            refused += [refusal["field"] for refusal in event.payload.get("refused") or ()]
    yield from (Step(schema, FormStep.GIVEN, name) for name in given)
    yield from (Step(schema, FormStep.OFFERED, name) for name in offered if name not in given)
    yield from (Step(schema, FormStep.REFUSED, name) for name in refused if name not in given)
    asked_field = before.asked_field if before.last_schema == schema else None
    is_missed = after.asked_field == asked_field and after.misses > before.misses
    if asked_field and asked_field not in (*given, *offered, *refused) and is_missed:
        yield Step(schema, FormStep.MISSED, asked_field)


def _list_ends(
    turn: Turn, schema: int, first: Session, last: Session, events: Sequence[AuditEvent], *, is_filled: bool
) -> Iterator[Step]:
    """How the form ended that was open before the turn, or in it. `is_filled`: this turn gave its last field."""
    stages = {event.stage for event in events}
    asked_field = DialogueState.of(first).asked_field or ""
    if FORM_REFUSED in stages:
        yield Step(schema, FormStep.DECLINED)
    is_done = _is_completed(turn, schema, events) or (is_filled and _is_answered(turn, schema, last, stages))
    if is_done and not _has_failed(turn):
        yield Step(schema, FormStep.COMPLETED)
    elif loss := _find_loss(first, last, events):
        yield Step(schema, loss, asked_field)


def _find_loss(first: Session, last: Session, events: Sequence[AuditEvent]) -> FormStep | None:
    """How a form ended that was not done.

    Returns None if it did not end. One is cleared as done although its task failed.
    """
    before, after = DialogueState.of(first), DialogueState.of(last)
    stages = {event.stage for event in events}
    causes = {event.payload.get("cause") for event in events if event.stage == FORM_CLEARED}
    if FORM_GIVEN_UP in stages or ClearCause.DONE in causes:
        return FormStep.GAVE_UP
    if code(first.state) != HAND_OVER == code(last.state):
        return FormStep.HANDED_OVER
    is_left = FORM_LEFT in stages or ClearCause.CANCEL in causes
    return FormStep.LEFT if is_left or before.last_schema not in (None, after.last_schema) else None


def _has_failed(turn: Turn) -> bool:
    events = turn.trail.events
    return is_task_undone({(base_name(event.stage), find_rule_role(event.stage, event.payload)) for event in events})


def _is_completed(turn: Turn, schema: int, events: Sequence[AuditEvent]) -> bool:
    """A form that clears its fields is done then; another one when the user confirms it."""
    row = turn.snapshot.row(OutputSchema, schema)
    if row is None or not clears_on(row, ClearCause.DONE):
        return any(event.stage == CORRECTION_STEP_CONFIRM_ACCEPT for event in events)
    cleared = (event.payload for event in events if event.stage == FORM_CLEARED)
    return any(payload.get("cause") == ClearCause.DONE and _read_schema(payload) == schema for payload in cleared)


def _is_answered(turn: Turn, schema: int, last: Session, stages: Collection[str]) -> bool:
    """True for a look-up that has its answer: a form that keeps its fields and leaves nothing to confirm or to do."""
    row = turn.snapshot.row(OutputSchema, schema)
    is_lookup = row is not None and not clears_on(row, ClearCause.DONE)
    is_for_a_person = FORM_GIVEN_UP in stages or code(last.state) == HAND_OVER
    return is_lookup and not is_for_a_person and is_final_state(turn.snapshot, last.intent, last.state)


def _read_schema(payload: Mapping[str, Any]) -> int | None:
    schema = payload.get("schemaId")
    return schema if isinstance(schema, int) else None
