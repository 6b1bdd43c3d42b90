"""How the intent was found, kept, or asked for."""

from collections.abc import Iterator, Mapping
from typing import Any

from audit.account.making import Maker, Say, Scene, sentence, told
from audit.account.sentence import Fact, Parts, RowRef, Sentence, Tone
from audit.account.wording import plain, row_name, said
from audit.expand import Event
from convengine.domain import rows
from convengine.domain.enums import ClassifierType
from convengine.domain.stages import Stage

Json = Any
_TABLE = rows.Classifier.table
_ROWS = "matchedByRule"
#: How many classifiers are told of; all stand in the event.
_MOST = 3
#: How a classifier of a kind fits.
_FITS: Mapping[str, str] = {
    ClassifierType.REGEX: "the message matches ",
    ClassifierType.EXACT: "the message is ",
    ClassifierType.CONTAINS: "the message contains ",
    ClassifierType.SEMANTIC: "the message means the same as ",
}


def matched(scene: Scene, place: int) -> Iterator[Sentence]:
    """Classifiers that fit and agree."""
    event = scene.events[place]
    told_of = told(event, "Understood as {intent}")
    if told_of:
        yield sentence(event, (*told_of, *_because(scene, event), "."))


def resolved(scene: Scene, place: int) -> Iterator[Sentence]:
    """What classifiers found, where the event that says how was filtered out."""
    event = scene.events[place]
    parts = told(event, "Understood as {resolvedIntent}, by the classifiers.")
    if parts and scene.before(place, Stage.INTENT_CLASSIFICATION_MATCHED) is None:
        yield sentence(event, parts)


def collided(scene: Scene, place: int) -> Iterator[Sentence]:
    """Classifiers that fit and do not agree."""
    event = scene.events[place]
    if told_of := told(event, "Could not tell {matchedIntents:names} apart"):
        yield sentence(event, (*told_of, *_because(scene, event), "."), Tone.WARNING)


def accepted(scene: Scene, place: int) -> Iterator[Sentence]:
    """The model's intent, or the option that the user chose."""
    event = scene.events[place]
    how = told(event, " {by:phrase read_by}") or (" by the model", *told(event, ", {confidence:percent} sure"))
    yield sentence(event, (*(told(event, "Understood as {intent}") or ("Understood",)), *how, "."))


def asked_back(scene: Scene, place: int) -> Iterator[Sentence]:
    """The model's question, unless the collision that it is about told it."""
    event = scene.events[place]
    parts = told(event, "The model wants the user asked: {question:said}.")
    if parts and scene.before(place, Stage.INTENT_AGENT_COLLISION) is None:
        yield sentence(event, parts)


def _because(scene: Scene, event: Event) -> Parts:
    found = event.payload.get(_ROWS)
    if not isinstance(found, Mapping) or not found:
        return ()
    reasons: list[str | Fact] = []
    for pk in list(found)[:_MOST]:
        reasons += [" and " if reasons else ", because ", *_reason(scene, event, pk)]
    more = len(found) - _MOST
    return (*reasons, *((" and other classifiers fit too",) if more > 0 else ()))


def _reason(scene: Scene, event: Event, pk: str) -> Parts:
    """Why one classifier fits; what it says stands in the release."""
    seq, ref = event.row.seq, RowRef(_TABLE, int(pk) if pk.isdecimal() else pk)
    name = Fact(row_name(_TABLE, pk), pk, seq, (_ROWS,), ref)
    row = scene.row(rows.Classifier, pk)
    kind = ClassifierType.read(row.rule_type) if row else None
    if row is None or kind is None or not row.pattern:
        return (name, " fits")
    text = f"/{plain(row.pattern)}/" if kind == ClassifierType.REGEX else said(row.pattern)
    return (
        _FITS.get(kind, "the message fits "),
        Fact(text, row.pattern, seq, (_ROWS,), ref, "pattern"),
        " (",
        name,
        ")",
    )


MAKERS: Mapping[str, Maker] = {
    Stage.INTENT_RESOLVE_START: (),
    Stage.INTENT_RESOLVE_FORCED: (Say("Looked for the intent anew, because {signal} asks for it."),),
    Stage.INTENT_RESOLVE_SKIPPED_SCHEMA_COLLECTION: (
        Say("Kept the intent {intent}[, because {intentLockReason:phrase lock}]."),
    ),
    Stage.INTENT_RESOLVE_SKIPPED_POLICY: (Say("Kept the intent {intent}[, because {reason:phrase kept}]."),),
    Stage.INTENT_RESOLVE_SKIPPED_STICKY_INTENT: (Say("Kept the intent {intent}[, because {reason:phrase kept}]."),),
    Stage.INTENT_RESOLVE_NO_CHANGE: (Say("Kept the intent, because {reason:phrase unchanged}."),),
    Stage.INTENT_RESOLVE_NEEDS_CLARIFICATION: (),
    Stage.INTENT_CLASSIFICATION_MATCHED: matched,
    Stage.INTENT_CLASSIFIER_COLLISION: collided,
    Stage.INTENT_CLASSIFIER_NO_MATCH: (Say("No classifier fits the message."),),
    Stage.INTENT_AGENT_SKIPPED: (Say("Did not ask the model for the intent: {reason:phrase agent}."),),
    Stage.INTENT_AGENT_LLM_INPUT: (),
    Stage.INTENT_AGENT_LLM_OUTPUT: (),
    Stage.INTENT_AGENT_LLM_ERROR: (
        Say("The model could not find the intent[: {message}][ ({errorCode})].", tone=Tone.WARNING),
    ),
    Stage.INTENT_AGENT_SCORES: (),
    Stage.INTENT_AGENT_COLLISION: (Say("The model could not tell apart which intent is meant[: {question:said}]."),),
    Stage.INTENT_AGENT_CLARIFICATION_SUPPRESSED_SCHEMA_FLOW: (
        Say("Left out the model's question [{question:said}]: the data of {intent} is collected instead."),
    ),
    Stage.INTENT_AGENT_NEEDS_CLARIFICATION: asked_back,
    Stage.INTENT_AGENT_REJECTED: (
        Say(
            "Did not take the model's intent[ {intent}]: {reason:phrase rejected}[ ({confidence:percent} sure)].",
            tone=Tone.WARNING,
        ),
    ),
    Stage.INTENT_AGENT_ACCEPTED: accepted,
    Stage.INTENT_RESOLVED_BY_CLASSIFIER: resolved,
    Stage.INTENT_RESOLVED_BY_AGENT: (),
    Stage.INTENT_MISSING: (Say("No intent was found, so it is {fallbackIntent}."),),
    Stage.STATE_MISSING: (Say("There was no state, so it is {fallbackState}."),),
    Stage.INTENT_UNRESOLVED: (
        Say("Nothing says what the user wants, so the intent stays unknown.", tone=Tone.WARNING),
    ),
    Stage.INTENT_COLLISION_DETECTED: (),
    Stage.INTENT_COLLISION_RESOLVED: (),
}
