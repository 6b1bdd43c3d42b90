"""Sentences that need more than one event, or the release: a function per stage or kind of decision.

Those on intents and on rules have modules of their own; here are data, actions, answers and other decisions.
"""

from collections.abc import Iterator, Mapping

from audit.narration import intent_narrators, rule_narrators
from audit.narration.narrate import NarratedTurn, Narrator, build_sentence, fill_template, narrate_by_template
from audit.narration.sentence import Fact, Sentence
from audit.narration.wording import plain
from audit.record.events import Event
from convengine.engine.pending_actions.stages import PENDING_ACTION_LIFECYCLE
from convengine.engine.rules.actions.contract import ENGINE_BRANCHES
from convengine.engine.rules.actions.set_state import SET_STATE
from convengine.engine.steps.actions.stages import (
    PENDING_ACTION_EXECUTED,
    PENDING_ACTION_FAILED,
    PENDING_ACTION_REJECTED,
)
from convengine.engine.steps.forms.stages import SCHEMA_STATUS
from convengine.engine.steps.responses.stages import EXACT_RESPONSE_RENDERING, RESPONSE_EXACT
from convengine.engine.steps.tools.stages import MCP_SKIPPED
from convengine.engine.threads.stages import MESSAGE_INTENT_CLASSIFIED
from convengine.engine.turn.enums import DecisionKind, MessageIntent
from convengine.engine.turn.stage import Tone
from convengine.engine.turn.stages import ASSISTANT_OUTPUT, CONVERSATION_RESET, DECISION, RESPONSE_TRANSFORMED

#: Kinds of answers that are chosen for the state.
_BY_A_ROW = ("EXACT", "DERIVED")


def narrate_data_status(turn: NarratedTurn, index: int) -> Iterator[Sentence]:
    """Present and missing data. The engine asks for missing data if the turn ends in that state with a configured
    answer.
    """
    event = turn.events[index]
    if event.payload.get("schemaComplete"):
        parts = fill_template(event, "All required fields of {schemaId:row ce_output_schema} are filled in.")
    else:
        answer = turn.after(index, ASSISTANT_OUTPUT)
        by_a_row = answer is not None and answer.payload.get("responseType") in _BY_A_ROW
        asks = by_a_row and turn.after(index, SET_STATE) is None
        missing = "{missingRequiredFields:names}"
        parts = fill_template(
            event,
            f"Asked for {missing}, which {{schemaId:row ce_output_schema}} requires."
            if asks
            else f"Still missing in {{schemaId:row ce_output_schema}}: {missing}.",
        ) or fill_template(event, "Required fields of {schemaId:row ce_output_schema} are missing.")
    if parts:
        yield build_sentence(event, parts)


def narrate_meaning(turn: NarratedTurn, index: int) -> Iterator[Sentence]:
    """What the message means to its session. A question in between does not answer the open one."""
    event = turn.events[index]
    if event.payload.get("messageIntent") == MessageIntent.RESPONSE and turn.after(
        index, MCP_SKIPPED, reason="DIGRESSION"
    ):
        yield build_sentence(event, ("Another question was open when the user wrote.",))
    else:
        yield from narrate_by_template(event, MESSAGE_INTENT_CLASSIFIED)


#: Descriptions of action changes that no other stage reports.
_EVENTS: Mapping[str, str] = {
    "EXPIRED": "The action {actionKey} was not confirmed in time and is no longer open.",
    "REVERTED": "The action {actionKey} is open again.",
}


def narrate_action_change(turn: NarratedTurn, index: int) -> Iterator[Sentence]:
    """One change. An action often opens in the turn of the yes itself; then nothing was waiting."""
    event = turn.events[index]
    kind = event.payload.get("event")
    template = _EVENTS.get(str(kind))
    if kind == "OPEN":
        settled = (PENDING_ACTION_EXECUTED, PENDING_ACTION_FAILED, PENDING_ACTION_REJECTED)
        if any(turn.after(index, stage) for stage in settled):
            return
        template = "The action {actionKey} ({actionRef}) waits for confirmation."
    if template and (parts := fill_template(event, template)):
        yield build_sentence(event, parts)


