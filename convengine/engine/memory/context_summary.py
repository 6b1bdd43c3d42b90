"""The context summary of a session in its fixed form (sessions 8).

GOAL: <current objective>
ENTITIES: <names, numbers, files, links; comma separated>
DECISIONS: <choices made this session; comma separated>
PENDING: <unanswered questions or open items>
TURNS: <n>
"""

import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

#: Maximum length in characters, including the names of the five lines.
MAX_CHARS = 1000
SHARES: Mapping[str, int] = {"GOAL": 200, "ENTITIES": 320, "DECISIONS": 200, "PENDING": 200}
_MEANINGS: Mapping[str, str] = {
    "GOAL": "<current objective>",
    "ENTITIES": "<names, numbers, files, links; comma separated>",
    "DECISIONS": "<choices made this session; comma separated>",
    "PENDING": "<unanswered questions or open items; comma separated>",
}
#: The text of an empty line.
NOTHING = "none"
_CUT = "…"
_JOINER = "\u200d"


@dataclass(frozen=True)
class SummaryParts:
    """The content of the summary."""

    goal: str = ""
    entities: tuple[str, ...] = ()
    decisions: tuple[str, ...] = ()
    pending: tuple[str, ...] = ()
    turns: int = 0


def format_summary(told: SummaryParts) -> str:
    """The summary text: always five lines, at most MAX_CHARS, TURNS never cut."""
    contents = {
        "GOAL": _flatten_line(told.goal),
        "ENTITIES": _join_entries(told.entities),
        "DECISIONS": _join_entries(told.decisions),
        "PENDING": _join_entries(told.pending),
    }
    lines = [f"{name}: {shorten_at_word(contents[name], share) or NOTHING}" for name, share in SHARES.items()]
    return "\n".join([*lines, f"TURNS: {told.turns}"])


def add_question(summary: str, question: str) -> str:
    """Add the open question if the summary says that nothing is pending."""
    asked = shorten_at_word(format_entry(question), SHARES["PENDING"]) or NOTHING
    return summary.replace(f"\nPENDING: {NOTHING}\n", f"\nPENDING: {asked}\n", 1)


def parse_summary(summary: str) -> SummaryParts:
    """Parse an earlier summary, as far as it was not cut; an unknown form gives nothing."""
    found = dict(line.split(": ", 1) for line in summary.split("\n") if ": " in line)
    goal, turns = found.get("GOAL", NOTHING), found.get("TURNS", "")
    entities, decisions, pending = (
        _split_entries(found.get(name, "")) for name in ("ENTITIES", "DECISIONS", "PENDING")
    )
    told = "" if goal == NOTHING else goal
    return SummaryParts(told, entities, decisions, pending, int(turns) if turns.isdecimal() else 0)


def parse_model_summary(text: str) -> SummaryParts | None:
    """The four lines of a model's summary, in order; null if it has another form."""
    lines = [line.strip() for line in text.strip().splitlines() if line.strip()]
    if lines and lines[-1].startswith("TURNS:"):
        lines.pop()
    pairs = [line.partition(":") for line in lines]
    if [name for name, _, _ in pairs] != list(SHARES):
        return None
    goal, *lists = (said.strip() for _, _, said in pairs)
    goal = "" if goal.lower() == NOTHING else goal
    entities, decisions, pending = (tuple(one for one in said.split(", ") if one.lower() != NOTHING) for said in lists)
    return SummaryParts(goal, entities, decisions, pending)


def build_prompts(built: str, user: str, assistant: str) -> tuple[str, str]:
    """The prompts (system, user) for a model that writes the four lines."""
    shape = "\n".join(f"{name}: {meaning}" for name, meaning in _MEANINGS.items())
    system = (
        f"You keep the summary of a conversation. Reply with these four lines and nothing else:\n{shape}\n"
        f"Write {NOTHING} where there is nothing to say. Copy names and numbers exactly. Invent nothing."
    )
    return system, f"What is known:\n{built}\n\nThe last message:\n{user}\n\nThe answer to it:\n{assistant}"


def shorten_at_word(text: str, limit: int) -> str:
    """A text of at most `limit` characters, cut at a word, with an ellipsis.

    A text without a blank in its second half is cut between two characters.
    """
    if len(text) <= limit:
        return text
    place = text.rfind(" ", 0, limit)
    if place < limit // 2:
        place = limit - 1
        while place > 1 and _is_inside_grapheme(text, place):
            place -= 1
    return text[:place].rstrip(" ,;") + _CUT


def format_entry(text: str) -> str:
    """A text as one list entry: one line, without separators."""
    return _flatten_line(text).replace(", ", "; ").strip(" ,;")


def _is_inside_grapheme(text: str, place: int) -> bool:
    """True when the characters on both sides of a position are one grapheme: marks and joiners belong to the character
    before them.
    """
    return unicodedata.category(text[place])[0] == "M" or _JOINER in text[place - 1 : place + 1]


def _flatten_line(text: str) -> str:
    return " ".join(text.split())


def _join_entries(entries: Iterable[str]) -> str:
    return ", ".join(dict.fromkeys(found for each in entries if (found := format_entry(each))))


def _split_entries(line: str) -> tuple[str, ...]:
    return tuple(each for each in line.split(", ") if each and each != NOTHING and not each.endswith(_CUT))
