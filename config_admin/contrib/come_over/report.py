"""A plan for people who must agree: its entries by outcome and part, and one HTML file of it."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from django.template.loader import render_to_string

from config_admin.contrib.come_over.outcomes import Outcome, PlanEntry
from config_admin.contrib.come_over.plan import Plan

#: A page shows the lines of parts with these outcomes, and the names of a line, unless they are more than this.
_OPEN, _MOST_LINES, _MOST_CHARACTERS = (Outcome.PERSON, Outcome.PARTLY), 20, 160


class PlanLine(NamedTuple):
    """The entries that become the same for the same reason."""

    becomes: str
    reason: str
    names: Sequence[str]
    is_long: bool


class PartGroup(NamedTuple):
    part: str
    lines: Sequence[PlanLine]
    entry_count: int
    is_open: bool


def group_entries(entries: Sequence[PlanEntry], outcome: Outcome) -> Iterator[PartGroup]:
    """The entries of an outcome, by part."""
    parts: dict[str, dict[tuple[str, str], list[str]]] = {}
    for entry in entries:
        if entry.outcome is outcome:
            parts.setdefault(entry.part, {}).setdefault((entry.becomes, entry.reason), []).append(entry.name)
    for part, known in parts.items():
        lines = [PlanLine(*texts, names, sum(map(len, names)) > _MOST_CHARACTERS) for texts, names in known.items()]
        yield PartGroup(part, lines, sum(map(len, known.values())), outcome in _OPEN and len(lines) <= _MOST_LINES)


def describe_plan(name: str, plan: Plan) -> dict[str, Any]:
    """The context of `come_over_summary.html` and `come_over_plan.html`. What needs a person comes first."""
    groups = {each: [*group_entries(plan.entries, each)] for each in dict.fromkeys([*_OPEN, *Outcome])}
    counts = {each.name: sum(part.entry_count for part in parts) for each, parts in groups.items()}
    shown = [(each, counts[each.name], parts) for each, parts in groups.items() if parts]
    return {"bot": name, "counts": counts, "groups": shown}


def write_report(name: str, plan: Plan) -> str:
    """The plan as one HTML file that needs nothing else."""
    return render_to_string("config_admin/come_over_report.html", describe_plan(name, plan))