#: How an answer was made, by its kind.
_ANSWERS: Mapping[str, str] = {
    "POLICY": "Answered with the text of {policyId:row ce_policy}",
    "OVERRIDE": "Answered {source:phrase answered_by}",
    "COLLISION": "Asked the user which intent is meant",
    "DERIVED": "Answered with {responseId:row ce_response}, as the model wrote it",
    "EXACT": "Answered with {responseId:row ce_response}",
}
#: Parts of the context that belong to the engine.
_OF_ENGINE = ENGINE_BRANCHES | {"dialogue"}
_OF_ROW = "Answered with {responseId:row ce_response}"
#: The same for a row whose own text could not be used, or whose model gave no answer.
_FALLBACK = "Answered with the fallback text instead of {responseId:row ce_response}"
_FIXED = "Answered with {responseId:row ce_response}, by its fixed text, because the model gave no answer"


def narrate_answer(turn: NarratedTurn, index: int) -> Iterator[Sentence]:
    """The answer as far as its row, policy or code made it, then each change by other code."""
    event = turn.events[index]
    how = fill_template(event, _choose_answer_template(turn, index)) or fill_template(event, _OF_ROW) or ("Answered",)
    changes = _list_changes(turn, index)
    own = fill_template(changes[0], ": {before:said}") if changes else fill_template(event, ": {output:said}")
    yield build_sentence(event, (*how, *(own or (".",))), Tone.GOOD)
    for change in changes:
        yield from narrate_by_template(change, RESPONSE_TRANSFORMED)


def _choose_answer_template(turn: NarratedTurn, index: int) -> str:
    event = turn.events[index]
    kind, row_id = str(event.payload.get("responseType")), event.payload.get("responseId")
    if row_id is not None and turn.before(index, EXACT_RESPONSE_RENDERING, responseId=row_id):
        return _FALLBACK
    if kind == "DERIVED" and turn.before(index, RESPONSE_EXACT):
        return _FIXED
    return _ANSWERS.get(kind, "Answered")


def _list_changes(turn: NarratedTurn, index: int) -> list[Event]:
    """The events about changes of the answer that an output event has."""
    row_id = turn.events[index].payload.get("responseId")
    return [
        event
        for event in turn.events[:index]
        if event.name == RESPONSE_TRANSFORMED and event.payload.get("responseId") == row_id
    ]


def narrate_transformed(turn: NarratedTurn, index: int) -> Iterator[Sentence]:
    """A change of the answer, unless the sentence about the answer says it."""
    event = turn.events[index]
    if turn.after(index, ASSISTANT_OUTPUT, responseId=event.payload.get("responseId")) is None:
        yield from narrate_by_template(event, RESPONSE_TRANSFORMED)


def narrate_reset(turn: NarratedTurn, index: int) -> Iterator[Sentence]:
    """Why the conversation was reset, and what it lost: its place, and the fields of its context."""
    event = turn.events[index]
    for sentence in narrate_by_template(event, CONVERSATION_RESET):
        context = event.payload.get("previousContext")
        names = [name for name in context if name not in _OF_ENGINE] if isinstance(context, Mapping) else []
        parts: list[str | Fact] = []
        for number, name in enumerate(names):
            joint = " Cleared " if not number else " and " if number == len(names) - 1 else ", "
            parts += [joint, Fact(plain(name), name, event.row.seq, ("previousContext",))]
        yield build_sentence(event, (*sentence.parts, *parts, "."), sentence.tone) if parts else sentence


def narrate_choice(template: str) -> Narrator:
    """Describes a decision that chose a row, once; nothing for one that chose none."""

    def tell(turn: NarratedTurn, index: int) -> Iterator[Sentence]:
        event = turn.events[index]
        again = turn.before(index, event.name, kind=event.payload["kind"], winner=event.payload.get("winner"))
        if not again and (parts := fill_template(event, template)):
            yield build_sentence(event, parts)

    return tell


NARRATORS: Mapping[str, Narrator] = {
    **intent_narrators.NARRATORS,
    **rule_narrators.NARRATORS,
    SCHEMA_STATUS: narrate_data_status,
    MESSAGE_INTENT_CLASSIFIED: narrate_meaning,
    PENDING_ACTION_LIFECYCLE: narrate_action_change,
    ASSISTANT_OUTPUT: narrate_answer,
    CONVERSATION_RESET: narrate_reset,
    RESPONSE_TRANSFORMED: narrate_transformed,
    f"{DECISION}:{DecisionKind.CONTAINER}": narrate_choice("Selected {winner:row ce_container_config} to fetch data."),
    f"{DECISION}:{DecisionKind.PENDING_ACTION}": narrate_choice("Selected {winner:row ce_pending_action}."),
}
