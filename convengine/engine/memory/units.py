"""Session units: facts from turns, from values or by a model, for prompts and tools of later turns."""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

from convengine.engine.forms.form import is_meaningful
from convengine.engine.llm.ask import ModelQuestion, Stages, ask
from convengine.engine.memory.context_summary import flatten_line
from convengine.engine.memory.settings import UNITS_PROMPT
from convengine.engine.memory.stages import SESSION_UNITS_LLM_ERROR, SESSION_UNITS_LLM_INPUT, SESSION_UNITS_LLM_OUTPUT
from convengine.engine.prompts.fill import fill_prompts_or_audit
from convengine.engine.prompts.values import to_text
from convengine.engine.text.compare import blank, norm, shorten
from convengine.engine.turn.owned_params import MemoryParams
from convengine.engine.turn.payload import to_document, to_spoken_text
from convengine.engine.turn.session import Session
from convengine.engine.turn.turn import Turn
from convengine.json_value import Json

#: The branch of the context with the units for prompts, and their maximum number.
BRANCH = "session_units"
_SEEN = 50
KINDS = ("FACT", "CONSTRAINT", "DEFINITION", "GUIDANCE")
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


@dataclass(frozen=True)
class MemoryUnit:
    """One unit, as `ce_session_unit` stores it."""

    kind: str
    topic: str
    claim: str
    source_turn: int
    #: Its purpose, and when it matters.
    utility: tuple[str, ...] = ()
    phases: tuple[str, ...] = ()

    @property
    def content_hash(self) -> str:
        """A hash of the normalised kind, topic and claim, equal for equal units."""
        return hashlib.sha256("\n".join((self.kind, norm(self.topic), norm(self.claim))).encode()).hexdigest()

    def as_staged_unit(self) -> dict[str, Json]:
        return {**self.to_prompt(), "utility": list(self.utility), "phases": list(self.phases)}

    def to_prompt(self) -> dict[str, Json]:
        return {"kind": self.kind, "topic": self.topic, "claim": self.claim, "source_turn": self.source_turn}


def stage_units(session: Session) -> Session:
    """The session with the units of this turn added.

    A fact of the same topic is replaced; equal units are stored once.
    """
    if not (units := tuple(list_units(session))):
        return session
    topics, hashes = {unit.topic for unit in units if unit.kind == "FACT"}, {unit.content_hash for unit in units}
    stored, remaining = session.context.get(BRANCH), []
    for unit in stored if isinstance(stored, (list, tuple)) else ():
        if isinstance(unit, Mapping) and not (unit.get("kind") == "FACT" and unit.get("topic") in topics):
            known = MemoryUnit(str(unit.get("kind")), str(unit.get("topic")), str(unit.get("claim")), 0)
            if known.content_hash not in hashes:
                remaining.append(unit)
    return session.with_context({BRANCH: [*remaining, *(unit.to_prompt() for unit in units)][-_SEEN:]})


def list_units(session: Session) -> Iterator[MemoryUnit]:
    """The units of this turn without duplicates: facts for the form, and units that a model found."""
    hashes: set[str] = set()
    extracted = (
        MemoryUnit(
            unit["kind"],
            unit["topic"],
            unit["claim"],
            unit["source_turn"],
            *map(tuple, (unit["utility"], unit["phases"])),
        )
        for unit in session.memory.extracted_units or ()
    )
    for unit in chain(_list_form_units(session), extracted):
        if unit.content_hash not in hashes:
            hashes.add(unit.content_hash)
            yield unit


def _list_form_units(session: Session) -> Iterator[MemoryUnit]:
    filled = (session.form.schema_extracted_fields, session.routing.correction_fields)
    names = dict.fromkeys(name for fields in filled for name in fields or ())
    for name in names:
        value = session.context.get(name)
        if is_meaningful(value):
            text = ", ".join(to_text(item) for item in value) if isinstance(value, (list, tuple)) else to_text(value)
            yield MemoryUnit("FACT", str(name), text, session.turn_no)


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
    question = ModelQuestion(PURPOSE, prompts.system, prompts.user, json_schema=_SCHEMA, strict=True, stages=_STAGES)
    reply = ask(session, turn, question)
    if reply.error:
        return session
    extracted = [unit.as_staged_unit() for unit in _read_units(reply.value, session.turn_no)]
    return session.with_values(MemoryParams(extracted_units=extracted)) if extracted else session


def _read_units(value: Json, turn_no: int) -> Iterator[MemoryUnit]:
    """The units of an answer, cut to size, without duplicates; those without a topic or a claim are left out."""
    seen: set[str] = set()
    for entry in value["units"][:_MOST]:
        topic, claim = shorten(flatten_line(entry["topic"]), _TOPIC), shorten(flatten_line(entry["claim"]), _CLAIM)
        unit = MemoryUnit(
            entry["kind"], topic, claim, turn_no, _list_words(entry["utility"]), _list_words(entry["phases"])
        )
        if topic and claim and unit.content_hash not in seen:
            seen.add(unit.content_hash)
            yield unit


def _list_words(entries: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(shorten(word, _TOPIC) for entry in entries[:_MOST] if (word := flatten_line(entry))))
