"""Play one test on a snapshot."""

import time
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime

from config_admin.releases.blobs import canonical, hash_of
from config_admin.test_cases.documents import TestRefused, read_scenario
from config_admin.test_cases.models import CeTestCase
from convengine.engine.turn.codec import to_plain
from convengine.engine.turn.rows import Row
from convengine.engine.turn.snapshot import Snapshot
from convengine.json_value import Json
from convengine.play.expectations import find_misses
from convengine.play.in_memory import MemoryPlayer

#: How many lines of an explanation are stored for a turn.
_LINES = 60


@dataclass
class CaseVerdict:
    """What a test gave on a snapshot."""

    #: {turn, where, expected, got} of everything that did not hold.
    failures: list[dict[str, Json]] = field(default_factory=list)
    #: The turns, with explanations of those that failed.
    turns: list[dict[str, Json]] = field(default_factory=list)
    #: Table, key and hash of the rows that decided something.
    deciding_rows: list[list[Json]] = field(default_factory=list)
    positions: list[list[list[str]]] = field(default_factory=list)
    milliseconds: int = 0

    @property
    def has_passed(self) -> bool:
        return not self.failures


def play_test(case: CeTestCase, snapshot: Snapshot, now: datetime) -> CaseVerdict:
    """Play a test. A test that cannot be played fails."""
    began, verdict = time.monotonic(), CaseVerdict()
    decided: dict[tuple[str, str], None] = {}
    try:
        player = MemoryPlayer(read_scenario(case), snapshot, now)
    except TestRefused as refused:
        verdict.failures.append({"turn": None, "where": "test", "expected": "a test", "got": str(refused)})
        return verdict
    for number, (turn, played) in enumerate(player.play_all(), start=1):
        seen = played.seen
        misses = list(find_misses(turn.expect, seen))
        verdict.failures += [
            to_plain({"turn": number, "where": miss.where, "expected": miss.expected, "got": miss.actual})
            for miss in misses
        ]
        described = {
            "user": seen.message,
            "answer": to_plain(seen.payload.get("value")),
            "intent": seen.intent,
            "state": seen.state,
        }
        verdict.turns.append(described | ({"lines": seen.explanation[:_LINES]} if misses else {}))
        verdict.positions.append([list(position) for position in seen.positions])
        decided.update(dict.fromkeys(seen.deciding_rows))
    verdict.deciding_rows = [[table, pk, hash_row(snapshot.find_row(table, pk))] for table, pk in decided]
    verdict.milliseconds = round((time.monotonic() - began) * 1000)
    return verdict


def hash_row(row: Row | None) -> str:
    """The hash of a row's content; blank for a missing one."""
    return "" if row is None else hash_of(canonical(to_plain(asdict(row))))[:16]


def list_changed_rows(
    before: Sequence[Sequence[str]], after: Iterable[Sequence[str]], snapshot: Snapshot
) -> list[dict[str, str]]:
    """What differs between the deciding rows of a run that passed and of one that failed.

    First rows that were deleted or changed, then rows that decide now and did not, then rows that no longer decide.
    """
    now = {(table, pk): row_hash for table, pk, row_hash in after}
    then = {(table, pk): row_hash for table, pk, row_hash in before}
    changes: dict[str, list[tuple[str, str]]] = {
        "deleted": [],
        "changed": [],
        "decides now": [],
        "no longer decides": [],
    }
    for (table, pk), row_hash in then.items():
        current = hash_row(snapshot.find_row(table, pk))
        if not current:
            changes["deleted"].append((table, pk))
        elif current != row_hash:
            changes["changed"].append((table, pk))
        elif (table, pk) not in now:
            changes["no longer decides"].append((table, pk))
    changes["decides now"] = [name for name in now if name not in then]
    return [{"table": table, "pk": pk, "how": how} for how, names in changes.items() for table, pk in names]
