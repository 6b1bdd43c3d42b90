"""The context summary of a session in its fixed form, and the facts that fill it.

GOAL: <current objective>
ENTITIES: <names, numbers, files, links; comma separated>
DECISIONS: <choices made this session; comma separated>
PENDING: <unanswered questions or open items>
TURNS: <n>
"""

import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from convengine.engine.forms.form import is_meaningful
from convengine.engine.prompts.values import to_text
from convengine.engine.redaction import MASK, Redaction
from convengine.engine.text.compare import blank, code
from convengine.engine.turn import rows
from convengine.engine.turn.enums import RoutingDecision
from convengine.engine.turn.scope import is_resolved
from convengine.engine.turn.session import Session
from convengine.engine.turn.snapshot import Snapshot
from convengine.json_value import Json

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
#: How much of a message is searched for names.
_SEARCHED = 4000
#: Signs of quotation with those that close them.
_QUOTES = {'"': '"', "“": "”", "„": "“”", "«": "»", "「": "」"}
_QUOTED = range(2, 61)
#: Signs around a word that do not belong to it.
_AROUND = ".,;:!?()[]{}<>…'" + "".join(_QUOTES) + "”»」"
#: How long the ending of a file or a site is.
_ENDINGS = range(2, 6)


@dataclass(frozen=True)
class SummaryParts:
    goal: str = ""
    entities: tuple[str, ...] = ()
    decisions: tuple[str, ...] = ()
    pending: tuple[str, ...] = ()
    turns: int = 0


def format_summary(parts: SummaryParts) -> str:
    """The summary text: always five lines, at most MAX_CHARS, TURNS never cut."""
    contents = {
        "GOAL": flatten_line(parts.goal),
        "ENTITIES": _join_entries(parts.entities),
        "DECISIONS": _join_entries(parts.decisions),
        "PENDING": _join_entries(parts.pending),
    }
    lines = [f"{name}: {shorten_at_word(contents[name], share) or NOTHING}" for name, share in SHARES.items()]
    return "\n".join([*lines, f"TURNS: {parts.turns}"])


def add_question(summary: str, question: str) -> str:
    """Add the open question if the summary says that nothing is pending."""
    entry = shorten_at_word(format_entry(question), SHARES["PENDING"]) or NOTHING
    return summary.replace(f"\nPENDING: {NOTHING}\n", f"\nPENDING: {entry}\n", 1)


def parse_summary(summary: str) -> SummaryParts:
    """Parse an earlier summary, as far as it was not cut; an unknown form gives nothing."""
    contents = dict(line.split(": ", 1) for line in summary.split("\n") if ": " in line)
    goal, turns = contents.get("GOAL", NOTHING), contents.get("TURNS", "")
    entities, decisions, pending = (
        _split_entries(contents.get(name, "")) for name in ("ENTITIES", "DECISIONS", "PENDING")
    )
    known_goal = "" if goal == NOTHING else goal
    return SummaryParts(known_goal, entities, decisions, pending, int(turns) if turns.isdecimal() else 0)


def parse_model_summary(text: str) -> SummaryParts | None:
    """The four lines of a model's summary, in order. Returns None if it has another form."""
    lines = [line.strip() for line in text.strip().splitlines() if line.strip()]
    if lines and lines[-1].startswith("TURNS:"):
        lines.pop()
    pairs = [line.partition(":") for line in lines]
    if [name for name, _, _ in pairs] != list(SHARES):
        return None
    goal, *lists = (content.strip() for _, _, content in pairs)
    goal = "" if goal.lower() == NOTHING else goal
    entities, decisions, pending = (
        tuple(entry for entry in content.split(", ") if entry.lower() != NOTHING) for content in lists
    )
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
    end = text.rfind(" ", 0, limit)
    if end < limit // 2:
        end = limit - 1
        # Marks and joiners belong to the character before them.
        while end > 1 and (unicodedata.category(text[end])[0] == "M" or _JOINER in text[end - 1 : end + 1]):
            end -= 1
    return text[:end].rstrip(" ,;") + _CUT


def format_entry(text: str) -> str:
    """A text as one list entry: one line, without separators."""
    return flatten_line(text).replace(", ", "; ").strip(" ,;")


def flatten_line(text: str | None) -> str:
    """A text without line breaks and tabs, with single blanks."""
    return " ".join((text or "").split())


def _join_entries(entries: Iterable[str]) -> str:
    return ", ".join(dict.fromkeys(text for each in entries if (text := format_entry(each))))


def _split_entries(line: str) -> tuple[str, ...]:
    return tuple(each for each in line.split(", ") if each and each != NOTHING and not each.endswith(_CUT))


