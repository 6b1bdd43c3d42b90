"""Sentences that need more than one event, or the release: a function per stage or kind of decision.

Those on intents and on rules have modules of their own; here are data, actions, answers and other decisions.
"""

from collections.abc import Iterator, Mapping

from audit.narration import intent_narrators, rule_narrators
from audit.narration.narrate import NarratedTurn, Narrator, build_sentence, fill_template, narrate_by_template
from audit.narration.sentence import Sentence
from convengine.engine.rules.actions.set_state import SET_STATE
from convengine.engine.steps.actions.stages import (
    PENDING_ACTION_EXECUTED,
    PENDING_ACTION_FAILED,
    PENDING_ACTION_LIFECYCLE,
    PENDING_ACTION_REJECTED,
)
from convengine.engine.steps.forms.stages import SCHEMA_STATUS
from convengine.engine.steps.tools.stages import MCP_SKIPPED
from convengine.engine.threads.stages import MESSAGE_INTENT_CLASSIFIED
from convengine.engine.turn.enums import DecisionKind, MessageIntent
from convengine.engine.turn.stage import Tone
from convengine.engine.turn.stages import ASSISTANT_OUTPUT, DECISION

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


def narrate_answer(turn: NarratedTurn, index: int) -> Iterator[Sentence]:
    """The answer, and its intent and state."""
    event = turn.events[index]
    template = _ANSWERS.get(str(event.payload.get("responseType")), "Answered")
    how = (
        fill_template(event, template)
        or fill_template(event, "Answered[ with {responseId:row ce_response}]")
        or ("Answered",)
    )
    yield build_sentence(event, (*how, *(fill_template(event, ": {output:said}") or (".",))), Tone.GOOD)


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
    f"{DECISION}:{DecisionKind.CONTAINER}": narrate_choice("Selected {winner:row ce_container_config} to fetch data."),
    f"{DECISION}:{DecisionKind.PENDING_ACTION}": narrate_choice("Selected {winner:row ce_pending_action}."),
}
