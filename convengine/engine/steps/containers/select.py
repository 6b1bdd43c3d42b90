"""Which container rows run: all of the most specific scope that has any (pipeline-2 1.2, tables 3.4)."""

from collections.abc import Mapping
from dataclasses import dataclass

from convengine.engine.rules import exclusion
from convengine.engine.rules.explain import OUTRANKED
from convengine.engine.text.compare import code
from convengine.engine.turn import rows
from convengine.engine.turn.scope import list_buckets
from convengine.engine.turn.snapshot import Snapshot
from convengine.engine.turn.turn import Candidate


@dataclass(frozen=True)
class ContainerChoice:
    """The rows that run, by priority and id, and the counts of the others."""

    chosen: tuple[rows.ContainerConfig, ...]
    cut: Mapping[str, int]

    def candidates(self) -> list[Candidate]:
        """All chosen rows, because they all run."""
        return [Candidate(row.id, True) for row in self.chosen]


def choose_containers(snapshot: Snapshot, intent: str | None, state: str | None) -> ContainerChoice:
    """Only the first scope with a row is used: intent and state, intent, state, everywhere."""
    by_scope = snapshot.index(rows.ContainerConfig, _scope, _order)
    tiers = [
        by_scope[bucket]
        for bucket in dict.fromkeys(list_buckets(intent, state))
        if bucket in by_scope and snapshot.is_active(bucket[0])
    ]
    in_scope = sum(len(tier) for tier in tiers)
    chosen = tiers[0] if tiers else ()
    cut = exclusion.count_out_of_scope(snapshot, rows.ContainerConfig, intent, in_scope)
    return ContainerChoice(chosen, {**cut, OUTRANKED: in_scope - len(chosen)})


def _scope(row: rows.ContainerConfig) -> tuple[str, str]:
    return code(row.intent_code), code(row.state_code)


def _order(row: rows.ContainerConfig) -> tuple[int, int]:
    return row.priority, row.id
