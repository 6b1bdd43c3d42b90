"""Make sentences from events: by the templates of their stage, or by a narrator."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from audit.narration.sentence import Fact, Parts, Sentence
from audit.narration.wording import fill
from audit.record.events import Event
from convengine.engine.turn import rows
from convengine.engine.turn.snapshot import Snapshot
from convengine.engine.turn.stage import Stage, Tone, find_stage
from convengine.engine.turn.stages import DECISION
from convengine.server.interfaces.configuration import configuration

Json = Any


@dataclass(frozen=True)
class NarratedTurn:
    """The turn of an account."""

    events: Sequence[Event]
    #: The configuration of the turn, if it is not to be read from the database.
    release: Snapshot | None = None

    @cached_property
    def snapshot(self) -> Snapshot:
        """The configuration of the turn."""
        if self.release:
            return self.release
        snapshot: Snapshot = configuration().at(self.events[0].row.config_version or 0)
        return snapshot

    def row(self, row_type: type[rows.Row], pk: Json) -> Any:
        """A row as it was then, or null."""
        row = self.snapshot.row(row_type, pk)
        return row if row else self.snapshot.row(row_type, int(pk)) if str(pk).isdecimal() else None

    def before(self, index: int, name: str, **having: Json) -> Event | None:
        """The nearest event of a stage before an index."""
        return next(_matching_events(reversed(self.events[:index]), name, having), None)

    def after(self, index: int, name: str, **having: Json) -> Event | None:
        """The nearest event of a stage after an index."""
        return next(_matching_events(self.events[index + 1 :], name, having), None)


#: Describes the event at an index of the turn.
Narrator = Callable[[NarratedTurn, int], Iterator[Sentence]]


def narrate_by_template(event: Event, stage: Stage) -> Iterator[Sentence]:
    """Use the first template of the stage that fits the event."""
    fitting = [template for template in stage.sentences if template.fits(event.payload)]
    for template in fitting:
        if parts := fill(template.template, event.payload, event.row.seq):
            yield build_sentence(event, parts, template.tone)
            return
    if fitting:
        # A value was redacted or erased; the event is described without it.
        yield build_sentence(event, (stage.help,), fitting[0].tone)


def build_sentence(event: Event, parts: Parts, tone: Tone = Tone.PLAIN) -> Sentence:
    """A sentence about an event, based on it and on the events of its facts."""
    kind = f"{event.name}:{event.payload.get('kind')}" if event.name == DECISION else event.name
    if len(parts) > 1 and parts[-1] == "." and _ends_sentence(parts[-2]):
        parts = parts[:-1]
    facts = (part.seq for part in parts if not isinstance(part, str))
    return Sentence(kind, find_stage(event.name).family, tone, parts, tuple(sorted({event.row.seq, *facts})))


def fill_template(event: Event, template: str) -> Parts:
    """Fill a template with an event; nothing if a fact is missing."""
    return fill(template, event.payload, event.row.seq) or ()


def _ends_sentence(part: str | Fact) -> bool:
    """True for a text that ends like a sentence, with or without quotation marks."""
    return (part if isinstance(part, str) else part.text).rstrip("”").endswith((".", "?", "!", "…"))


def _matching_events(events: Any, name: str, having: Mapping[str, Json]) -> Iterator[Event]:
    return (
        event
        for event in events
        if event.name == name and all(event.payload.get(key) == value for key, value in having.items())
    )
