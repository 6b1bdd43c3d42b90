"""The input of every check: configuration and installation, the changed rows, the remaining time."""

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field
from typing import TypeVar

from config_admin.health.diagnosis import RowKey
from config_admin.health.player import TurnPlayer
from config_admin.validation.world import World
from convengine.engine.cached_property import cached_property
from convengine.engine.text.compare import code
from convengine.engine.turn import rows
from convengine.engine.turn.rows import Row
from convengine.engine.turn.snapshot import Snapshot

R = TypeVar("R", bound=Row)


@dataclass(frozen=True)
class Survey:
    """The input of the checks. `touched`: findings about these rows are wanted; with None, about all rows."""

    snapshot: Snapshot
    world: World
    touched: Collection[RowKey] | None = None
    #: Seconds since some moment.
    clock: Callable[[], float] = lambda: 0.0
    #: When searches end, by that clock.
    deadline: float = float("inf")
    #: What was not checked for lack of time, counted by kind.
    left_out: dict[str, int] = field(default_factory=dict)
    #: The kind of what is checked now; none once it is counted as left out.
    _checked: list[str] = field(default_factory=list)

    @cached_property
    def player(self) -> TurnPlayer:
        return TurnPlayer(self.snapshot, self.world, self._interrupts)

    def of(self, row_type: type[R]) -> Iterable[R]:
        """The enabled rows of a type to check."""
        enabled = self.snapshot.enabled_rows(row_type)
        return enabled if self.touched is None else [row for row in enabled if self.is_touched(row)]

    def is_touched(self, *of: Row) -> bool:
        """True when one of the rows changed, or everything is checked."""
        return self.touched is None or any(RowKey(row.table, row.pk) in self.touched for row in of)

    @cached_property
    def intents(self) -> frozenset[str] | None:
        """The intents of the changed rows, including ANY. Returns None for all."""
        if self.touched is None:
            return None
        changed = (self.snapshot.tables[key.table].by_pk.get(key.pk) for key in self.touched)
        return frozenset(code(getattr(row, "intent_code", "ANY")) for row in changed if row is not None)

    def is_near(self, intent: str) -> bool:
        """True when a changed row concerns the intent, or all."""
        return self.intents is None or code(intent) in self.intents or "ANY" in self.intents

    def must_skip(self, what: str) -> bool:
        """True when no time is left, so that the caller skips a check; counts it by the name `what`."""
        if self.clock() < self.deadline:
            self._checked[:] = [what]
            return False
        self.left_out[what] = self.left_out.get(what, 0) + 1
        return True

    def _interrupts(self) -> bool:
        """True when a search that has begun must end without a result; counts what it was for."""
        return self.clock() >= self.deadline and (not self._checked or self.must_skip(self._checked.pop()))

    def is_active(self, rule: rows.Rule) -> bool:
        """True for an enabled rule of an active intent."""
        return rule.enabled and self.snapshot.is_active(rule.intent_code)
