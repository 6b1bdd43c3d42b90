"""Session units: facts from turns, for prompts and tools of later turns (sessions 8)."""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from convengine.engine.forms.status import is_meaningful
from convengine.engine.prompts.values import to_text
from convengine.engine.text.compare import norm
from convengine.engine.turn.session import Session

Json = Any
#: The branch of the context with the units for prompts, and their maximum number.
BRANCH = "session_units"
_SEEN = 50
KINDS = ("FACT", "CONSTRAINT", "DEFINITION", "GUIDANCE")
#: Where a turn stages units that a model found.
EXTRACTED = "extracted_units"
#: Where a turn lists the fields of the form that it filled.
_FILLED = ("schema_extracted_fields", "correction_fields")


@dataclass(frozen=True)
class Unit:
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
        """The unit as a turn stages it."""
        return {**self.to_prompt(), "utility": list(self.utility), "phases": list(self.phases)}

    def to_prompt(self) -> dict[str, Json]:
        """The unit as prompts see it."""
        return {"kind": self.kind, "topic": self.topic, "claim": self.claim, "source_turn": self.source_turn}


def stage_units(session: Session) -> Session:
    """The session with the units of this turn added.

    A fact of the same topic is replaced; equal units are stored once.
    """
    new = tuple(list_units(session))
    if not new:
        return session
    topics, said = {unit.topic for unit in new if unit.kind == "FACT"}, {unit.content_hash for unit in new}
    kept = [
        one
        for one in _get_prompt_units(session)
        if not (one.get("kind") == "FACT" and one.get("topic") in topics) and _hash_unit(one) not in said
    ]
    return session.with_context({BRANCH: [*kept, *(unit.to_prompt() for unit in new)][-_SEEN:]})


def list_units(session: Session) -> Iterator[Unit]:
    """The units of this turn without duplicates: facts for the form, and units that a model found."""
    said: set[str] = set()
    for unit in chain(_list_form_units(session), _list_model_units(session)):
        if unit.content_hash not in said:
            said.add(unit.content_hash)
            yield unit


def _list_model_units(session: Session) -> Iterator[Unit]:
    for one in session.input_params.get(EXTRACTED) or ():
        words = tuple(one["utility"]), tuple(one["phases"])
        yield Unit(one["kind"], one["topic"], one["claim"], one["source_turn"], *words)


def _list_form_units(session: Session) -> Iterator[Unit]:
    names = dict.fromkeys(name for key in _FILLED for name in session.input_params.get(key) or ())
    for name in names:
        value = session.context.get(name)
        if is_meaningful(value):
            said = ", ".join(to_text(one) for one in value) if isinstance(value, (list, tuple)) else to_text(value)
            yield Unit("FACT", str(name), said, session.turn_no)


def _hash_unit(seen: Mapping[str, Json]) -> str:
    return Unit(str(seen.get("kind")), str(seen.get("topic")), str(seen.get("claim")), 0).content_hash


def _get_prompt_units(session: Session) -> Sequence[Mapping[str, Json]]:
    found = session.context.get(BRANCH)
    return [one for one in found if isinstance(one, Mapping)] if isinstance(found, (list, tuple)) else ()
