"""Phrases of two intents that match one message: which one decides, and what a message calls them (pipeline-1 14.4)."""

from functools import partial

from convengine.engine.rules.pattern_examples import describe_examples
from convengine.engine.rules.text_bank import REGEX
from convengine.engine.steps.intents.classifiers import list_groups
from convengine.engine.steps.intents.settings import COLLISION_BY_PRIORITY, ORDER
from convengine.engine.text.compare import code, shorten_line
from convengine.engine.turn import live_settings, rows
from convengine.engine.turn.snapshot import Snapshot

#: The length of a named phrase.
_LONGEST = 60
#: The order of the match types, and whether priorities decide within a group of them.
_Order = tuple[dict[str, int], bool]


def choose_deciding_row(snapshot: Snapshot, row: rows.Classifier, other: rows.Classifier) -> rows.Classifier | None:
    """The row that decides: its match type is tried earlier, or its priority is lower; null when both collide."""
    groups, by_priority = snapshot.memo.get("order of match types", partial(_read_order, snapshot))
    position, other_position = (groups.get(code(each.rule_type), len(groups)) for each in (row, other))
    if position != other_position:
        return row if position < other_position else other
    if by_priority and row.priority != other.priority:
        return row if row.priority < other.priority else other
    return None


def _read_order(snapshot: Snapshot) -> _Order:
    groups = list_groups(live_settings.read(snapshot, ORDER).value)
    order = {match_type.value: index for index, group in enumerate(groups) for match_type in group}
    return order, bool(live_settings.read(snapshot, COLLISION_BY_PRIORITY).value)


def describe_phrase(row: rows.Classifier) -> str:
    """A phrase for a message: `phrase “where is my parcel” of PARCELS`, `phrase like “send back” or “return” of …`."""
    examples = "" if row.description or code(row.rule_type) != REGEX else describe_examples(row.pattern or "")
    name = f"like {examples}" if examples else f"“{shorten_line(row.description or row.pattern, _LONGEST)}”"
    return f"phrase {name} of {code(row.intent_code)}"
