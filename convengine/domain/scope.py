"""Where a row applies: the one scope match that nearly every table uses (pipeline-2 0.3)."""

from typing import Protocol, TypeGuard

from convengine.domain.text import code

ANY = "ANY"
UNKNOWN = "UNKNOWN"
IDLE = "IDLE"
INTENT_COLLISION = "INTENT_COLLISION"
#: States that exist without a row naming them.
BUILT_IN_STATES = frozenset({UNKNOWN, IDLE, INTENT_COLLISION})


class Scoped(Protocol):
    """A row with a scope."""

    @property
    def intent_code(self) -> str:
        """A concrete intent, ANY or UNKNOWN."""

    @property
    def state_code(self) -> str:
        """A concrete state, ANY or UNKNOWN."""


def resolved(value: str | None) -> TypeGuard[str]:
    """True for a code that says something: not null, not blank, not UNKNOWN."""
    return code(value) not in ("", UNKNOWN)


def state_resolved(value: str | None) -> bool:
    """True for a state that a flow is in: resolved, and not the open question of an intent collision (R37)."""
    return resolved(value) and code(value) != INTENT_COLLISION


def code_matches(row_code: str, session_code: str | None) -> bool:
    """True when the row's code admits the session's: equal without regard to case, or ANY; a blank row code never."""
    wanted = code(row_code)
    return wanted == ANY or (wanted != "" and wanted == code(session_code))


def in_scope(row: Scoped, intent: str | None, state: str | None) -> bool:
    """True when both codes of the row admit the session's."""
    return code_matches(row.intent_code, intent) and code_matches(row.state_code, state)


def specificity(row: Scoped) -> int:
    """3 for a row of one intent and one state, 2 for one intent, 1 for one state, 0 for ANY/ANY."""
    return 2 * (code(row.intent_code) != ANY) + (code(row.state_code) != ANY)


def buckets(intent: str | None, state: str | None) -> tuple[tuple[str, str], ...]:
    """The four scope keys that admit (intent, state), the most specific first."""
    one, other = code(intent), code(state)
    return ((one, other), (one, ANY), (ANY, other), (ANY, ANY))
