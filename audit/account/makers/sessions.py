"""The session around the turn: what it remembers, what the message means to it, and where it stands."""

from collections.abc import Mapping

from audit.account.making import Maker, Say
from audit.account.sentence import Tone
from convengine.domain.enums import MessageIntent
from convengine.domain.stages import Stage

_TELLING = frozenset(MessageIntent) - {MessageIntent.CONTINUATION}

MAKERS: Mapping[str, Maker] = {
    Stage.MEMORY_UPDATED: (),
    Stage.MEMORY_STORE_ERROR: (
        Say("The memory store {store} failed at {operation}[: {errorMessage}].", tone=Tone.ERROR),
    ),
    Stage.MEMORY_LLM_INPUT: (),
    Stage.MEMORY_LLM_OUTPUT: (Say("A model rewrote the summary: {output:said}."),),
    Stage.MEMORY_LLM_ERROR: (
        Say("The model could not sum up[: {message}]; the built summary stays.", tone=Tone.WARNING),
    ),
    Stage.SESSION_UNITS_LLM_INPUT: (),
    Stage.SESSION_UNITS_LLM_OUTPUT: (),
    Stage.SESSION_UNITS_LLM_ERROR: (
        Say("The model could not note anything for later[: {message}].", tone=Tone.WARNING),
    ),
    Stage.SESSION_LIFECYCLE: (
        Say("The session went from {from:lifecycle} to {to:lifecycle}[: {reason:phrase lifecycle}]."),
    ),
    Stage.DATA_ERASED: (Say("What the conversation held was erased by {by}[: {reason}].", tone=Tone.WARNING),),
    Stage.MESSAGE_INTENT_CLASSIFIED: (
        Say("To its session the message is {messageIntent:phrase meant}.", {"messageIntent": _TELLING}),
    ),
}
