"""The answer of the user, and its row."""

from collections.abc import Iterator, Mapping

from audit.narration.narrate import NarratedTurn, Narrator, build_sentence, fill_template
from audit.narration.sentence import Sentence
from convengine.engine.turn.stage import Tone
from convengine.engine.turn.stages import ASSISTANT_OUTPUT

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


NARRATORS: Mapping[str, Narrator] = {
    ASSISTANT_OUTPUT: narrate_answer,
}
