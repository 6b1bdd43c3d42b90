"""A finding of the health check, with its consequence, its rows, and an input."""

import hashlib
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

from config_admin.health.witness import Witness
from config_admin.validation.findings import Finding, Severity
from convengine.engine.turn.codec import dumps
from convengine.engine.turn.rows import Row
from convengine.engine.turn.snapshot import Snapshot


class RowKey(NamedTuple):
    """A row by its table and primary key."""

    table: str
    pk: Any


@dataclass(frozen=True)
class Diagnosis(Finding):
    """A finding about the configuration as a whole. Its own row is the first to look at."""

    #: The consequence for a customer.
    consequence: str = ""
    #: Every row that takes part, its own first.
    rows: tuple[RowKey, ...] = ()
    #: An input that causes it, simulated by the engine; null if none is needed.
    witness: Witness | None = None

    def as_dict(self) -> dict[str, Any]:
        """The finding for the console and the API."""
        return super().as_dict() | {
            "consequence": self.consequence,
            "rows": [{"table": key.table, "row": key.pk} for key in self.rows],
            "witness": self.witness.as_dict() if self.witness else None,
        }

    def fingerprint(self, snapshot: Snapshot) -> str:
        """The name of the finding as long as its rows stay unchanged: 32 hexadecimal digits."""
        found = [snapshot.tables[key.table].by_pk.get(key.pk) for key in self.rows]
        said = [self.code, *(asdict(row) if row else None for row in found)]
        return hashlib.sha256(dumps(said).encode()).hexdigest()[:32]


def diagnosis(
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
) -> Diagnosis:
    """A diagnosis of a row, or of a table without a row."""
    rows = tuple(dict.fromkeys(RowKey(one.table, one.pk) for one in ((row,) if row else ()) + tuple(others)))
    return Diagnosis(
        code, severity, row.table if row else table, row.pk if row else None, field, message, consequence, rows, witness
    )
