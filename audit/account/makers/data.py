"""Data: what was fetched, what was read out of the message, and what is missing."""

from collections.abc import Iterator, Mapping

from audit.account.making import Maker, Say, Scene, sentence, told
from audit.account.sentence import Sentence, Tone
from convengine.domain.stages import Stage

#: Answers that are chosen for the state in which the data is collected.
_BY_A_ROW = ("EXACT", "DERIVED")


def status(scene: Scene, place: int) -> Iterator[Sentence]:
    """What is there and what is missing. It is asked for where the turn ends in that state, with a row's answer."""
    event = scene.events[place]
    if event.payload.get("schemaComplete"):
        parts = told(event, "All data of {schemaId:row ce_output_schema} is there.")
    else:
        answer = scene.behind(place, Stage.ASSISTANT_OUTPUT)
        by_a_row = answer is not None and answer.payload.get("responseType") in _BY_A_ROW
        asks = by_a_row and scene.behind(place, Stage.SET_STATE) is None
        missing = "{missingRequiredFields:names}"
        parts = told(
            event,
            f"Asked for {missing}, because it was missing ({{schemaId:row ce_output_schema}})."
            if asks
            else f"Of {{schemaId:row ce_output_schema}} there was still missing: {missing}.",
        ) or told(event, "The data of {schemaId:row ce_output_schema} is not complete.")
    if parts:
        yield sentence(event, parts)


MAKERS: Mapping[str, Maker] = {
    Stage.CONTAINER_DATA_SKIPPED: (),
    Stage.CONTAINER_DATA_EXECUTED: (Say("Fetched {inputParam}[ in {durationMs:ms}]: {response}."),),
    Stage.CONTAINER_DATA_FAILED: (Say("Could not fetch {inputParam}: {error}.", tone=Tone.ERROR),),
    Stage.CONTAINER_DATA_ATTACHED: (),
    Stage.SCHEMA_EXTRACTION_START: (),
    Stage.SCHEMA_EXTRACTION_LLM_INPUT: (),
    Stage.SCHEMA_EXTRACTION_LLM_OUTPUT: (
        Say("The model read {json:data} out of the message[; {rejected:data} was refused]."),
        Say("The model read nothing out of the message."),
    ),
    Stage.SCHEMA_EXTRACTION_LLM_ERROR: (
        Say("The model could not read the message for data[: {message}][ ({errorCode})].", tone=Tone.WARNING),
    ),
    Stage.SCHEMA_EXTRACTION_DETERMINISTIC: (
        Say("Read {extracted:data} out of the message[; {rejected:data} was refused]."),
        Say("Read nothing out of the message: {rejected:data} was refused.", tone=Tone.WARNING),
        Say("Found no data in the message."),
    ),
    Stage.SCHEMA_STATUS: status,
    Stage.AUTO_ADVANCE_SKIPPED_NO_SCHEMA: (),
    Stage.AUTO_ADVANCE_FACTS: (),
}
