"""All states of all intents in one drawing, grouped by intent."""

from collections.abc import Iterator
from dataclasses import replace

from config_admin.workplace.map.graph import START, Chart, Kind, Mark, Move, Node, chart_of
from convengine.engine.text.compare import code
from convengine.engine.turn import rows
from convengine.engine.turn.scope import ANY, UNKNOWN
from convengine.engine.turn.snapshot import Snapshot

#: Maximum nodes of one drawing, including the group that exceeds it.
MOST = 1500


def chart_of_states(snapshot: Snapshot, begin: str = "", most: int = MOST) -> tuple[Chart, str]:
    """The drawing of intents from one on, in the order of their codes, and the first intent of the next page.

    The latter is blank on the last page.
    """
    intents = [intent for intent in _intents(snapshot) if intent >= code(begin)]
    places: list[Node] = []
    moves: list[Move] = []
    rest = ""
    for intent in intents:
        if len(places) >= most:
            rest = intent
            break
        own = chart_of(snapshot, intent)
        places += _list_nodes(snapshot, intent, own)
        moves += (replace(move, start=_key(intent, move.start), end=_key(intent, move.end)) for move in own.moves)
    return Chart((*_mark_nodes(places, moves), *_list_linked_intents(places, moves)), tuple(moves)), rest


def _intents(snapshot: Snapshot) -> list[str]:
    found = {code(row.intent_code) for row in snapshot.enabled_rows(rows.Intent)} - {ANY, UNKNOWN}
    return [*sorted(found), *(intent for intent in (ANY, UNKNOWN) if chart_of(snapshot, intent).moves)]


def _list_nodes(snapshot: Snapshot, intent: str, own: Chart) -> Iterator[Node]:
    row = snapshot.row(rows.Intent, intent)
    yield Node(_key(intent, START), Kind.INTENT, intent, rows=(row,) if row else ())
    for place in own.places:
        if place.kind in (Kind.STATE, Kind.ANYWHERE):
            yield replace(place, key=_key(intent, place.key))


def _key(intent: str, key: str) -> str:
    """The key of a node in the whole drawing; the start node of an intent is the intent's own node."""
    if key == START:
        return f"intent:{intent}"
    return key if key.startswith("intent:") else f"{intent}/{key}"


def _mark_nodes(places: list[Node], moves: list[Move]) -> Iterator[Node]:
    """The nodes, with a mark for intents that no phrase and no rule leads to."""
    led_to = {move.end for move in moves} | {move.start for move in moves if move.start.startswith("intent:")}
    for place in places:
        is_lost = place.kind is Kind.INTENT and place.key not in led_to and place.intent not in (ANY, UNKNOWN)
        yield replace(place, marks=(Mark.UNREACHABLE,)) if is_lost else place


def _list_linked_intents(places: list[Node], moves: list[Move]) -> Iterator[Node]:
    """The intents that edges lead to and that are not drawn here: disabled, missing, or on another page."""
    drawn = {place.key for place in places}
    for key in sorted({move.end for move in moves} - drawn):
        yield Node(key, Kind.INTENT, key.removeprefix("intent:"))
