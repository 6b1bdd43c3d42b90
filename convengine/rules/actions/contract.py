"""What rule actions have in common: how a value is refused, how an action fails, what it leaves in the trail."""

import re
from collections.abc import Sequence
from typing import Any, ClassVar

from convengine.domain.params import KEY_SHAPE
from convengine.domain.rows import Rule
from convengine.domain.session import Session
from convengine.domain.stages import Stage
from convengine.domain.text import blank
from convengine.domain.trail import FOLDED
from convengine.domain.turn import Turn

Json = Any

_INTEGER = re.compile(r"[+-]?[0-9]{1,18}")
_DECIMAL = re.compile(r"[+-]?[0-9]{1,18}\.[0-9]{1,18}")
_WORDS = {"null": None, "true": True, "false": False}
PARAM_NAMES = "Parameter names may contain letters, digits, _ . - only."


class ActionValueError(ValueError):
    """An action value that does not fit its action; the message is the text to show (tables 2.3)."""

    error_type: ClassVar[str] = "INVALID_RULE_ACTION"
    session: ClassVar[None] = None

    def __init__(self, message: str, code: str = "SHAPE_INVALID", remedy: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.code = code
        #: What to write instead, where the message does not say it.
        self.remedy = remedy


class ActionFailed(Exception):
    """An action could not be carried out. `session` holds what it had done before, if anything."""

    def __init__(self, error_type: str, message: str, session: Session | None = None) -> None:
        super().__init__(message)
        self.error_type = error_type
        self.message = message
        self.session = session


class UnknownAction(ActionFailed):
    """The rule names an action that there is not. `remedy` lists those that there are."""

    def __init__(self, message: str, remedy: str) -> None:
        super().__init__(ActionValueError.error_type, message)
        self.remedy = remedy


def required(action: str, value: str | None, what: str) -> str:
    """The trimmed value. Raises ActionValueError when there is none."""
    if value is None or blank(value):
        raise ActionValueError(f"{action} needs a value: {what}.", "ACTION_VALUE_REQUIRED")
    return value.strip()


def param_key(key: str) -> str:
    """The trimmed name of an input param. Raises ActionValueError."""
    if not KEY_SHAPE.fullmatch(key.strip()):
        raise ActionValueError(PARAM_NAMES)
    return key.strip()


def scalar(text: str) -> Json:
    """A text as the value it says: null, true, false, an integer, a decimal with a dot, else the text."""
    word = text.strip()
    if word in _WORDS:
        return _WORDS[word]
    if _INTEGER.fullmatch(word):
        return int(word)
    return float(word) if _DECIMAL.fullmatch(word) else word


def names(value: str) -> tuple[str, ...]:
    """The entries of a comma-separated list, trimmed, blanks dropped."""
    return tuple(part.strip() for part in value.split(",") if part.strip())


def required_names(action: str, value: str | None, what: str) -> tuple[str, ...]:
    """The entries of a list that must have one. Raises ActionValueError."""
    found = names(value or "")
    required(action, ",".join(found), what)
    return found


def audit(rule: Rule, session: Session, turn: Turn, stage: Stage, *folded: str, **payload: Json) -> None:
    """Write an action's own stage. `folded` names the parts that a reader takes from the state of the turn (R33)."""
    turn.audit(session, stage, **{"ruleId": rule.rule_id, **payload, **dict.fromkeys(folded, FOLDED)})


def one_of(values: Sequence[str]) -> str:
    """Values as a sentence lists them."""
    return ", ".join(values)
