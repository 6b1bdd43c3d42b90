"""What the user does with the message: acts, what they decide, corrections, and questions which action is meant."""

from collections.abc import Mapping

from audit.account.making import Maker, Say
from audit.account.sentence import Tone
from convengine.domain.stages import Stage

_NOT_NEW = frozenset({"EXECUTE_PENDING_ACTION", "REJECT_PENDING_ACTION", "FILL_PENDING_SLOT"})

MAKERS: Mapping[str, Maker] = {
    Stage.DIALOGUE_ACT_LLM_INPUT: (),
    Stage.DIALOGUE_ACT_LLM_OUTPUT: (),
    Stage.DIALOGUE_ACT_LLM_ERROR: (
        Say("The model could not tell what the user does[: {message}]; the patterns decided.", tone=Tone.WARNING),
    ),
    Stage.DIALOGUE_ACT_CLASSIFIED: (
        Say(
            "Took the message as {dialogueAct} although the model said {llmCandidate}, which was not believed here.",
            {"guardApplied": True},
            Tone.WARNING,
        ),
        Say(
            "Took the message as {dialogueAct}: the user {dialogueAct:act}[ ({dialogueActSource:phrase source}"
            ", {dialogueActConfidence:percent} sure)][, and read it as {standaloneQuery:said}]."
        ),
    ),
    Stage.DIALOGUE_ACT_FINAL: (Say("A rule overruled that: the act is {dialogueAct}."),),
    Stage.INTERACTION_POLICY_DECIDED: (
        Say("Saw in it {policyDecision:phrase decision}.", {"policyDecision": _NOT_NEW}),
    ),
    Stage.CORRECTION_STEP_CONFIRM_ACCEPT: (Say("The user confirmed the collected data.", tone=Tone.GOOD),),
    Stage.CORRECTION_STEP_RETRY_REQUESTED: (Say("The user wants the last work done again."),),
    Stage.CORRECTION_STEP_CORRECTION_PATCH_APPLIED: (
        Say("Corrected {field}[ from {previousValue}] to {value}, as the user asked."),
    ),
    Stage.CORRECTION_STEP_CONFIRM_REFUSED: (
        Say(
            "Did not take the yes as a confirmation, because {missingFields:names} is still missing.", tone=Tone.WARNING
        ),
        Say("Did not take the yes as a confirmation.", tone=Tone.WARNING),
    ),
    Stage.CORRECTION_STEP_PATCH_NOT_APPLIED: (
        Say("Saw that the user corrects something, but could not apply it: {reason}[ ({field})].", tone=Tone.WARNING),
    ),
    Stage.DISAMBIGUATION_LLM_INPUT: (),
    Stage.DISAMBIGUATION_LLM_OUTPUT: (),
    Stage.DISAMBIGUATION_LLM_ERROR: (
        Say("The model could not word the question[: {message}]; the built one was asked.", tone=Tone.WARNING),
    ),
    Stage.DISAMBIGUATION_REQUIRED: (
        Say("Asked which action is meant, because {candidateCount} fit: {options:names}."),
    ),
    Stage.DISAMBIGUATION_RESOLVED: (Say("The answer {reply:said} means the action {actionKey}."),),
}
