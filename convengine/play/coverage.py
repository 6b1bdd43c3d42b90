"""Which rows, states and moves of a configuration the turns of scenarios reach; as lines, as JSON and as a page."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from html import escape
from itertools import pairwise

from convengine.engine.rules.row_names import name_row
from convengine.engine.rules.sentence import describe_rule
from convengine.engine.text.compare import code, shorten
from convengine.engine.turn import rows
from convengine.engine.turn.enums import RuleAction
from convengine.engine.turn.rows import Row
from convengine.engine.turn.scope import ANY, UNKNOWN
from convengine.engine.turn.snapshot import Snapshot

#: What counts, by the tables' rows; each kind has its word on reports.
_ROW_TYPES: Sequence[tuple[str, type[Row]]] = (
    ("Phrases", rows.Classifier),
    ("Rules", rows.Rule),
    ("Answers", rows.Response),
    ("Forms", rows.OutputSchema),
    ("Policies", rows.Policy),
    ("Actions", rows.PendingAction),
    ("Tool calls", rows.DirectTool),
    ("Containers", rows.ContainerConfig),
)
STATES, MOVES = "States", "Moves"
_LONGEST = 120
_HEAD = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Coverage</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>
body {font: 16px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 70rem; padding: 0 1rem; color: #1f2937}
table {border-collapse: collapse; width: 100%} th, td {text-align: left; padding: .3rem .6rem; vertical-align: top}
tr {border-bottom: 1px solid #e5e7eb} .missed td:first-child {border-left: 4px solid #b91c1c}
.reached td:first-child {border-left: 4px solid #15803d} summary {cursor: pointer; font-weight: 600; margin: 1rem 0}
</style></head><body>
"""


@dataclass
class CoveredItem:
    """A row, a state or a move, and the scenarios that reach it."""

    kind: str
    name: str
    #: In the order in which they reached it; a mapping, so that a thousand are looked up at once.
    scenarios: dict[str, None] = field(default_factory=dict)


@dataclass
class Coverage:
    """What there is to reach, and what was reached, over all scenarios of a run."""

    items: dict[tuple[str, ...], CoveredItem] = field(default_factory=dict)

    def add_configuration(self, snapshot: Snapshot) -> None:
        """Add everything that a configuration lets a turn reach."""
        for kind, row_type in _ROW_TYPES:
            for row in snapshot.enabled_rows(row_type):
                if snapshot.is_active(getattr(row, "intent_code", ANY)):
                    about = describe_rule(row) if isinstance(row, rows.Rule) else name_row(row.table, row)
                    name = f"{shorten(about, _LONGEST)} ({row.table} {row.pk})"
                    self.items.setdefault((row.table, str(row.pk)), CoveredItem(kind, name))
        for intent, state in dict.fromkeys(_list_states(snapshot)):
            self.items.setdefault((STATES, intent, state), CoveredItem(STATES, f"{intent} in {state}"))
        for intent, start, end in dict.fromkeys(_list_moves(snapshot)):
            move = f"{intent} from {'any state' if start == ANY else start} to {end}"
            self.items.setdefault((MOVES, intent, start, end), CoveredItem(MOVES, move))

    def add_turn(
        self, scenario: str, deciding_rows: Iterable[tuple[str, str]], positions: Sequence[tuple[str, str]]
    ) -> None:
        """Note what a turn reached: the rows that decided something, and the states and moves of its positions.

        What the configuration does not have is left out.
        """
        reached: list[tuple[str, ...]] = [(table, str(pk)) for table, pk in deciding_rows]
        reached += [(STATES, intent, state) for intent, state in positions]
        reached += [
            (MOVES, intent, start, state)
            for (earlier_intent, before), (intent, state) in pairwise(positions)
            for start in (before, ANY)
            # The state in which another intent begins is no move of a rule or of the graph.
            if earlier_intent == intent and before != state
        ]
        for key in reached:
            item = self.items.get(key)
            if item:
                item.scenarios[scenario] = None

    @property
    def percent(self) -> float:
        """The percentage of items that were reached; 0 without items."""
        return _percentage(self.items.values())

    def list_kinds(self) -> Iterator[tuple[str, list[CoveredItem]]]:
        for kind in dict.fromkeys(item.kind for item in self.items.values()):
            yield kind, [item for item in self.items.values() if item.kind == kind]


