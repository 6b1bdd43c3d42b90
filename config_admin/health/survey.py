"""What every check looks at: configuration and installation, which rows were touched, how much time is left."""

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeVar

from config_admin.health.diagnosis import RowKey
from config_admin.health.rules import dry
from config_admin.health.rules.scene import Stage
from config_admin.validation.world import World
from convengine.domain import rows
from convengine.domain.rows import Row
from convengine.domain.snapshot import Snapshot
from convengine.domain.text import code

R = TypeVar("R", bound=Row)


@dataclass(frozen=True)
class Survey:
    """One look at a configuration. `touched`: only what concerns these rows is wanted; null for all of it."""

    snapshot: Snapshot
    world: World
    touched: Collection[RowKey] | None = None
    #: Seconds, from some moment on.
    clock: Callable[[], float] = lambda: 0.0
    #: When searches end, by that clock.
    deadline: float = float("inf")
    #: What was not looked at for want of time: how many of what.
    left_out: dict[str, int] = field(default_factory=dict)

    @cached_property
    def stage(self) -> Stage:
        """Where moments are played."""
        return Stage(self.snapshot, self.world)

    @cached_property
    def harmless(self) -> Snapshot:
        """The configuration as phases of rules are run on it."""
        return dry.harmless(self.snapshot)

    def of(self, row_type: type[R]) -> Iterable[R]:
        """The enabled rows of a type that are to be looked at."""
        found = self.snapshot.enabled(row_type)
        return found if self.touched is None else [row for row in found if self.is_touched(row)]

    def is_touched(self, *of: Row) -> bool:
        """True when one of the rows was touched, or everything is looked at."""
        return self.touched is None or any(RowKey(row.table, row.pk) in self.touched for row in of)

    @cached_property
    def intents(self) -> frozenset[str] | None:
        """The intents of the touched rows, ANY with them; null for all."""
        if self.touched is None:
            return None
        found = (self.snapshot.tables[key.table].by_pk.get(key.pk) for key in self.touched)
        return frozenset(code(getattr(row, "intent_code", "ANY")) for row in found if row is not None)

    def is_near(self, intent: str) -> bool:
        """True when a touched row speaks of the intent, or of all."""
        return self.intents is None or code(intent) in self.intents or "ANY" in self.intents

    def late(self, what: str, left: int = 1) -> bool:
        """True when there is no time left; what is not looked at because of that is noted."""
        if self.clock() < self.deadline:
            return False
        self.left_out[what] = self.left_out.get(what, 0) + left
        return True

    def active(self, rule: rows.Rule) -> bool:
        """True for a rule that takes part."""
        return rule.enabled and self.snapshot.is_active(rule.intent_code)
