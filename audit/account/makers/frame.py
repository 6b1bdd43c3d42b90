"""What goes on around the steps: failures, what was lost, rows and settings that cannot be used, and decisions."""

from collections.abc import Iterator, Mapping

from audit.account.making import Maker, Say, Scene, sentence, told
from audit.account.sentence import Sentence, Tone
from convengine.domain.enums import DecisionKind
from convengine.domain.stages import Stage


def chosen(template: str) -> Maker:
    """Tells of a decision that chose a row, once; of one that chose none, nothing."""

    def tell(scene: Scene, place: int) -> Iterator[Sentence]:
        event = scene.events[place]
        again = scene.before(place, event.name, kind=event.payload["kind"], winner=event.payload.get("winner"))
        if not again and (parts := told(event, template)):
            yield sentence(event, parts)

    return tell


MAKERS: Mapping[str, Maker] = {
    Stage.STEP_ENTER: (),
    Stage.STEP_EXIT: (),
    Stage.STEP_ERROR: (Say("The step {step} failed: {errorMessage}", tone=Tone.ERROR),),
    Stage.STEP_HOOK_ERROR: (
        Say("The hook {hookClass} failed beside {step}: {errorMessage}. The turn went on.", tone=Tone.ERROR),
    ),
    Stage.ENGINE_RETURN: (),
    Stage.PIPELINE_TIMING: (),
    Stage.ENGINE_KNOWN_FAILURE: (
        Say(
            "The turn was stopped by a newer message, and nothing of it was saved.",
            {"errorCode": "TURN_INTERRUPTED"},
            Tone.WARNING,
        ),
        Say("So the turn failed with {errorCode}, and nothing of it was saved.", tone=Tone.ERROR),
    ),
    Stage.ENGINE_UNKNOWN_FAILURE: (
        Say(
            "The turn failed: {reason:phrase failure}. Nothing of it was saved.",
            {"reason": "LEASE_EXPIRED"},
            Tone.ERROR,
        ),
        Say(
            "So the turn failed unexpectedly with {exception}[: {message}], and nothing of it was saved.",
            tone=Tone.ERROR,
        ),
    ),
    Stage.AUDIT_EVENT_LOST: (
        Say("The database refused the event {stage}[: {reason}]; it is not in the record.", tone=Tone.ERROR),
    ),
    Stage.TURN_FAILED: (Say("What live viewers saw of this turn was not saved.", tone=Tone.ERROR),),
    Stage.CONFIG_VALUE_INVALID: (
        Say(
            "The setting {configType} / {configKey} cannot be used as it is written[: {reason}]; its default held.",
            tone=Tone.WARNING,
        ),
    ),
    Stage.CONFIG_ROW_INVALID: (
        Say(
            "The row {rowId} of {table} cannot be used as it is written, so the turn went on without it.",
            tone=Tone.WARNING,
        ),
    ),
    # Decisions that a stage of their own tells of say nothing here; what they chose from stands below the account.
    f"{Stage.DECISION}:{DecisionKind.POLICY}": (),
    f"{Stage.DECISION}:{DecisionKind.CLASSIFIER}": (),
    f"{Stage.DECISION}:{DecisionKind.SCHEMA}": (),
    f"{Stage.DECISION}:{DecisionKind.RESPONSE}": (),
    f"{Stage.DECISION}:{DecisionKind.TOOL}": (),
    f"{Stage.DECISION}:{DecisionKind.TEMPLATE}": (),
    f"{Stage.DECISION}:{DecisionKind.CONTAINER}": chosen(
        "Data is to be fetched: {winner:row ce_container_config} fits here."
    ),
    f"{Stage.DECISION}:{DecisionKind.PENDING_ACTION}": chosen(
        "The action of {winner:row ce_pending_action} fits here."
    ),
}