def build_context_summary(session: Session, snapshot: Snapshot, turns: int) -> str:
    """The summary after this turn. `turns` counts the session's committed turns, including this one.

    Goal, names and decisions come from the last summary, so that the cost does not grow with the conversation.
    """
    before = parse_summary(session.context_summary)
    fields = _collect_values(session, snapshot)
    names = find_entities((session.user_text or "")[:_SEARCHED])
    # An earlier value of a field is no longer true. The oldest come last, so that they are cut.
    earlier = (each for each in before.entities if each.partition("=")[0] not in fields)
    return format_summary(
        SummaryParts(
            _find_goal(session, snapshot, before.goal),
            (*_format_pairs(fields), *names, *earlier),
            (*_list_decisions(session, fields), *before.decisions),
            tuple(_list_pending(session)),
            turns,
        )
    )


def _find_goal(session: Session, snapshot: Snapshot, before: str) -> str:
    """The intent's name and its first text; without an intent, the newest text."""
    text = session.user_text or ""
    if not is_resolved(session.intent):
        return text
    row = snapshot.row(rows.Intent, code(session.intent))
    name = row.name if row else str(session.intent)
    if code(session.intent) == code(session.turn_start_intent) and before.startswith(f"{name}: "):
        return before
    return name if blank(text) else f"{name}: {text}"


def _collect_values(session: Session, snapshot: Snapshot) -> Mapping[str, Json]:
    """The values of all fields that the intent's forms collect, whichever form applies now."""
    names = snapshot.table(rows.OutputSchema).memo.get("fields of intents", lambda: _index_fields(snapshot))
    fields = names.get(code(session.intent), ())
    redaction = Redaction.of(snapshot)
    return {
        name: MASK if redaction.is_masked_name(name) else session.context[name]
        for name in fields
        if is_meaningful(session.context.get(name))
    }


def _index_fields(snapshot: Snapshot) -> Mapping[str, Iterable[str]]:
    index: dict[str, dict[str, None]] = {}
    for schema in snapshot.enabled_rows(rows.OutputSchema):
        properties = schema.json_schema.get("properties") if isinstance(schema.json_schema, Mapping) else None
        index.setdefault(code(schema.intent_code), {}).update(dict.fromkeys(properties or ()))
    return index


def _list_decisions(session: Session, fields: Mapping[str, Json]) -> Iterator[str]:
    result = code(str(session.action.pending_action_result or ""))
    if result in ("EXECUTED", "REJECTED"):
        action = _get_runtime(session).get("action_key") or session.params.get("pending_action_key") or "action"
        yield f"{result.lower()} {action}"
    if code(str(session.routing.routing_decision or "")) == RoutingDecision.PROCEED_CONFIRMED:
        yield from (f"confirmed {pair}" for pair in _format_pairs(fields))


def _list_pending(session: Session) -> Iterator[str]:
    if session.clarification:
        yield session.clarification.question
    runtime = _get_runtime(session)
    if runtime.get("status") == "OPEN":
        yield f"waiting for a yes to {runtime.get('action_key') or 'an action'}"
    if session.missing_required_fields:
        yield f"missing {' and '.join(session.missing_required_fields)}"


def _get_runtime(session: Session) -> Mapping[str, Json]:
    runtime = session.context.get("pending_action_runtime")
    return runtime if isinstance(runtime, Mapping) else {}


def _format_pairs(fields: Mapping[str, Json]) -> Iterator[str]:
    for name, value in fields.items():
        shown = " ".join(to_text(item) for item in value) if isinstance(value, (list, tuple)) else to_text(value)
        yield f"{name}={shown}"


def find_entities(text: str) -> Iterator[str]:
    """What is quoted in a text, and its addresses and files, in order, with repetitions."""
    for part, is_quoted in _split_quotations(text):
        words = [part.strip()] if is_quoted else [word.strip(_AROUND) for word in part.split()]
        yield from (word for word in words if is_quoted or _is_address(word))


def _split_quotations(text: str) -> Iterator[tuple[str, bool]]:
    """The parts of a text between signs of quotation, and those around them."""
    start = 0
    for index in [at for at, sign in enumerate(text) if sign in _QUOTES]:
        closing, inner = _QUOTES[text[index]], text[index + 1 : index + 2 + _QUOTED.stop]
        size = next((size for size, sign in enumerate(inner) if sign in closing or sign == "\n"), 0)
        if index >= start and size in _QUOTED and inner[size] in closing:
            yield text[start:index], False
            yield inner[:size], True
            start = index + size + 2
    yield text[start:], False


def _is_address(word: str) -> bool:
    """True for a link, an e-mail, and a file or a site: "notes.txt"."""
    name, _, ending = word.rpartition(".")
    is_file = len(ending) in _ENDINGS and ending.isalnum() and ending[0].isalpha() and "/" not in name
    return "://" in word or (bool(name) and ("@" in name or is_file))
