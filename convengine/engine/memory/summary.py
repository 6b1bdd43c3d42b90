"""The running summary of a conversation, built from what the engine knows (pipeline-2 10.1, R104)."""

from collections.abc import Sequence

from convengine.engine.text.compare import shorten
from convengine.engine.turn.payload import TextPayload
from convengine.engine.turn.session import Exchange, Session


def build_session_summary(session: Session, *, recent_turns: int, max_chars: int) -> str:
    """One line: intent, state, the user's text, the newest turns, and the answer if it is a text.

    Never longer than `max_chars`: the oldest turns are dropped first, then the user's text is shortened, then the
    answer.
    """
    head = f"intent={flatten_line(session.intent)}, state={flatten_line(session.state)}, user="
    user = flatten_line(session.user_text)
    answer = session.payload
    tail = f", response={flatten_line(answer.value)}" if isinstance(answer, TextPayload) else ""
    recent = session.history[-recent_turns:] if recent_turns > 0 else ()
    while recent and len(head) + len(user) + len(_format_turns(recent)) + len(tail) > max_chars:
        recent = recent[1:]
    if not recent:
        room = max_chars - len(head) - len(tail)
        user = shorten(user, room) if room > 0 else ""
    return f"{head}{user}{_format_turns(recent)}{tail}"[:max_chars]


def flatten_line(text: str | None) -> str:
    """A text without line breaks and tabs, with single blanks."""
    return " ".join((text or "").split())


def _format_turns(recent: Sequence[Exchange]) -> str:
    told = (f"{{u={flatten_line(turn.user)},a={flatten_line(turn.assistant)}}}" for turn in recent)
    return f", recentTurns=[{', '.join(told)}]" if recent else ""
