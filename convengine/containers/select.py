"""Which container rows run: those of the most specific tier that has any (pipeline-2 1.2, tables 3.4)."""

from collections.abc import Mapping
from dataclasses import dataclass

from convengine.domain import rows
from convengine.domain.scope import buckets
from convengine.domain.snapshot import Snapshot
from convengine.domain.text import code
from convengine.domain.turn import Candidate
from convengine.rules import cuts
from convengine.rules.explain import OUTRANKED


@dataclass(frozen=True)
class ContainerChoice:
    """The rows that run, by priority and id, and the counts of those that do not."""

    chosen: tuple[rows.ContainerConfig, ...]
    cut: Mapping[str, int]

    def candidates(self) -> list[Candidate]:
        """All rows of the tier: they all run."""
        return [Candidate(row.id, True) for row in self.chosen]


def choose_containers(snapshot: Snapshot, intent: str | None, state: str | None) -> ContainerChoice:
    """The first tier with a row is used alone: intent and state, intent, state, everywhere."""
    by_scope = snapshot.index(rows.ContainerConfig, _scope, _order)
    tiers = [
        by_scope[bucket]
        for bucket in dict.fromkeys(buckets(intent, state))
        if bucket in by_scope and snapshot.is_active(bucket[0])
    ]
    in_scope = sum(len(tier) for tier in tiers)
    chosen = tiers[0] if tiers else ()
    cut = cuts.scope_cuts(snapshot, rows.ContainerConfig, intent, in_scope)
    return ContainerChoice(chosen, {**cut, OUTRANKED: in_scope - len(chosen)})


def _scope(row: rows.ContainerConfig) -> tuple[str, str]:
    return code(row.intent_code), code(row.state_code)


def _order(row: rows.ContainerConfig) -> tuple[int, int]:
    return row.priority, row.id
