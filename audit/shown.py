"""Events of a part of a conversation as a call wants to see them."""

from audit.expand import Event, expanded, in_steps
from audit.models import CeAudit
from audit.parameters import Shown
from audit.queries import EventPage, Place


def whole_events(found: EventPage, shown: Shown) -> list[Event]:
    """The wanted rows as whole events: folding starts with the first event of each turn that they are part of."""
    wanted = set(map(place_of, found.rows))
    events = expanded(found.whole, shown.full_meta)
    if shown.steps:
        events = in_steps(events, shown.steps)
    return [event for event in events if place_of(event.row) in wanted]


def place_of(row: CeAudit) -> Place:
    """Where an event stands in its conversation."""
    return row.turn_no or 0, row.seq
