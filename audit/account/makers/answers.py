"""What the user was answered, and by which row."""

from collections.abc import Iterator, Mapping

from audit.account.making import Maker, Say, Scene, sentence, told
from audit.account.sentence import Sentence, Tone
from convengine.domain.stages import Stage

#: How an answer came about, by its kind.
_ANSWERS: Mapping[str, str] = {
    "POLICY": "Answered with the text of {policyId:row ce_policy}",
    "OVERRIDE": "Answered {source:phrase answered_by}",
    "COLLISION": "Answered with the question which intent is meant",
    "DERIVED": "Answered with {responseId:row ce_response}, as the model wrote it",
    "EXACT": "Answered with {responseId:row ce_response}",
}


def answered(scene: Scene, place: int) -> Iterator[Sentence]:
    """The answer, and what it was chosen for."""
    event = scene.events[place]
    template = _ANSWERS.get(str(event.payload.get("responseType")), "Answered")
    how = told(event, template) or told(event, "Answered[ with {responseId:row ce_response}]") or ("Answered",)
    yield sentence(event, (*how, *(told(event, ": {output:said}") or (".",))), Tone.GOOD)


MAKERS: Mapping[str, Maker] = {
    Stage.RESOLVE_RESPONSE: (),
    Stage.RESPONSE_MAPPING_NOT_FOUND: (Say("No response row fits {intent} / {state}.", tone=Tone.ERROR),),
    Stage.RESOLVE_RESPONSE_SELECTED: (Say("Had a model write the answer with {templateId:row ce_prompt_template}."),),
    Stage.RESOLVE_RESPONSE_LLM_INPUT: (),
    Stage.RESOLVE_RESPONSE_LLM_OUTPUT: (),
    Stage.RESOLVE_RESPONSE_LLM_ERROR: (
        Say("The model could not write the answer: {message}[ ({errorCode})].", tone=Tone.ERROR),
    ),
    Stage.RESPONSE_EXACT: (),
    Stage.EXACT_RESPONSE_RENDERING: (
        Say(
            "Could not fill in the text of the answer as it is[: {errorMessage}]; used {fallbackUsed} in its place.",
            tone=Tone.WARNING,
        ),
    ),
    Stage.PROMPT_RENDERING: (),
    Stage.RESPONSE_STATE_OVERRIDE: (
        Say("The model's answer moved the conversation to {toIntent} / {toState}.", {"applied": True}),
        Say("The model's answer wanted {toIntent} / {toState}, which was refused[: {reason}].", tone=Tone.WARNING),
    ),
    Stage.RESPONSE_TRANSFORM_FAILED: (
        Say("The transformer {transformer} failed[: {errorMessage}]; the answer stayed as it was.", tone=Tone.ERROR),
    ),
    Stage.ASSISTANT_OUTPUT: answered,
}
