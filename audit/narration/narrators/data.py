"""Data: fetched, read from the message, and missing."""

from collections.abc import Iterator, Mapping

from audit.narration.narrate import NarratedTurn, Narrator, build_sentence, fill_template
from audit.narration.sentence import Sentence
from convengine.engine.rules.actions.set_state import SET_STATE
from convengine.engine.steps.forms.stages import SCHEMA_STATUS
from convengine.engine.turn.stages import ASSISTANT_OUTPUT

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


NARRATORS: Mapping[str, Narrator] = {
    SCHEMA_STATUS: narrate_data_status,
}
