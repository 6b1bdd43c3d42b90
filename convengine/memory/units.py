"""Session units: facts taken from the turns, for prompts and tools of later ones (sessions 8)."""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from convengine.domain.session import Session
from convengine.domain.text import norm
from convengine.prompts.values import text_of
from convengine.schemas.status import meaningful

Json = Any
#: The branch of the context that holds the units that prompts see, and how many those are.
BRANCH = "session_units"
_SEEN = 50
#: Where a turn says which fields of the form it filled.
_FILLED = ("schema_extracted_fields", "correction_fields")


@dataclass(frozen=True)
class Unit:
    """One unit, as `ce_session_unit` keeps it."""

    kind: str
    topic: str
    claim: str
    source_turn: int

    @property
    def content_hash(self) -> str:
        """The same for what says the same: over kind, topic and claim, normalised."""
        return hashlib.sha256("\n".join((self.kind, norm(self.topic), norm(self.claim))).encode()).hexdigest()

    def seen(self) -> dict[str, Json]:
        """The unit as prompts see it."""
        return {"kind": self.kind, "topic": self.topic, "claim": self.claim, "source_turn": self.source_turn}


def staged(session: Session) -> Session:
    """The session with the units of this turn beside those that it has; a fact of the same topic is replaced."""
    new = tuple(units(session))
    if not new:
        return session
    topics = {unit.topic for unit in new}
    kept = [one for one in _seen(session) if one.get("kind") != "FACT" or one.get("topic") not in topics]
    return session.with_context({BRANCH: [*kept, *(unit.seen() for unit in new)][-_SEEN:]})


def units(session: Session) -> Iterator[Unit]:
    """The facts that this turn put into the form."""
    names = dict.fromkeys(name for key in _FILLED for name in session.input_params.get(key) or ())
    for name in names:
        value = session.context.get(name)
        if meaningful(value):
            said = ", ".join(text_of(one) for one in value) if isinstance(value, (list, tuple)) else text_of(value)
            yield Unit("FACT", str(name), said, session.turn_no)


def _seen(session: Session) -> Sequence[Mapping[str, Json]]:
    found = session.context.get(BRANCH)
    return [one for one in found if isinstance(one, Mapping)] if isinstance(found, (list, tuple)) else ()
