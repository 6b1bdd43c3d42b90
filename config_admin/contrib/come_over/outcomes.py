"""What becomes of a part of a project, and what an intent is for."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from convengine.engine.text.compare import split_name


class Outcome(StrEnum):
    COMES = "comes along"
    PARTLY = "in part"
    PERSON = "needs a person"
    UNNEEDED = "not needed"


@dataclass(frozen=True)
class PlanEntry:
    """A part of the project by kind and name, what it becomes, and why not everything of it comes along."""

    part: str
    name: str
    outcome: Outcome
    becomes: str = ""
    reason: str = ""


class Role(StrEnum):
    """What an intent is for, where the engine has something of its own for it."""

    YES = "yes"
    NO = "no"
    STOP = "stop"
    FALLBACK = "fallback"
    OUT_OF_SCOPE = "something else"
    HAND_OVER = "hand over"


_YES = """affirm affirmative affirmation yes agree confirm accept si afirmar afirmacion afirmativo confirmar
oui affirmer confirmer accepter ja bejahen bestatigen zustimmen sim affermare confermare bevestigen"""
_NO = """deny negative negation no disagree refuse reject decline negar negacion negativo denegar rechazar
non nier refuser nein verneinen ablehnen nao negare rifiutare nee ontkennen weigeren"""
#: The names of such intents, in words.
_NAMES: Mapping[Role, Sequence[str]] = {
    Role.YES: _YES.split(),
    Role.NO: _NO.split(),
    Role.STOP: ("stop", "cancel"),
    Role.FALLBACK: ("nlu fallback",),
    Role.OUT_OF_SCOPE: ("out of scope", "off topic", "other", "default", "fallback"),
    Role.HAND_OVER: ("handoff", "hand off", "handover", "hand over", "human", "live agent", "real person", "operator"),
}
#: Roles that a part of a name tells: `request_human`. But `cancel_order` is a wish of its own.
_BY_PART = frozenset({Role.HAND_OVER})
#: With these words, a name with a person in it asks what the bot is.
_ABOUT_BOT = frozenset({"are", "is", "bot"})


def find_role(intent: str) -> Role | None:
    words = split_name(intent)
    name, by_part = " ".join(words), frozenset() if _ABOUT_BOT & {*words} else _BY_PART
    for role, names in _NAMES.items():
        if name in names or (role in by_part and any(f" {part} " in f" {name} " for part in names)):
            return role
    return None
