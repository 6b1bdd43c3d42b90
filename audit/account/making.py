"""How sentences are made of events: by templates where one event says it all, by a function where several do."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from audit.account.sentence import Fact, Parts, Sentence, Tone
from audit.account.wording import tell
from audit.expand import Event
from convengine import conf
from convengine.domain import rows
from convengine.domain.snapshot import Snapshot
from convengine.domain.stage_help import HELP
from convengine.domain.stages import Stage

Json = Any


class Say(NamedTuple):
    """A template of `wording.py`, and for which payloads it is."""

    template: str
    #: Keys of the payload and what they must be; a set admits each of its members.
    when: Mapping[str, Json] = {}
    tone: Tone = Tone.PLAIN

    def fits(self, payload: Mapping[str, Json]) -> bool:
        """True when the template is for this payload."""
        return all(
            payload.get(key) in value if isinstance(value, frozenset) else payload.get(key) == value
            for key, value in self.when.items()
        )


@dataclass(frozen=True)
class Scene:
    """A turn that is told of."""

    events: Sequence[Event]

    @cached_property
    def snapshot(self) -> Snapshot:
        """The configuration that it ran on."""
        snapshot: Snapshot = conf.load("SNAPSHOT").at(self.events[0].row.config_version)
        return snapshot

    def row(self, row_type: type[rows.Row], pk: Json) -> Any:
        """A row as it stood then; null where there is none of that key."""
        found = self.snapshot.row(row_type, pk)
        return found if found else self.snapshot.row(row_type, int(pk)) if str(pk).isdecimal() else None

    def before(self, place: int, name: str, **having: Json) -> Event | None:
        """The nearest event of a stage in front of a place."""
        return next(_found(reversed(self.events[:place]), name, having), None)

    def behind(self, place: int, name: str, **having: Json) -> Event | None:
        """The nearest one behind it."""
        return next(_found(self.events[place + 1 :], name, having), None)


#: Tells of the event at a place of the turn.
Tell = Callable[[Scene, int], Iterator[Sentence]]
#: Of templates the first that fits is used; none of them, and nothing is said.
Maker = tuple[Say, ...] | Tell


def sentences(maker: Maker, scene: Scene, place: int) -> Iterator[Sentence]:
    """What is to be said of an event."""
    if not isinstance(maker, tuple):
        yield from maker(scene, place)
        return
    event = scene.events[place]
    fitting = [say for say in maker if say.fits(event.payload)]
    for say in fitting:
        if parts := tell(say.template, event.payload, event.row.seq):
            yield sentence(event, parts, say.tone)
            return
    if fitting:
        # What it needs is not there: it was redacted or erased. That it happened is told all the same.
        yield sentence(event, (HELP[Stage(event.name)],), fitting[0].tone)


def sentence(event: Event, parts: Parts, tone: Tone = Tone.PLAIN) -> Sentence:
    """A sentence about an event, resting on it and on every event that its facts stand in."""
    kind = f"{event.name}:{event.payload.get('kind')}" if event.name == Stage.DECISION else event.name
    if len(parts) > 1 and parts[-1] == "." and _ends(parts[-2]):
        parts = parts[:-1]
    facts = (part.seq for part in parts if not isinstance(part, str))
    return Sentence(kind, Stage(event.name).family, tone, parts, tuple(sorted({event.row.seq, *facts})))


def told(event: Event, template: str) -> Parts:
    """A template about an event; nothing where a fact is missing."""
    return tell(template, event.payload, event.row.seq) or ()


def _ends(part: str | Fact) -> bool:
    """True for what ends as a sentence does, in quotation marks or not."""
    return (part if isinstance(part, str) else part.text).rstrip("”").endswith((".", "?", "!", "…"))


def _found(events: Any, name: str, having: Mapping[str, Json]) -> Iterator[Event]:
    return (
        event
        for event in events
        if event.name == name and all(event.payload.get(key) == value for key, value in having.items())
    )
