"""What no test reaches, from the newest result of each test on a state of a configuration."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from django.db.models import Max

from config_admin.test_cases.models import CeTestCase, CeTestResult
from convengine.engine.text.compare import code
from convengine.engine.turn.scope import ANY
from convengine.engine.turn.snapshot import Snapshot
from convengine.play.coverage import MOVES, STATES, Coverage, CoveredItem

#: Where items belong that are of no single intent.
GENERAL = ""


@dataclass
class TestCoverage:
    """What the tests reach on a configuration."""

    __test__ = False
    coverage: Coverage
    #: The intent of each item, or GENERAL.
    intents: Mapping[tuple[str, ...], str]
    #: Tests that ran on this state, as they are now, and all tests.
    ran: int
    total: int
    #: Table, key or intent, and so on, with the item: what is not reached.
    unreached: list[tuple[tuple[str, ...], CoveredItem]] = field(default_factory=list)


def measure_coverage(snapshot: Snapshot) -> TestCoverage:
    """The coverage of the newest results on this state. Two queries."""
    coverage = Coverage()
    coverage.add_configuration(snapshot)
    newest = (
        CeTestResult.objects.filter(content_hash=snapshot.content_hash)
        .values("test_case_id")
        .annotate(newest=Max("result_id"))
        .values("newest")
    )
    results = CeTestResult.objects.filter(pk__in=newest).values_list(
        "test_case__title", "deciding_rows", "positions", "document_hash", "test_case__document_hash"
    )
    ran = 0
    for title, deciding_rows, positions, played, current in results.iterator(chunk_size=500):
        if played != current:
            continue
        ran += 1
        rows = [(table, pk) for table, pk, _ in deciding_rows]
        coverage.add_turn(title, rows, [])
        for turn in positions:
            coverage.add_turn(title, [], [(intent, state) for intent, state in turn])
    intents = {key: _find_intent(snapshot, key) for key in coverage.items}
    unreached = [(key, item) for key, item in coverage.items.items() if not item.scenarios]
    return TestCoverage(coverage, intents, ran, CeTestCase.objects.filter(erased_at=None).count(), unreached)


def _find_intent(snapshot: Snapshot, key: tuple[str, ...]) -> str:
    if key[0] in (STATES, MOVES):
        return key[1]
    row = snapshot.find_row(key[0], key[1])
    intent = code(getattr(row, "intent_code", ANY) or ANY)
    return GENERAL if intent == ANY else intent


def count_by_intent(measured: TestCoverage) -> dict[str, tuple[int, int]]:
    """By intent: how many items are reached, of how many."""
    counts: dict[str, tuple[int, int]] = {}
    for key, item in measured.coverage.items.items():
        reached, total = counts.get(measured.intents[key], (0, 0))
        counts[measured.intents[key]] = (reached + bool(item.scenarios), total + 1)
    return dict(sorted(counts.items(), key=lambda entry: (entry[0] == GENERAL, entry[0])))
