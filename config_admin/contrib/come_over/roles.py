"""What an intent is for, where the engine has something of its own for it."""

from collections.abc import Mapping
from enum import Enum

from convengine.engine.text.compare import split_name


class Role(Enum):
    YES = "yes"
    NO = "no"
    STOP = "stop"
    FALLBACK = "fallback"
    OUT_OF_SCOPE = "something else"
    HAND_OVER = "hand over"


#: Words of the names of intents. The words of one entry stand in a name together.
_NAMES: Mapping[Role, tuple[str, ...]] = {
    Role.FALLBACK: ("nlu fallback",),
    Role.OUT_OF_SCOPE: ("out of scope", "off topic", "other", "default", "fallback"),
    Role.HAND_OVER: ("handoff", "hand off", "handover", "hand over", "human", "live agent", "real person", "operator"),
    Role.YES: ("affirm", "affirmative", "yes", "agree"),
    Role.NO: ("deny", "negative", "no", "disagree"),
    Role.STOP: ("stop", "cancel"),
}
#: Roles of whole names only: `cancel_order` is a wish of its own.
_WHOLE = frozenset({Role.YES, Role.NO, Role.STOP, Role.OUT_OF_SCOPE})


def find_role(intent: str) -> Role | None:
    name = " ".join(word.lower() for word in split_name(intent))
    for role, names in _NAMES.items():
        if name in names or (role not in _WHOLE and any(f" {words} " in f" {name} " for words in names)):
            return role
    return None
