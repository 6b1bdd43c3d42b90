"""Session units that a model takes from a turn, where a prompt for that is configured (sessions 8)."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from convengine.domain.catalogue.session import UNITS_PROMPT
from convengine.domain.payload import spoken, stored
from convengine.domain.session import Session
from convengine.domain.stages import Stage
from convengine.domain.text import blank, excerpt
from convengine.domain.turn import Turn
from convengine.llm.ask import Question, Stages, ask
from convengine.memory.units import EXTRACTED, KINDS, Unit
from convengine.prompts.fill import filled_or_told

Json = Any
PURPOSE = "UNITS"
#: Longest topic and claim, in characters, and how many units one turn may give.
_TOPIC, _CLAIM, _MOST = 120, 500, 20
_STAGES = Stages(Stage.SESSION_UNITS_LLM_INPUT, Stage.SESSION_UNITS_LLM_OUTPUT, Stage.SESSION_UNITS_LLM_ERROR)
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


def extracted(session: Session, turn: Turn) -> Session:
    """The session with what the model found in this turn, staged in its params; the commit stores it.

    The same session where no prompt is configured, there is no model, or nothing was said. A fault of the model or of
    the prompt changes nothing else; SESSION_UNITS_LLM_ERROR tells it.
    """
    prompt = turn.config(session, UNITS_PROMPT)
    if blank(prompt) or not turn.ports.model.configured or blank(session.user_text) or session.reset_reason:
        return session
    prompts = filled_or_told(
        session,
        turn,
        Stage.SESSION_UNITS_LLM_ERROR,
        system=_SYSTEM,
        user=prompt,
        selected={"configType": UNITS_PROMPT.type},
        answer=spoken(stored(session.payload)) if session.payload else "",
    )
    if prompts is None:
        return session
    question = Question(PURPOSE, prompts.system, prompts.user, json_schema=_SCHEMA, strict=True, stages=_STAGES)
    reply = ask(session, turn, question)
    if reply.error:
        return session
    found = list(_read(reply.value, turn.turn_no))
    return session.with_params({EXTRACTED: [unit.kept() for unit in found]}) if found else session


def _read(value: Json, turn_no: int) -> Iterator[Unit]:
    """The units of an answer, cut to size, each once; those without a topic or a claim are left out."""
    seen: set[str] = set()
    for one in value["units"][:_MOST]:
        topic, claim = excerpt(_line(one["topic"]), _TOPIC), excerpt(_line(one["claim"]), _CLAIM)
        unit = Unit(one["kind"], topic, claim, turn_no, _words(one["utility"]), _words(one["phases"]))
        if topic and claim and unit.content_hash not in seen:
            seen.add(unit.content_hash)
            yield unit


def _line(text: str) -> str:
    return " ".join(text.split())


def _words(found: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(excerpt(word, _TOPIC) for one in found[:_MOST] if (word := _line(one))))
