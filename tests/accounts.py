"""Holding an account to the turn's events: each fact stands where it says, and nothing else is named."""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

from audit.narration import Fact, Sentence, narrate_turn
from audit.record.expand import Event, expand_events
from convengine.engine.turn import rows
from convengine.engine.turn.snapshot import Snapshot
from convengine.server.app_interfaces import configuration
from tests import record

#: What code writes are words: numbers, codes and quotations come from events.
_NAMED = re.compile(r"\d|\b[A-Z][A-Z_]{2,}\b|“")


def unfounded_anywhere() -> Iterator[str]:
    """What is wrong with the account of any turn that is stored; one that says nothing is wrong, too."""
    found = expand_events(record.events())
    for (_, turn_no), group in groupby(found, lambda event: (event.row.conversation_id, event.row.turn_no)):
        events = list(group)
        told = narrate_turn(events)
        if not told:
            yield f"turn {turn_no}: nothing is told"
        yield from list_unfounded_sentences(told, events, configuration().at(events[0].row.config_version))


def list_unfounded_sentences(told: Sequence[Sentence], events: Sequence[Event], snapshot: Snapshot) -> Iterator[str]:
    """What an account says that does not stand in the turn's events, or in the rows that they name."""
    by_seq = {event.row.seq: event for event in events}
    for sentence in told:
        words = "".join(part for part in sentence.parts if isinstance(part, str))
        if found := _NAMED.search(words):
            yield f"{sentence.text}: {found[0]} is no fact of an event"
        for fact in sentence.facts:
            if fact.seq not in sentence.seqs or fact.seq not in by_seq:
                yield f"{sentence.text}: rests on event {fact.seq}, which it does not name"
            elif not _stands(fact, by_seq[fact.seq], snapshot):
                yield f"{sentence.text}: {fact.value!r} does not stand at {fact.path} of event {fact.seq}"


def _stands(fact: Fact, event: Event, snapshot: Snapshot) -> bool:
    found: Any = event.payload
    for key in fact.path:
        found = found[key]
    if not fact.column:
        return bool(found == fact.value) or (isinstance(found, (Mapping, list)) and fact.value in found)
    assert fact.row is not None
    row = snapshot.row(rows.ROW_TYPE_OF[fact.row.table], fact.row.pk)
    return str(fact.row.pk) in found and getattr(row, fact.column) == fact.value
