"""Session units: facts taken from the turns, for prompts and tools of later ones (sessions 8)."""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from convengine.domain.session import Session
from convengine.domain.text import norm
from convengine.prompts.values import text_of
from convengine.schemas.status import meaningful

Json = Any
#: The branch of the context that holds the units that prompts see, and how many those are.
BRANCH = "session_units"
_SEEN = 50
KINDS = ("FACT", "CONSTRAINT", "DEFINITION", "GUIDANCE")
#: Where a turn stages what a model found in it.
EXTRACTED = "extracted_units"
#: Where a turn says which fields of the form it filled.
_FILLED = ("schema_extracted_fields", "correction_fields")


@dataclass(frozen=True)
class Unit:
    """One unit, as `ce_session_unit` keeps it."""

    kind: str
    topic: str
    claim: str
    source_turn: int
    #: What it is good for, and when it matters.
    utility: tuple[str, ...] = ()
    phases: tuple[str, ...] = ()

    @property
    def content_hash(self) -> str:
        """The same for what says the same: over kind, topic and claim, normalised."""
        return hashlib.sha256("\n".join((self.kind, norm(self.topic), norm(self.claim))).encode()).hexdigest()

    def kept(self) -> dict[str, Json]:
        """The unit as a turn stages it."""
        return {**self.seen(), "utility": list(self.utility), "phases": list(self.phases)}

    def seen(self) -> dict[str, Json]:
        """The unit as prompts see it."""
        return {"kind": self.kind, "topic": self.topic, "claim": self.claim, "source_turn": self.source_turn}


def staged(session: Session) -> Session:
    """The session with the units of this turn beside those that it has.

    A fact of the same topic is replaced, and what says the same is not said twice.
    """
    new = tuple(units(session))
    if not new:
        return session
    topics, said = {unit.topic for unit in new if unit.kind == "FACT"}, {unit.content_hash for unit in new}
    kept = [
        one
        for one in _seen(session)
        if not (one.get("kind") == "FACT" and one.get("topic") in topics) and _hash_of(one) not in said
    ]
    return session.with_context({BRANCH: [*kept, *(unit.seen() for unit in new)][-_SEEN:]})


def units(session: Session) -> Iterator[Unit]:
    """The units of this turn, each once: facts that it put into the form, and what a model found in it."""
    said: set[str] = set()
    for unit in chain(_of_form(session), _of_model(session)):
        if unit.content_hash not in said:
            said.add(unit.content_hash)
            yield unit


def _of_model(session: Session) -> Iterator[Unit]:
    for one in session.input_params.get(EXTRACTED) or ():
        words = tuple(one["utility"]), tuple(one["phases"])
        yield Unit(one["kind"], one["topic"], one["claim"], one["source_turn"], *words)


def _of_form(session: Session) -> Iterator[Unit]:
    names = dict.fromkeys(name for key in _FILLED for name in session.input_params.get(key) or ())
    for name in names:
        value = session.context.get(name)
        if meaningful(value):
            said = ", ".join(text_of(one) for one in value) if isinstance(value, (list, tuple)) else text_of(value)
            yield Unit("FACT", str(name), said, session.turn_no)


def _hash_of(seen: Mapping[str, Json]) -> str:
    return Unit(str(seen.get("kind")), str(seen.get("topic")), str(seen.get("claim")), 0).content_hash


def _seen(session: Session) -> Sequence[Mapping[str, Json]]:
    found = session.context.get(BRANCH)
    return [one for one in found if isinstance(one, Mapping)] if isinstance(found, (list, tuple)) else ()
