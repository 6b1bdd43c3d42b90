"""A finding of the health check: its consequence, its rows, and an input that causes it (the witness)."""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple

from config_admin.health.impact import Impact, get_impact
from config_admin.validation.draft import Finding, Severity
from convengine.engine.turn.codec import dumps
from convengine.engine.turn.rows import Row
from convengine.engine.turn.snapshot import Snapshot
from convengine.json_value import Json


class RowKey(NamedTuple):
    table: str
    pk: Any


@dataclass(frozen=True)
class Witness:
    """A turn by its beginning: where the conversation is, and what it gets. The phase and the act are of the turn."""

    intent: str | None = None
    state: str | None = None
    text: str | None = None
    phase: str | None = None
    dialogue_act: str | None = None
    context: Mapping[str, Json] = field(default_factory=dict)
    input_params: Mapping[str, Json] = field(default_factory=dict)
    #: Other necessary facts, by name.
    facts: Mapping[str, Json] = field(default_factory=dict)
    #: True when the text is one for each of the rows, one after the other.
    joined: bool = False

    def as_dict(self) -> dict[str, Json]:
        """Its parts, in camelCase as in the API."""
        parts = {
            "intent": self.intent,
            "state": self.state,
            "phase": self.phase,
            "userText": self.text,
            "dialogueAct": self.dialogue_act,
            "context": dict(self.context),
            "inputParams": dict(self.input_params),
            "facts": dict(self.facts),
        }
        return {name: value for name, value in parts.items() if value not in (None, {})} | {"joined": self.joined}


@dataclass(frozen=True)
class Diagnosis(Finding):
    """A finding about the configuration as a whole. Its own row is the first to look at."""

    #: The consequence for a customer.
    consequence: str = ""
    #: Every row that takes part, its own first.
    rows: tuple[RowKey, ...] = ()
    #: A played turn that shows it; None if the rows themselves do.
    witness: Witness | None = None
    #: True when only a turn could show it, and none was found.
    is_unproven: bool = False

    @property
    def impact(self) -> Impact:
        """How much it matters to customers."""
        return Impact.HINT if self.is_unproven else get_impact(self.code, self.severity)

    @property
    def key(self) -> str:
        """The name of the finding whatever its rows contain, for its age: 32 hexadecimal digits."""
        return _hash([self.code, self.field, *self._identity_parts, *((key.table, str(key.pk)) for key in self.rows)])

    @property
    def _identity_parts(self) -> list[str]:
        return [self.translation] if self.translation else []

    def as_dict(self) -> dict[str, Any]:
        """The finding for the console and the API."""
        return super().as_dict() | {
            "impact": self.impact.value,
            "consequence": self.consequence,
            "rows": [{"table": key.table, "row": key.pk} for key in self.rows],
            "witness": self.witness.as_dict() if self.witness else None,
        }

    def fingerprint(self, snapshot: Snapshot) -> str:
        """The name of the finding as long as its rows stay unchanged: 32 hexadecimal digits."""
        members = [snapshot.tables[key.table].by_pk.get(key.pk) for key in self.rows]
        return _hash([self.code, *self._identity_parts, *(asdict(row) if row else None for row in members)])


def _hash(content: list[Any]) -> str:
    return hashlib.sha256(dumps(content).encode()).hexdigest()[:32]


def make_diagnosis(
    code: str,
    severity: Severity,
    row: Row | None,
    message: str,
    consequence: str,
    *,
    others: Iterable[Row] = (),
    table: str = "",
    field: str | None = None,
    witness: Witness | None = None,
    is_unproven: bool = False,
    translation: str = "",
) -> Diagnosis:
    """A diagnosis of a row, or of a table without a row. One that no turn shows is a hint, and says so."""
    rows = tuple(dict.fromkeys(RowKey(member.table, member.pk) for member in ((row,) if row else ()) + tuple(others)))
    own = row.table if row else table, row.pk if row else None
    return Diagnosis(
        code, severity, *own, field, message, consequence, rows, witness, is_unproven, translation=translation
    )
