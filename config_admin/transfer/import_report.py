"""An import, or a comparison, in words and as JSON."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from config_admin.editing.links import column_label, describe_content, row_name, table_title
from config_admin.releases.content import key_of
from config_admin.releases.diff import ChangedRow, table_diff
from config_admin.releases.tree import Content, RowDifference
from config_admin.transfer.import_plan import LocatedFinding, Plan
from config_admin.transfer.natural_keys import get_key
from config_admin.transfer.stranded import Stranded
from config_admin.validation.secret_columns import mask_row, mask_value

Json = Any
Differences = Mapping[str, Sequence[RowDifference]]
#: Rows of a table, and findings of a kind, that are printed; the JSON form has all of them.
SHOWN = 20


def serialize_differences(differences: Differences) -> dict[str, Json]:
    """The changed rows by table: added, removed, and changed with before and after of each column. Without secrets."""
    diffs = {table: table_diff(list(rows)) for table, rows in differences.items()}
    return {
        table: {
            "added": [mask_row(table, row) for row in diff.added],
            "removed": [mask_row(table, row) for row in diff.removed],
            "changed": [
                {
                    "row": row.pk,
                    "fields": {
                        name: [mask_value(table, name, value) for value in pair] for name, pair in row.fields.items()
                    },
                }
                for row in diff.changed
            ],
        }
        for table, diff in diffs.items()
    }


def serialize_plan(plan: Plan) -> dict[str, Json]:
    """The whole plan of an import."""
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


def describe_plan(plan: Plan) -> Iterator[str]:
    """An import, line by line."""
    yield from describe_differences(plan.differences)
    for title, lines in (
        ("Errors", _describe_findings(plan.errors)),
        ("Warnings", _describe_findings([located for located in plan.findings if not located.finding.is_error])),
        ("Left out", _describe_findings(plan.left_out)),
        ("Open conversations that could not go on", list(map(str, plan.stranded))),
        ("Converted", [f"{plan.placed.origins.get((table, pk))}, {column_label(table, change.field)}: "
                       f"{change.before} → {change.after}"
                       for (table, pk), changes in plan.placed.conversions.items() for change in changes]),
        ("New numbers", [f"{row_name(table, old)} of the file becomes {row_name(table, new)}"
                         for (table, old), new in plan.placed.renumbered.items()]),
        ("Notes", [f"{note.where}: {note.text}" for note in plan.document.notes if not note.refused]),
    ):  # fmt: skip
        if lines:
            yield f"{title} ({len(lines)})"
            yield from _shorten_list(lines)


def _describe_findings(findings: Sequence[LocatedFinding]) -> list[str]:
    return [f"{located} [{located.finding.code}]" for located in findings]


def describe_differences(differences: Differences) -> Iterator[str]:
    """The changed rows, line by line."""
    if not differences:
        yield "No differences."
    for table, rows in differences.items():
        diff = table_diff(list(rows))
        counts = f"{len(diff.added)} added, {len(diff.changed)} changed, {len(diff.removed)} removed"
        yield f"{table_title(table)}: {counts}"
        lines = [f"+ {describe_row(table, row)}" for row in diff.added]
        lines += [f"~ {describe_row(table, row.after)} (changed: {_list_labels(table, row)})" for row in diff.changed]
        lines += [f"- {describe_row(table, row)}" for row in diff.removed]
        yield from _shorten_list(lines)


def describe_row(table: str, row: Content) -> str:
    """A row with its natural key, else with its number and name."""
    key = get_key(table)
    if key.is_unique and all(name in row for name in key.columns):
        return row_name(table, " ".join(str(row[name]) for name in key.columns))
    name = describe_content(table, row)
    return f"{row_name(table, row[key_of(table)])}{f' · {name}' if name else ''}"


def _list_labels(table: str, row: ChangedRow) -> str:
    return ", ".join(column_label(table, name) for name in row.fields)


def _shorten_list(lines: Sequence[str]) -> Iterator[str]:
    yield from (f"  {line}" for line in lines[:SHOWN])
    if len(lines) > SHOWN:
        yield f"  … and {len(lines) - SHOWN} more. Use --json to list all."
