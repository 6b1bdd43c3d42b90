"""The context summary of a session, in its one fixed shape (sessions 8).

GOAL: <current objective>
ENTITIES: <names, numbers, files, links; comma separated>
DECISIONS: <choices made this session; comma separated>
PENDING: <unanswered questions or open items>
TURNS: <n>
"""

import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

#: Longest summary, in characters. The shares of the four lines, their names and TURNS fit into it.
MAX_CHARS = 1000
SHARES: Mapping[str, int] = {"GOAL": 200, "ENTITIES": 320, "DECISIONS": 200, "PENDING": 200}
_MEANINGS: Mapping[str, str] = {
    "GOAL": "<current objective>",
    "ENTITIES": "<names, numbers, files, links; comma separated>",
    "DECISIONS": "<choices made this session; comma separated>",
    "PENDING": "<unanswered questions or open items; comma separated>",
}
#: What a line says that has nothing to say.
NOTHING = "none"
_CUT = "…"
_JOINER = "\u200d"


@dataclass(frozen=True)
class Told:
    """What the summary is made of."""

    goal: str = ""
    entities: tuple[str, ...] = ()
    decisions: tuple[str, ...] = ()
    pending: tuple[str, ...] = ()
    turns: int = 0


def written(told: Told) -> str:
    """The summary: always its five lines, never longer than MAX_CHARS, TURNS never cut."""
    contents = {
        "GOAL": _line(told.goal),
        "ENTITIES": _listed(told.entities),
        "DECISIONS": _listed(told.decisions),
        "PENDING": _listed(told.pending),
    }
    lines = [f"{name}: {shortened(contents[name], share) or NOTHING}" for name, share in SHARES.items()]
    return "\n".join([*lines, f"TURNS: {told.turns}"])


def with_question(summary: str, question: str) -> str:
    """The summary with what the user was asked, where it says that nothing is open."""
    asked = shortened(entry(question), SHARES["PENDING"]) or NOTHING
    return summary.replace(f"\nPENDING: {NOTHING}\n", f"\nPENDING: {asked}\n", 1)


def read(summary: str) -> Told:
    """What an earlier summary said, as far as it was not cut; an unknown shape says nothing."""
    found = dict(line.split(": ", 1) for line in summary.split("\n") if ": " in line)
    goal, turns = found.get("GOAL", NOTHING), found.get("TURNS", "")
    entities, decisions, pending = (_entries(found.get(name, "")) for name in ("ENTITIES", "DECISIONS", "PENDING"))
    told = "" if goal == NOTHING else goal
    return Told(told, entities, decisions, pending, int(turns) if turns.isdecimal() else 0)


def parsed(text: str) -> Told | None:
    """What a model says in the four lines, in their order; null when its answer has another shape."""
    lines = [line.strip() for line in text.strip().splitlines() if line.strip()]
    if lines and lines[-1].startswith("TURNS:"):
        lines.pop()
    pairs = [line.partition(":") for line in lines]
    if [name for name, _, _ in pairs] != list(SHARES):
        return None
    goal, *lists = (said.strip() for _, _, said in pairs)
    goal = "" if goal.lower() == NOTHING else goal
    entities, decisions, pending = (tuple(one for one in said.split(", ") if one.lower() != NOTHING) for said in lists)
    return Told(goal, entities, decisions, pending)


def asked(built: str, user: str, assistant: str) -> tuple[str, str]:
    """What a model is told (system, user) to write the four lines."""
    shape = "\n".join(f"{name}: {meaning}" for name, meaning in _MEANINGS.items())
    system = (
        f"You keep the summary of a conversation. Reply with these four lines and nothing else:\n{shape}\n"
        f"Write {NOTHING} where there is nothing to say. Copy names and numbers exactly. Invent nothing."
    )
    return system, f"What is known:\n{built}\n\nThe last message:\n{user}\n\nThe answer to it:\n{assistant}"


def shortened(text: str, limit: int) -> str:
    """A text of at most `limit` characters: cut at a word, with an ellipsis.

    A text without a blank in its second half, as in scripts that write none, is cut between two characters.
    """
    if len(text) <= limit:
        return text
    place = text.rfind(" ", 0, limit)
    if place < limit // 2:
        place = limit - 1
        while place > 1 and _joined(text, place):
            place -= 1
    return text[:place].rstrip(" ,;") + _CUT


def entry(text: str) -> str:
    """A text as one entry of a list: on one line, without what separates entries."""
    return _line(text).replace(", ", "; ").strip(" ,;")


def _joined(text: str, place: int) -> bool:
    """True when the characters on both sides of a place are one sign: marks and joiners belong to what they follow."""
    return unicodedata.category(text[place])[0] == "M" or _JOINER in text[place - 1 : place + 1]


def _line(text: str) -> str:
    return " ".join(text.split())


def _listed(entries: Iterable[str]) -> str:
    return ", ".join(dict.fromkeys(found for each in entries if (found := entry(each))))


def _entries(line: str) -> tuple[str, ...]:
    return tuple(each for each in line.split(", ") if each and each != NOTHING and not each.endswith(_CUT))
