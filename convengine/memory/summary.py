"""The running summary of a conversation, built from what the engine knows (pipeline-2 10.1, R104)."""

from collections.abc import Sequence

from convengine.domain.payload import TextPayload
from convengine.domain.session import Exchange, Session
from convengine.domain.text import excerpt


def session_summary(session: Session, *, recent_turns: int, max_chars: int) -> str:
    """One line: intent, state, the user's text, the newest turns, and the answer when it is a text.

    Never longer than `max_chars`: the oldest of the recent turns give way first, then the user's text is shortened,
    then the answer is cut at its end.
    """
    head = f"intent={one_line(session.intent)}, state={one_line(session.state)}, user="
    user = one_line(session.user_text)
    answer = session.payload
    tail = f", response={one_line(answer.value)}" if isinstance(answer, TextPayload) else ""
    recent = session.history[-recent_turns:] if recent_turns > 0 else ()
    while recent and len(head) + len(user) + len(_turns(recent)) + len(tail) > max_chars:
        recent = recent[1:]
    if not recent:
        room = max_chars - len(head) - len(tail)
        user = excerpt(user, room) if room > 0 else ""
    return f"{head}{user}{_turns(recent)}{tail}"[:max_chars]


def one_line(text: str | None) -> str:
    """A text without line breaks and tabs, its runs of blanks collapsed."""
    return " ".join((text or "").split())


def _turns(recent: Sequence[Exchange]) -> str:
    told = (f"{{u={one_line(turn.user)},a={one_line(turn.assistant)}}}" for turn in recent)
    return f", recentTurns=[{', '.join(told)}]" if recent else ""
