"""The names of the groups of tools."""

from convengine.engine.text.compare import code
from convengine.engine.turn.enums import TOOL_GROUP_ALIASES


def resolve_group(name: str | None) -> str:
    """The canonical name of a group: trimmed, upper case, aliases resolved; blank is DB, others stay."""
    word = code(name)
    return str(TOOL_GROUP_ALIASES.get(word, word))
