"""Sentences that need more than one event, or the release: parts for the templates of a stage, or whole sentences.

Those on intents and on rules have modules of their own; here are forms, actions and answers.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from audit.narration import intent_narrators, rule_narrators
from audit.narration.narrate import (
    ExtraParts,
    NarratedTurn,
    Narrator,
    build_sentence,
    find_cleared,
    narrate_by_template,
)
from audit.narration.phrases import ROUTINE_MOVES
from audit.narration.reading import list_moves
from audit.narration.wording import Fact, Parts, RowRef, Sentence, join_parts, row_name, write_fields
from audit.record.events import Event
from convengine.engine.clarification.stages import RESOLVE_RESPONSE_LLM_ERROR
from convengine.engine.forms.session_form import find_value
from convengine.engine.forms.stages import (
    FIELDS_READ,
    FORM_CLEARED,
    FORM_LEAVE_ASKED,
    MESSAGE_UNDERSTOOD,
    SCHEMA_EXTRACTION_DETERMINISTIC,
)
from convengine.engine.pending_actions.stages import PENDING_ACTION_LIFECYCLE
from convengine.engine.stages import STAGES
from convengine.engine.steps.actions.stages import (
    PENDING_ACTION_EXECUTED,
    PENDING_ACTION_FAILED,
    PENDING_ACTION_REJECTED,
    PENDING_ACTION_SKIPPED,
)
from convengine.engine.steps.containers.step import CONTAINER_DATA_EXECUTED, CONTAINER_DATA_FAILED
from convengine.engine.steps.conversation.stages import CONVERSATION_LOADED
from convengine.engine.steps.correction.stages import CORRECTION_STEP_CORRECTION_PATCH_APPLIED
from convengine.engine.steps.dialogue_act.stages import DIALOGUE_ACT_CLASSIFIED
from convengine.engine.steps.forms.stages import SCHEMA_STATUS
from convengine.engine.steps.intents.stages import INTENT_CLASSIFIER_NO_MATCH, INTENT_RESOLVED_BY_CLASSIFIER
from convengine.engine.steps.interaction.stages import DISAMBIGUATION_RESOLVED, INTERACTION_POLICY_DECIDED
from convengine.engine.steps.policy.step import POLICY_BLOCK
from convengine.engine.steps.responses.stages import (
    EXACT_RESPONSE_RENDERING,
    NOT_UNDERSTOOD,
    RESPONSE_EXACT,
)
from convengine.engine.steps.tools.stages import TOOL_ORCHESTRATION_REQUEST, TOOL_ORCHESTRATION_RESULT
from convengine.engine.threads.lifecycle import NEW_TASK
from convengine.engine.threads.stages import MESSAGE_INTENT_CLASSIFIED, SESSION_LIFECYCLE
from convengine.engine.turn import rows
from convengine.engine.turn.enums import DecisionKind, DialogueAct, MessageIntent
from convengine.engine.turn.stage import Family, Tone, find_stage
from convengine.engine.turn.stages import (
    ASSISTANT_OUTPUT,
    CONVERSATION_RESET,
    DECISION,
    ENGINE_RETURN,
    RESPONSE_TRANSFORMED,
)
from convengine.engine.understanding.decide import OFFER
from convengine.engine.understanding.moves import MoveKind

#: Stages of these families are about the session that has the form.
_OF_SESSIONS = (Family.DATA, Family.SESSION)
#: Makes the parts that the templates of a stage need besides its payload; None if there is nothing to say.
PartsMaker = Callable[[NarratedTurn, int], ExtraParts | None]
#: The reason of the move that a meaning of the message causes.
_MOVES_BY_MEANING: Mapping[str, str] = {
    MessageIntent.ABANDON: "abandoned",
    MessageIntent.CONFIRMATION: "confirmed",
    MessageIntent.MODIFICATION: "modification",
    MessageIntent.NEW_TASK: "new_task",
    MessageIntent.UNCLEAR: "unclear",
}


def find_given(turn: NarratedTurn, index: int) -> ExtraParts | None:
    """The fields that the message gave, with values if an event has them, and those whose offer the user accepted.

    A part without fields is empty. Returns None if the sentences about corrections already name all fields.
    """
    event = turn.events[index]
    read = event.payload.get("read")
    corrected = [
        correction.payload.get("field")
        for correction in turn.events[:index]
        if correction.name == CORRECTION_STEP_CORRECTION_PATCH_APPLIED
    ]
    if not isinstance(read, list) or not read:
        return {"given": ()} if not corrected or event.payload.get("refused") else None
    uncorrected = [path for path in read if path not in corrected]
    if not uncorrected:
        return None
    extraction = turn.before(index, SCHEMA_EXTRACTION_DETERMINISTIC)
    extracted = extraction.payload.get("extracted") if extraction else None
    if extraction and isinstance(extracted, (list, Mapping)) and len(extracted) == len(uncorrected):
        return {"given": turn.fill(extraction, "{extracted:data}"), "accepted": ()}
    return _split_by_source(turn, event, uncorrected)


def _split_by_source(turn: NarratedTurn, event: Event, paths: Sequence[str]) -> ExtraParts:
    """The fields that the message gave, and those whose offered value the user accepted."""
    sources = event.payload.get("by")
    accepted = {path for path in paths if isinstance(sources, Mapping) and sources.get(path) == OFFER}
    return {
        name: join_parts(
            [(_name_read_field(turn, event, path),) for path in paths if (path in accepted) is is_accepted]
        )
        for name, is_accepted in (("given", False), ("accepted", True))
    }


def _name_read_field(turn: NarratedTurn, event: Event, path: str) -> Fact:
    """A field that was read. One without a value in the context was skipped by the user: "no phone number"."""
    context = event.state.get("context")
    is_skipped = isinstance(context, Mapping) and find_value(context, path) is None
    title = write_fields("field", path, turn.specs)
    return Fact(f"no {title}" if is_skipped else title, path, event.row.seq, ("read",))


def check_status(turn: NarratedTurn, index: int) -> ExtraParts | None:
    """Returns None for a complete form if the message gave none of its fields, else no parts."""
    is_old = turn.events[index].payload.get("schemaComplete") and not any(
        event.name == FIELDS_READ and event.payload.get("read") for event in turn.events[:index]
    )
    return None if is_old else {}


def find_action(turn: NarratedTurn, index: int) -> ExtraParts | None:
    """The action of an event by its row, else by its key, and why it ran or did not: what the user chose or said.

    Returns None for an action that was open and no longer waits at the end of the turn.
    """
    event = turn.events[index]
    if event.name == PENDING_ACTION_LIFECYCLE and event.payload.get("event") == "OPEN" and not _waits(turn, index):
        return None
    parts = {
        "action": _find_decided_row(
            turn, index, rows.PendingAction, DecisionKind.PENDING_ACTION, actionKey="action_key"
        )
        or turn.fill(event, "the action {actionKey}")
        or turn.fill(event, "the action {pendingActionRef}")
    }
    if chosen := turn.before(index, DISAMBIGUATION_RESOLVED):
        return parts | {"cause": turn.fill(chosen, "the user chose it with {reply:said}")}
    decided = turn.before(index, INTERACTION_POLICY_DECIDED)
    says_so = decided is not None and decided.payload.get("dialogueAct") in (DialogueAct.AFFIRM, DialogueAct.NEGATE)
    is_told = decided and says_so and check_act(turn, turn.events.index(decided)) is not None
    return parts | {"cause": turn.fill(decided, "the user {dialogueAct:act}") if decided and is_told else ()}


def _waits(turn: NarratedTurn, index: int) -> bool:
    """True if an action that was open still waits at the end of the turn: in its intent and state, and asked about."""
    scope, end = turn.events[index].state, turn.after(index, ENGINE_RETURN)
    is_left = end is not None and any(
        name in scope and end.payload.get(name) != scope[name] for name in ("intent", "state")
    )
    asks_else = turn.after(index, FORM_LEAVE_ASKED) or turn.after(index, ASSISTANT_OUTPUT, responseType="QUESTION")
    return not is_left and asks_else is None


def check_act(turn: NarratedTurn, index: int) -> ExtraParts | None:
    """Returns None for a no that is only the wish to stop, else no parts."""
    understood = turn.before(len(turn.events), MESSAGE_UNDERSTOOD)
    listed = understood.payload.get("moves") if understood else None
    moves = {move["move"] for move in listed or () if isinstance(move, Mapping)}
    is_no = turn.events[index].payload.get("dialogueAct") == DialogueAct.NEGATE
    return None if is_no and MoveKind.LEAVE in moves and MoveKind.NEGATE not in moves else {}


def find_source(turn: NarratedTurn, index: int) -> ExtraParts:
    """The row of fetched data; empty if no decision before the event chose one that fits it."""
    return {
        "source": _find_decided_row(
            turn, index, rows.ContainerConfig, DecisionKind.CONTAINER, containerId="container_id"
        )
    }


def _find_decided_row(
    turn: NarratedTurn, index: int, row_type: type[rows.Row], kind: DecisionKind, **keys: str
) -> Parts:
    """The row that the nearest decision of a kind chose, unless a key of the payload contradicts its column.

    `keys` has the column for each key of the payload. Empty if there is no such row.
    """
    payload = turn.events[index].payload
    decision = turn.before(index, DECISION, kind=kind.value)
    pk = decision.payload.get("winner") if decision else None
    row = turn.row(row_type, pk) if pk is not None else None
    named = {column: payload[key] for key, column in keys.items() if payload.get(key) is not None}
    if decision is None or row is None or any(getattr(row, column) != value for column, value in named.items()):
        return ()
    return (Fact(row_name(row_type.table, pk), pk, decision.row.seq, ("winner",), RowRef(row_type.table, pk)),)


def find_move(turn: NarratedTurn, index: int) -> ExtraParts | None:
    """Where moves with the same reason began, and the reason.

    What the user means is no reason in a turn that did not understand the message. Returns None for moves of nearly
    every turn, for moves that changed nothing together, and for all but the last of those with the same reason.
    """
    event = turn.events[index]
    reason = event.payload.get("reason")
    same = [other for other in turn.events if other.name == SESSION_LIFECYCLE and other.payload.get("reason") == reason]
    if reason in ROUTINE_MOVES or event is not same[-1] or same[0].payload.get("from") == event.payload.get("to"):
        return None
    is_meant = reason in _MOVES_BY_MEANING.values() and NOT_UNDERSTOOD in turn.stages
    why = () if is_meant else turn.fill(event, "{reason:phrase lifecycle}")
    return {"first": turn.fill(same[0], "{from:lifecycle}"), "why": why}


def check_meaning(turn: NarratedTurn, index: int) -> ExtraParts | None:
    """Returns None where a move of the session says what the message means, else no parts."""
    reason = _MOVES_BY_MEANING.get(str(turn.events[index].payload.get("messageIntent")))
    is_told = turn.after(-1, SESSION_LIFECYCLE, reason=reason) is not None
    return None if is_told else {}


def find_declined(turn: NarratedTurn, index: int) -> ExtraParts:
    """The asked field, if the message surely says that the user does not answer; else no parts."""
    understood = turn.before(index, MESSAGE_UNDERSTOOD)
    sure, _ = list_moves(understood.payload if understood else {})
    is_declined = any(move["move"] == MoveKind.SKIP for move in sure)
    return {"declined": turn.fill(turn.events[index], "{asked_field:field}")} if is_declined else {}


def check_tool_call(turn: NarratedTurn, index: int) -> ExtraParts | None:
    """Returns None for a call that was left out or not made again, else no parts."""
    result = turn.after(index, TOOL_ORCHESTRATION_RESULT, tool_code=turn.events[index].payload.get("tool_code"))
    is_made = result is None or not (
        result.payload.get("reused") or str(result.payload.get("status")).startswith("SKIPPED")
    )
    return {} if is_made else None


#: The parts for the templates of stages.
PARTS: Mapping[str, PartsMaker] = {
    INTENT_CLASSIFIER_NO_MATCH: intent_narrators.find_likeliest,
    INTENT_RESOLVED_BY_CLASSIFIER: intent_narrators.find_user_choice,
    **dict.fromkeys(intent_narrators.KEPT, intent_narrators.find_kept_intent),
    **dict.fromkeys(
        (
            PENDING_ACTION_LIFECYCLE,
            PENDING_ACTION_EXECUTED,
            PENDING_ACTION_FAILED,
            PENDING_ACTION_REJECTED,
            PENDING_ACTION_SKIPPED,
        ),
        find_action,
    ),
    **dict.fromkeys((CONTAINER_DATA_EXECUTED, CONTAINER_DATA_FAILED), find_source),
    FORM_CLEARED: find_cleared,
    CONVERSATION_RESET: find_cleared,
    FIELDS_READ: find_given,
    SCHEMA_STATUS: check_status,
    SESSION_LIFECYCLE: find_move,
    MESSAGE_INTENT_CLASSIFIED: check_meaning,
    DIALOGUE_ACT_CLASSIFIED: check_act,
    NOT_UNDERSTOOD: find_declined,
    TOOL_ORCHESTRATION_REQUEST: check_tool_call,
}

#: How an answer was made, by its kind.
_ANSWERS: Mapping[str, str] = {
    "POLICY": "Answered with the text of {policyId:row ce_policy}",
    "OVERRIDE": "Answered {source:phrase answered_by}",
    "COLLISION": "Asked the user which intent is meant",
    "QUESTION": "Asked the user",
    "DERIVED": "Answered with {responseId:row ce_response}, as the model wrote it",
    "EXACT": "Answered with {responseId:row ce_response}",
}
_OF_ROW = "Answered with {responseId:row ce_response}"
#: For a row whose own text could not be used, or that a model should have answered.
_FALLBACK = "Answered with the fallback text instead of {responseId:row ce_response}"
_FIXED = "Answered with {responseId:row ce_response}, by its fixed text, because "
_MODEL_FAILED, _NO_MODEL = "the model gave no answer", "no model is configured or no prompt template fits"


def narrate_answer(turn: NarratedTurn, index: int) -> Iterator[Sentence]:
    """The answer as far as its row, policy or code made it, then each change by other code."""
    event = turn.events[index]
    changes = [
        change
        for change in turn.events[:index]
        if change.name == RESPONSE_TRANSFORMED and change.payload.get("responseId") == event.payload.get("responseId")
    ]
    how = turn.fill(event, _choose_answer_template(turn, index)) or turn.fill(event, _OF_ROW) or ("Answered",)
    answer = turn.fill(changes[0], "{before:said}") if changes else turn.fill(event, "{output:said}")
    yield build_sentence(event, (*how, ": ", *answer) if answer else (*how, "."), Tone.GOOD)
    for change in changes:
        yield from narrate_by_template(turn, change, RESPONSE_TRANSFORMED)


def _choose_answer_template(turn: NarratedTurn, index: int) -> str:
    """The template for how an answer was made, by its kind, or by the events that say that a row's own text failed."""
    event = turn.events[index]
    kind, row_id = str(event.payload.get("responseType")), event.payload.get("responseId")
    if row_id is not None and turn.before(index, EXACT_RESPONSE_RENDERING, responseId=row_id):
        return _FALLBACK
    if kind == "DERIVED" and turn.before(index, RESPONSE_EXACT):
        return _FIXED + (_MODEL_FAILED if turn.before(index, RESOLVE_RESPONSE_LLM_ERROR) else _NO_MODEL)
    return _ANSWERS.get(kind, "Answered")