def format_coverage(coverage: Coverage) -> Iterator[str]:
    """The report as lines: a total for each kind, then what no scenario reaches."""
    for kind, items in coverage.list_kinds():
        unreached = [item for item in items if not item.scenarios]
        yield f"{kind:<12}{len(items) - len(unreached):>5} of {len(items):<5}{_percentage(items):>6.1f} %"
        yield from (f"  not reached: {item.name}" for item in unreached)
    yield f"{'All':<12}{coverage.percent:>20.1f} %"


def serialize_coverage(coverage: Coverage) -> dict[str, object]:
    """The report as JSON."""
    return {
        "percent": round(coverage.percent, 1),
        "kinds": [
            {
                "kind": kind,
                "percent": round(_percentage(items), 1),
                "items": [{"name": item.name, "scenarios": list(item.scenarios)} for item in items],
            }
            for kind, items in coverage.list_kinds()
        ],
    }


def _percentage(items: Iterable[CoveredItem]) -> float:
    counted = list(items)
    return 100 * sum(bool(item.scenarios) for item in counted) / len(counted) if counted else 0.0


def _list_states(snapshot: Snapshot) -> Iterator[tuple[str, str]]:
    """(intent, state) of all that phrases, rules and the graph lead to, or answers and forms name; may repeat."""
    for phrase in snapshot.enabled_rows(rows.Classifier):
        if snapshot.is_active(phrase.intent_code) and code(phrase.state_code) != ANY:
            yield code(phrase.intent_code), code(phrase.state_code) or UNKNOWN
    scoped: list[rows.Response | rows.OutputSchema] = [
        *snapshot.enabled_rows(rows.Response), *snapshot.enabled_rows(rows.OutputSchema),
    ]  # fmt: skip
    for row in scoped:
        if snapshot.is_active(row.intent_code) and ANY not in (code(row.intent_code), code(row.state_code)):
            yield code(row.intent_code), code(row.state_code)
    for intent, _, end in _list_moves(snapshot):
        yield intent, end


def _list_moves(snapshot: Snapshot) -> Iterator[tuple[str, str, str]]:
    """(intent, from, to) of the moves that rules of one intent make, and that the state graph allows it; may repeat."""
    for rule in snapshot.enabled_rows(rows.Rule):
        if code(rule.action) == RuleAction.SET_STATE and snapshot.is_active(rule.intent_code):
            move = code(rule.intent_code), code(rule.state_code), code(rule.action_value)
            if move[0] != ANY and move[2] not in ("", ANY) and move[1] != move[2]:
                yield move
    for edge in snapshot.enabled_rows(rows.StateEdge):
        move = code(edge.intent_code), code(edge.from_state), code(edge.to_state)
        if move[0] != ANY and move[2] != ANY and move[1] != move[2]:
            yield move


def render_coverage(coverage: Coverage) -> str:
    """The page: a section for each kind, what no scenario reaches first."""
    sections = "".join(_render_kind(kind, items) for kind, items in coverage.list_kinds())
    return (
        f"{_HEAD}<h1>Coverage: {coverage.percent:.1f} %</h1>\n"
        "<p>What the scenarios of this run reach in the configuration.</p>\n"
        f"{sections}</body></html>\n"
    )


def _render_kind(kind: str, items: list[CoveredItem]) -> str:
    """The section of one kind, what no scenario reaches first; it is open if there is such a thing."""
    reached = sum(bool(item.scenarios) for item in items)
    lines = "".join(map(_render_item, sorted(items, key=lambda item: bool(item.scenarios))))
    is_open = "" if reached == len(items) else " open"
    return (
        f"<details{is_open}><summary>{escape(kind)}: {reached} of {len(items)}</summary>"
        f"<table><thead><tr><th scope='col'>Name</th><th scope='col'>Reached by</th></tr></thead>"
        f"<tbody>{lines}</tbody></table></details>\n"
    )


def _render_item(item: CoveredItem) -> str:
    scenarios = escape(", ".join(item.scenarios)) or "no scenario"
    style = "reached" if item.scenarios else "missed"
    return f"<tr class='{style}'><td>{escape(item.name)}</td><td>{scenarios}</td></tr>\n"
