"""All states of all intents in one drawing: each intent is a group, which its own box leads into."""

from collections.abc import Iterator
from dataclasses import replace

from config_admin.chart.graph import START, Chart, Kind, Mark, Move, Place, chart_of
from convengine.domain import rows
from convengine.domain.scope import ANY, UNKNOWN
from convengine.domain.snapshot import Snapshot
from convengine.domain.text import code

#: Boxes that one drawing has at most, the group that goes beyond them included.
MOST = 1500


def chart_of_states(snapshot: Snapshot, begin: str = "", most: int = MOST) -> tuple[Chart, str]:
    """The drawing of the intents from one on, in the order of their codes, and the intent that the next begins with.

    The latter is blank when all the rest is in it.
    """
    intents = [intent for intent in _intents(snapshot) if intent >= code(begin)]
    places: list[Place] = []
    moves: list[Move] = []
    rest = ""
    for intent in intents:
        if len(places) >= most:
            rest = intent
            break
        own = chart_of(snapshot, intent)
        places += _places(snapshot, intent, own)
        moves += (replace(move, start=_key(intent, move.start), end=_key(intent, move.end)) for move in own.moves)
    return Chart((*_marked(places, moves), *_elsewhere(places, moves)), tuple(moves)), rest


def _intents(snapshot: Snapshot) -> list[str]:
    found = {code(row.intent_code) for row in snapshot.enabled(rows.Intent)} - {ANY, UNKNOWN}
    return [*sorted(found), *(intent for intent in (ANY, UNKNOWN) if chart_of(snapshot, intent).moves)]


def _places(snapshot: Snapshot, intent: str, own: Chart) -> Iterator[Place]:
    row = snapshot.row(rows.Intent, intent)
    yield Place(_key(intent, START), Kind.INTENT, intent, rows=(row,) if row else ())
    for place in own.places:
        if place.kind in (Kind.STATE, Kind.ANYWHERE):
            yield replace(place, key=_key(intent, place.key))


def _key(intent: str, key: str) -> str:
    """The key in the whole drawing of a place that one intent's has: what begins an intent is the intent's own box."""
    if key == START:
        return f"intent:{intent}"
    return key if key.startswith("intent:") else f"{intent}/{key}"


def _marked(places: list[Place], moves: list[Move]) -> Iterator[Place]:
    """The places; an intent that no phrase begins and no rule turns to says so."""
    led_to = {move.end for move in moves} | {move.start for move in moves if move.start.startswith("intent:")}
    for place in places:
        is_lost = place.kind is Kind.INTENT and place.key not in led_to and place.intent not in (ANY, UNKNOWN)
        yield replace(place, marks=(Mark.UNREACHABLE,)) if is_lost else place


def _elsewhere(places: list[Place], moves: list[Move]) -> Iterator[Place]:
    """The intents that arrows lead to and that are not drawn here: switched off, not there, or on another page."""
    drawn = {place.key for place in places}
    for key in sorted({move.end for move in moves} - drawn):
        yield Place(key, Kind.INTENT, key.removeprefix("intent:"))
