"""How a turn begins: where the conversation stood, what came in, and what was begun anew."""

from collections.abc import Mapping

from audit.account.making import Maker, Say
from audit.account.sentence import Tone
from convengine.domain.stages import Stage

MAKERS: Mapping[str, Maker] = {
    Stage.CONVERSATION_CREATED: (Say("A new conversation began."),),
    Stage.CONVERSATION_LOADED: (
        Say("The conversation stood at {intent} / {state}, blocked by a policy.", {"status": "BLOCKED"}),
        Say("The conversation stood at {intent} / {state}."),
    ),
    Stage.USER_INPUT: (
        Say("The user wrote {text:said}[, and the caller sent {inputParamKeys:names}]."),
        Say("The caller sent {inputParamKeys:names}, without a message."),
        Say("A call came without a message."),
    ),
    Stage.INPUT_PARAM_IGNORED: (
        Say("Left out {keys:names}, which the caller sent and which belong to the engine.", tone=Tone.WARNING),
    ),
    Stage.CONTEXT_REPAIRED: (
        Say("Put the stored context right, which could not be read: {reason}.", tone=Tone.WARNING),
    ),
    Stage.CONTEXT_TRIMMED: (
        Say(
            "Dropped {dropped:names} of the context, which had grown to {bytes} bytes of {maxBytes}.", tone=Tone.WARNING
        ),
    ),
    Stage.CONVERSATION_RESET: (
        Say(
            "Began anew, because {reason:phrase reset}[: intent {matchedIntent}][; it had stood at {previousIntent} / "
            "{previousState}]."
        ),
    ),
    Stage.CACHE_INSPECTION: (),
}
