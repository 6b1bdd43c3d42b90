"""Actions that need a yes: proposed, confirmed, refused, run, failed."""

from collections.abc import Iterator, Mapping

from audit.account.making import Maker, Say, Scene, sentence, told
from audit.account.sentence import Sentence, Tone
from convengine.domain.stages import Stage

#: What a change of an action is, where no other stage tells it.
_EVENTS: Mapping[str, str] = {
    "EXPIRED": "The action {actionKey} was not confirmed in time, and is not open any more.",
    "REVERTED": "The action {actionKey} is open as before.",
}


def changed(scene: Scene, place: int) -> Iterator[Sentence]:
    """One change. An action often opens in the turn of the yes itself: only else something was waited for."""
    event = scene.events[place]
    kind = event.payload.get("event")
    template = _EVENTS.get(str(kind))
    if kind == "OPEN":
        settled = (Stage.PENDING_ACTION_EXECUTED, Stage.PENDING_ACTION_FAILED, Stage.PENDING_ACTION_REJECTED)
        if any(scene.behind(place, stage) for stage in settled):
            return
        template = "Waited for a yes to the action {actionKey} ({actionRef})."
    if template and (parts := told(event, template)):
        yield sentence(event, parts)


MAKERS: Mapping[str, Maker] = {
    Stage.PENDING_ACTION_LIFECYCLE: changed,
    Stage.PENDING_ACTION_SKIPPED: (
        Say(
            "Did not run the action[ {actionKey}][ {pendingActionRef}]: {reason:phrase skipped}.",
            tone=Tone.WARNING,
        ),
    ),
    Stage.PENDING_ACTION_REJECTED: (Say("Dropped {pendingActionRef}, because the user said no."),),
    Stage.PENDING_ACTION_EXECUTED: (
        Say("Did not run the task {taskBean} again: it had run already, and its result counts.", {"reused": True}),
        Say(
            "Ran the task {taskBean} ({taskMethods:names}) once, because the user said yes[; it took {durationMs:ms}].",
            tone=Tone.GOOD,
        ),
        Say("Ran {pendingActionRef} once, because the user said yes.", tone=Tone.GOOD),
    ),
    Stage.PENDING_ACTION_FAILED: (
        Say(
            "Tried to run {pendingActionRef}, and it failed[: {reason}][ ({reasonText})].",
            tone=Tone.ERROR,
        ),
    ),
}
