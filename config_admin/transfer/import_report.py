"""An import, or a comparison, in words and as JSON."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from config_admin.releases.diff import RowDifferences
from config_admin.releases.tree import Content
from config_admin.transfer.apply_import import ImportResult
from config_admin.transfer.import_plan import ImportPlan, LocatedFinding
from config_admin.transfer.natural_keys import get_key
from config_admin.transfer.stranded import Stranded
from config_admin.validation.labels import column_label, describe_content, row_name, table_title
from config_admin.validation.secret_columns import mask_row, mask_value
from config_admin.validation.stored_columns import key_of
from convengine.json_value import Json

#: Rows of a table, and findings of a kind, that are printed; the JSON form has all of them.
SHOWN = 20
NO_DIFFERENCES = "No differences."
_SIGNS = {"added": "+", "changed": "~", "removed": "-"}


def serialize_differences(differences: RowDifferences) -> dict[str, Json]:
    """The changed rows by table: added, removed, and changed with before and after of each column. Without secrets."""
    return {
        table: {
            "added": [mask_row(table, row.after) for row in rows if row.before is None and row.after is not None],
            "removed": [mask_row(table, row.before) for row in rows if row.after is None and row.before is not None],
            "changed": [
                {
                    "row": row.pk,
                    "fields": {
                        name: [mask_value(table, name, value) for value in pair] for name, pair in row.fields.items()
                    },
                }
                for row in rows
                if row.how == "changed"
            ],
        }
        for table, rows in differences.items()
    }


def serialize_result(done: ImportResult) -> dict[str, Json]:
    """The plan of an import, and what became of it."""
    release = done.release.config_version if done.release else None
    return {**serialize_plan(done.plan), "applied": done.is_applied, "release": release}


def serialize_plan(plan: ImportPlan) -> dict[str, Json]:
    return {
        "configVersion": plan.config_version,
        "mode": plan.document.mode.value,
        "rows": plan.document.count,
        "refused": plan.is_refused,
        "diff": serialize_differences(plan.differences),
        "findings": _serialize_findings(plan.findings),
        "stranded": serialize_stranded(plan.stranded),
        "leftOut": _serialize_findings(plan.left_out),
        "conversions": [
            {"table": table, "row": pk, "where": plan.placed.origins.get((table, pk)), **change._asdict()}
            for (table, pk), changes in plan.placed.conversions.items()
            for change in changes
        ],
        "renumbered": [
            {"table": table, "id": old, "newId": new} for (table, old), new in plan.placed.renumbered.items()
        ],
        "notes": [{"where": note.where, "text": note.text} for note in plan.document.notes if not note.refused],
    }


def serialize_stranded(stranded: Sequence[Stranded]) -> list[dict[str, Json]]:
    """The open conversations that could not go on, by intent and state."""
    return [
        {
            "intent": each.intent,
            "state": each.state,
            "conversations": each.conversations,
            "reason": each.reason,
            "examples": list(each.examples),
        }
        for each in stranded
    ]


def _serialize_findings(findings: Sequence[LocatedFinding]) -> list[dict[str, Json]]:
    return [{"where": located.where, **located.finding.as_dict()} for located in findings]


class ReportSection(NamedTuple):
    """A part of the report: its title, how serious it is, and its lines."""

    title: str
    kind: str
    lines: Sequence[str]


def list_sections(plan: ImportPlan) -> list[ReportSection]:
    """All that an import says besides the changed rows, in words."""
    warnings = [located for located in plan.findings if not located.finding.is_error]
    converted = [
        f"{plan.placed.origins.get(key)}, {column_label(key[0], change.field)}: {change.before} → {change.after}"
        for key, changes in plan.placed.conversions.items()
        for change in changes
    ]
    renumbered = [
        f"{row_name(table, old)} of the file becomes {row_name(table, new)}"
        for (table, old), new in plan.placed.renumbered.items()
    ]
    notes = [f"{note.where}: {note.text}" for note in plan.document.notes if not note.refused]
    sections = [
        ReportSection("Errors", "danger", _describe_findings(plan.errors)),
        ReportSection("Warnings", "warning", _describe_findings(warnings)),
        ReportSection("Left out", "warning", _describe_findings(plan.left_out)),
        ReportSection("Open conversations that could not go on", "warning", list(map(str, plan.stranded))),
        ReportSection("Converted", "info", converted),
        ReportSection("New numbers", "info", renumbered),
        ReportSection("Notes", "info", notes),
    ]
    return [section for section in sections if section.lines]


def describe_plan(plan: ImportPlan) -> Iterator[str]:
    yield from describe_differences(plan.differences)
    for title, _, lines in list_sections(plan):
        yield f"{title} ({len(lines)})"
        yield from _shorten_list(lines)


def _describe_findings(findings: Sequence[LocatedFinding]) -> list[str]:
    return [f"{located} [{located.finding.code}]" for located in findings]


def describe_differences(differences: RowDifferences) -> Iterator[str]:
    """The changed rows, line by line; at most `SHOWN` of each table."""
    if not differences:
        yield NO_DIFFERENCES
    for table, rows in differences.items():
        counts = Counter(row.how for row in rows)
        yield f"{table_title(table)}: {', '.join(f'{counts[how]} {how}' for how in _SIGNS)}"
        lines: list[str] = []
        for row in sorted(rows, key=lambda row: list(_SIGNS).index(row.how)):
            labels = ", ".join(column_label(table, name) for name in row.fields)
            name = describe_row(table, row.after or row.before or {})
            lines.append(f"{_SIGNS[row.how]} {name}{f' (changed: {labels})' if labels else ''}")
        yield from _shorten_list(lines)


def describe_row(table: str, row: Content) -> str:
    """A row with its natural key, else with its number and name."""
    key = get_key(table)
    if key.is_unique and all(name in row for name in key.columns):
        return row_name(table, " ".join(str(row[name]) for name in key.columns))
    name = describe_content(table, row)
    return f"{row_name(table, row[key_of(table)])}{f' · {name}' if name else ''}"


def _shorten_list(lines: Sequence[str]) -> Iterator[str]:
    yield from (f"  {line}" for line in lines[:SHOWN])
    if len(lines) > SHOWN:
        yield f"  … and {len(lines) - SHOWN} more. Use --json to list all."
