"""The account of a turn: what happened and why, in plain words, each sentence with the events that it rests on."""

from collections.abc import Sequence

from audit.account.makers import MAKERS
from audit.account.making import Scene, sentences
from audit.account.sentence import Fact, RowRef, Sentence, Tone
from audit.expand import Event
from convengine.domain.stages import Stage

__all__ = ["Fact", "RowRef", "Sentence", "Tone", "account"]


def account(events: Sequence[Event]) -> list[Sentence]:
    """The events of one turn as sentences, in order. A stage of the deployment's own is not told of."""
    scene = Scene(events)
    return [
        sentence
        for place, event in enumerate(events)
        if (maker := MAKERS.get(_key(event))) is not None
        for sentence in sentences(maker, scene, place)
    ]


def _key(event: Event) -> str:
    return f"{event.name}:{event.payload.get('kind')}" if event.name == Stage.DECISION else event.name
