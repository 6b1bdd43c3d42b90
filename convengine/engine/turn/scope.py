"""The scope of a row, and the match that nearly every table uses."""

import re
from typing import Any, Protocol, TypeGuard

from convengine.engine.text.compare import code

ANY = "ANY"
UNKNOWN = "UNKNOWN"
IDLE = "IDLE"
INTENT_COLLISION = "INTENT_COLLISION"
#: Answers of these states are given when nobody understood, and when a form was given up.
NOT_UNDERSTOOD = "NOT_UNDERSTOOD"
HAND_OVER = "HAND_OVER"
#: States that exist without a row.
BUILT_IN_STATES = frozenset({UNKNOWN, IDLE, INTENT_COLLISION, NOT_UNDERSTOOD, HAND_OVER})

#: The code of an intent that answers a question beside a flow: that of the flow, and a number.
QUESTION_BESIDE_FLOW = re.compile(r"(.+)_Q([1-9]\d{0,4})")


class Scoped(Protocol):
    """A row with a scope."""

    @property
    def intent_code(self) -> str:
        """A concrete intent, ANY or UNKNOWN."""

    @property
    def state_code(self) -> str:
        """A concrete state, ANY or UNKNOWN."""


def intent_key(row: Any) -> str:
    return code(row.intent_code)


def scope_key(row: Any) -> tuple[str, str]:
    """Intent and state of a row, normalised."""
    return code(row.intent_code), code(row.state_code)


def is_resolved(value: str | None) -> TypeGuard[str]:
    """True for a code that is not null, blank or UNKNOWN."""
    return code(value) not in ("", UNKNOWN)


def is_state_resolved(value: str | None) -> bool:
    """True for a state of a flow: resolved, and not the open question of an intent collision."""
    return is_resolved(value) and code(value) != INTENT_COLLISION


def code_matches(row_code: str, session_code: str | None) -> bool:
    """True when the row's code matches the session's: equal ignoring case, or ANY; a blank row code never matches."""
    wanted = code(row_code)
    return wanted == ANY or (wanted != "" and wanted == code(session_code))


def in_scope(row: Scoped, intent: str | None, state: str | None) -> bool:
    """True when both codes of the row match the session's."""
    return code_matches(row.intent_code, intent) and code_matches(row.state_code, state)


def rank_specificity(row: Scoped) -> int:
    """3 for a row of one intent and one state, 2 for one intent, 1 for one state, 0 for ANY/ANY."""
    return 2 * (code(row.intent_code) != ANY) + (code(row.state_code) != ANY)


def list_buckets(intent: str | None, state: str | None) -> tuple[tuple[str, str], ...]:
    """The four scope keys that match (intent, state), most specific first."""
    intent_key, state_key = code(intent), code(state)
    return ((intent_key, state_key), (intent_key, ANY), (ANY, state_key), (ANY, ANY))
