"""Session units that a model extracts from a turn, if a prompt for that is configured (sessions 8)."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from convengine.engine.llm.ask import Question, Stages, ask
from convengine.engine.memory.settings import UNITS_PROMPT
from convengine.engine.memory.stages import SESSION_UNITS_LLM_ERROR, SESSION_UNITS_LLM_INPUT, SESSION_UNITS_LLM_OUTPUT
from convengine.engine.memory.units import EXTRACTED, KINDS, Unit
from convengine.engine.prompts.fill import fill_prompts_or_audit
from convengine.engine.text.compare import blank, shorten
from convengine.engine.turn.payload import to_document, to_spoken_text
from convengine.engine.turn.session import Session
from convengine.engine.turn.turn import Turn

Json = Any
PURPOSE = "UNITS"
#: Maximum length of topic and claim in characters, and maximum units per turn.
_TOPIC, _CLAIM, _MOST = 120, 500, 20
_STAGES = Stages(SESSION_UNITS_LLM_INPUT, SESSION_UNITS_LLM_OUTPUT, SESSION_UNITS_LLM_ERROR)
_SYSTEM = (
    "You note what later turns of a conversation will need. Answer as JSON: an object with the list `units`, empty "
    f"when nothing is worth keeping. A unit has a kind ({', '.join(KINDS)}), a short topic, a claim of one sentence "
    "with names and numbers exactly, and two lists of words, which may be empty: utility (what it is good for) and "
    "phases (when it matters). Invent nothing."
)
_WORDS: Mapping[str, Json] = {"type": "array", "items": {"type": "string"}}
_UNIT: Mapping[str, Json] = {
    "kind": {"type": "string", "enum": list(KINDS)},
    "topic": {"type": "string"},
    "claim": {"type": "string"},
    "utility": _WORDS,
    "phases": _WORDS,
}
_SCHEMA: Mapping[str, Json] = {
    "type": "object",
    "properties": {
        "units": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": _UNIT,
                "required": list(_UNIT),
                "additionalProperties": False,
            },
        }
    },
    "required": ["units"],
    "additionalProperties": False,
}


def extract_units(session: Session, turn: Turn) -> Session:
    """Stage the units that a model finds in this turn; the commit stores them.

    The session stays unchanged without a prompt, a model or a message. A fault only writes SESSION_UNITS_LLM_ERROR.
    """
    prompt = turn.config(session, UNITS_PROMPT)
    if blank(prompt) or not turn.ports.model.configured or blank(session.user_text) or session.reset_reason:
        return session
    prompts = fill_prompts_or_audit(
        session,
        turn,
        SESSION_UNITS_LLM_ERROR,
        system=_SYSTEM,
        user=prompt,
        selected={"configType": UNITS_PROMPT.type},
        answer=to_spoken_text(to_document(session.payload)) if session.payload else "",
    )
    if prompts is None:
        return session
    question = Question(PURPOSE, prompts.system, prompts.user, json_schema=_SCHEMA, strict=True, stages=_STAGES)
    reply = ask(session, turn, question)
    if reply.error:
        return session
    found = list(_read_units(reply.value, turn.turn_no))
    return session.with_params({EXTRACTED: [unit.as_staged_unit() for unit in found]}) if found else session


def _read_units(value: Json, turn_no: int) -> Iterator[Unit]:
    """The units of an answer, cut to size, without duplicates; those without a topic or a claim are left out."""
    seen: set[str] = set()
    for one in value["units"][:_MOST]:
        topic, claim = shorten(_flatten_line(one["topic"]), _TOPIC), shorten(_flatten_line(one["claim"]), _CLAIM)
        unit = Unit(one["kind"], topic, claim, turn_no, _list_words(one["utility"]), _list_words(one["phases"]))
        if topic and claim and unit.content_hash not in seen:
            seen.add(unit.content_hash)
            yield unit


def _flatten_line(text: str) -> str:
    return " ".join(text.split())


def _list_words(found: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(shorten(word, _TOPIC) for one in found[:_MOST] if (word := _flatten_line(one))))
