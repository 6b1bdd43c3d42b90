"""A conversation, or some of its turns, as a scenario file that `manage.py scenarios` plays (docs/scenarios.md)."""

from typing import Any

import yaml

from audit.saving import outside, turns, world
from audit.saving.recorded import Taken, taken
from convengine.codec import plain
from convengine.sessions.models import CeConversation

Json = Any
_WIDTH = 120


def name(conversation: CeConversation, first: int | None = None, last: int | None = None) -> str:
    """The id of the scenario, which its file must be named after."""
    some = f"-turns-{first or 1}-{last or conversation.last_turn_no}" if first or last else ""
    return f"conversation-{str(conversation.pk)[:8]}{some}"


def scenario(
    conversation: CeConversation, first: int | None = None, last: int | None = None, named: str = ""
) -> dict[str, Json]:
    """The world of some turns, all without a range. Raises NotSavable."""
    found = taken(conversation, first, last)
    start = turns.start(found[0].recorded)
    document = {
        "id": named or name(conversation, first, last),
        "title": _title(conversation, found),
        "covers": ["saved"],
        "why": _why(found, start),
        "settings": world.rate_limit(),
        "model": None if outside.model_asked(found) else False,
        "tables": world.tables(found[0].recorded.config_version),
        "conversation": start,
        "llm": outside.model(found),
        "tasks": outside.tasks(found),
        "tools": outside.tools(found),
        "containers": outside.containers(found),
        "turns": [turns.turn(one, before, conversation) for before, one in zip([None, *found], found, strict=False)],
    }
    kept: dict[str, Json] = plain({key: value for key, value in document.items() if value not in (None, {}, [])})
    return kept


def text(document: dict[str, Json]) -> str:
    """A scenario as YAML."""
    written: str = yaml.safe_dump(document, sort_keys=False, allow_unicode=True, width=_WIDTH)
    return written


def _title(conversation: CeConversation, found: list[Taken]) -> str:
    some = f"turn {found[0].turn_no}" if len(found) == 1 else f"turns {found[0].turn_no} to {found[-1].turn_no}"
    return f"Saved from conversation {conversation.pk}, {some}"


def _why(found: list[Taken], start: dict[str, Json]) -> str:
    told = f"What happened on {found[0].recorded.now:%Y-%m-%d}, on release {found[0].recorded.config_version}."
    if not start:
        return told
    return (
        f"{told} It begins in the middle: where the conversation stood is said, as far as a file can say it; what the "
        "turn before left for the next one alone, and how old the session was, is not."
    )