def narrate_transformed(turn: NarratedTurn, index: int) -> Iterator[Sentence]:
    """A change of the answer, unless the sentence about the answer says it."""
    event = turn.events[index]
    if turn.after(index, ASSISTANT_OUTPUT, responseId=event.payload.get("responseId")) is None:
        yield from narrate_by_template(turn, event, RESPONSE_TRANSFORMED)


def narrate_block(turn: NarratedTurn, index: int) -> Iterator[Sentence]:
    """A policy that blocked the message; its pattern on demand."""
    event = turn.events[index]
    pattern = event.payload.get("pattern")
    for sentence in narrate_by_template(turn, event, POLICY_BLOCK):
        yield replace(sentence, patterns=(f"/{pattern}/",) if isinstance(pattern, str) else ())


#: Stages whose sentences no template makes.
NARRATORS: Mapping[str, Narrator] = {
    **intent_narrators.NARRATORS,
    **rule_narrators.NARRATORS,
    ASSISTANT_OUTPUT: narrate_answer,
    RESPONSE_TRANSFORMED: narrate_transformed,
    POLICY_BLOCK: narrate_block,
}


def narrate_event(turn: NarratedTurn, index: int) -> Iterator[Sentence]:
    """The sentences about one event. Stages of the deployment have none."""
    event = turn.events[index]
    is_found = event.name == CONVERSATION_LOADED or find_stage(event.name).family in _OF_SESSIONS
    if is_found and turn.after(index, SESSION_LIFECYCLE, reason=NEW_TASK):
        # It is of one session, before the message began the next one.
        return
    if narrator := NARRATORS.get(event.name):
        yield from narrator(turn, index)
    elif stage := STAGES.get(event.name):
        extra = PARTS[event.name](turn, index) if event.name in PARTS else {}
        if extra is not None:
            yield from narrate_by_template(turn, event, stage, extra)
