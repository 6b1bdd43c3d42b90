"""A turn to narrate, the sentences of its events by the templates of their stages, and what they cleared first."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from audit.narration.reading import get_form_of_turn
from audit.narration.wording import Fact, Parts, Sentence, fill, get_text, join_parts, write_fields
from audit.record.events import Event
from convengine.engine.cached_property import cached_property
from convengine.engine.forms.stages import FORM_CLEARED
from convengine.engine.rules.actions.contract import ENGINE_BRANCHES
from convengine.engine.rules.stages import CLEAR_CONTEXT
from convengine.engine.turn import rows
from convengine.engine.turn.snapshot import Snapshot
from convengine.engine.turn.stage import Stage, Tone, find_stage
from convengine.engine.turn.stages import CONVERSATION_RESET
from convengine.engine.understanding.field import FieldSpec
from convengine.json_value import Json
from convengine.server.interfaces.configuration import configuration

#: Parts of a sentence that are not at a path of its event, by their name in templates.
ExtraParts = Mapping[str, Parts]


@dataclass(frozen=True)
class NarratedTurn:
    events: Sequence[Event]
    #: The configuration of the turn, if it is not to be read from the database.
    release: Snapshot | None = None

    @cached_property
    def snapshot(self) -> Snapshot:
        if self.release:
            return self.release
        snapshot: Snapshot = configuration().at(self.events[0].row.config_version or 0)
        return snapshot

    @cached_property
    def stages(self) -> frozenset[str]:
        return frozenset(event.name for event in self.events)

    @cached_property
    def specs(self) -> Mapping[str, FieldSpec]:
        """The fields of the turn's forms, by path."""
        named = (event.payload.get("schemaId") for event in self.events)
        schemas = (self.row(rows.OutputSchema, pk) for pk in dict.fromkeys(named) if pk is not None)
        forms = [get_form_of_turn(self.snapshot, schema, self.events) for schema in schemas if schema]
        return {field.path: field.spec for form in forms for field in form.leaves}

    def row(self, row_type: type[rows.Row], pk: Json) -> Any:
        return self.snapshot.find_row(row_type.table, str(pk))

    def before(self, index: int, name: str, **having: Json) -> Event | None:
        """The nearest event of a stage before an index."""
        return next(_matching_events(reversed(self.events[:index]), name, having), None)

    def after(self, index: int, name: str, **having: Json) -> Event | None:
        """The nearest event of a stage after an index."""
        return next(_matching_events(self.events[index + 1 :], name, having), None)

    def fill(self, event: Event, template: str, extra: ExtraParts | None = None) -> Parts:
        """Fill a template with an event; nothing if a fact is missing."""
        return fill(template, event.payload, event.row.seq, self.specs, extra or {}) or ()


#: Describes the event at an index of the turn.
Narrator = Callable[[NarratedTurn, int], Iterator[Sentence]]


def narrate_by_template(
    turn: NarratedTurn, event: Event, stage: Stage, extra: ExtraParts | None = None
) -> Iterator[Sentence]:
    """A sentence by the first template of the stage that fits the event and its turn, and whose facts are there.

    `extra` has the parts that are not in the payload. If no fitting template has its facts, a warning or an error gets
    the help text of the stage, others no sentence.
    """
    fitting = [template for template in stage.sentences if template.fits(event.payload, turn.stages)]
    for template in fitting:
        if parts := turn.fill(event, template.template, extra):
            yield build_sentence(event, parts, template.tone)
            return
    if fitting and fitting[0].tone in (Tone.WARNING, Tone.ERROR):
        # A value was redacted or erased; what went wrong is said without it.
        yield build_sentence(event, (stage.help,), fitting[0].tone)


def build_sentence(event: Event, parts: Parts, tone: Tone = Tone.PLAIN) -> Sentence:
    """A sentence about an event, based on it and on the events of its facts, with one sign at its end."""
    if len(parts) > 1 and parts[-1] == "." and get_text(parts[-2]).rstrip("”").endswith((".", "?", "!", "…")):
        parts = parts[:-1]
    facts = (part.seq for part in parts if not isinstance(part, str))
    seqs = tuple(sorted({event.row.seq, *facts}))
    first, text = parts[0], get_text(parts[0])
    capitalised = text[:1].upper() + text[1:]
    parts = (capitalised if isinstance(first, str) else replace(first, text=capitalised), *parts[1:])
    return Sentence(event.name, find_stage(event.name).family, tone, parts, seqs)


def _matching_events(events: Any, name: str, having: Mapping[str, Json]) -> Iterator[Event]:
    """The events of a stage whose payloads have these values."""
    return (
        event
        for event in events
        if event.name == name and all(event.payload.get(key) == value for key, value in having.items())
    )


#: Parts of the context that belong to the engine.
_OF_ENGINE = ENGINE_BRANCHES | {"dialogue"}
#: Where events name what they cleared.
_CLEARED_AT: Mapping[str, str] = {CONVERSATION_RESET: "previousContext", CLEAR_CONTEXT: "paths", FORM_CLEARED: "fields"}


def find_cleared(turn: NarratedTurn, index: int) -> ExtraParts | None:
    """The part `cleared`: the names that an event cleared first, without those of the engine; empty if it names none.

    Returns None if earlier events cleared all of its names.
    """
    event = turn.events[index]
    earlier = {name for before in turn.events[:index] for name in _list_cleared(before)}
    names, key = _list_cleared(event), _CLEARED_AT.get(event.name, "")
    if names and earlier.issuperset(names):
        return None
    facts = [
        Fact(write_fields("field", name, turn.specs), name, event.row.seq, (key,))
        for name in names
        if name not in earlier
    ]
    return {"cleared": join_parts([(fact,) for fact in facts])}


def _list_cleared(event: Event) -> list[str]:
    """The names in an event; none of redacted ones."""
    named = event.payload.get(_CLEARED_AT.get(event.name, ""))
    return [name for name in named if name not in _OF_ENGINE] if isinstance(named, (list, Mapping)) else []
