"""Plan an import: the rows that it would change (`row_matching` finds them), and the findings of the save checks."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import starmap
from operator import itemgetter
from typing import Any

from django.apps import apps
from django.db import models
from django.db.models.functions import Cast

from config_admin.releases import tree
from config_admin.releases.change_set import get_content_hash, get_released_head
from config_admin.releases.diff import compare_wanted
from config_admin.releases.queries import manifest_of
from config_admin.releases.restore_rows import check_restored_rows
from config_admin.releases.tree import RowDifference
from config_admin.releases.working_copy import find_working_copy
from config_admin.transfer.ancestry import MergeBase, find_base, read_contents
from config_admin.transfer.base_release import apply_rows, find_lost_changes, find_taken_back, merge_rows
from config_admin.transfer.document import Document, ImportMode
from config_admin.transfer.natural_keys import Contents
from config_admin.transfer.row_matching import MatchedRows, fresh_ids, match_rows
from config_admin.transfer.stranded import Stranded, find_stranded_conversations
from config_admin.transfer.values import find_limit_problem
from config_admin.validation.draft import Finding, Severity
from config_admin.validation.labels import column_label, row_name
from config_admin.validation.stored_columns import control_plane, kept_columns, key_of
from convengine.engine.turn import rows

#: Reports the progress: the stage, and the number of rows done, of how many.
Progress = Callable[[str, int, int], None]
_NEWS = 100


def ignore_progress(stage: str, done: int, of: int) -> None:
    """No progress reports."""


@dataclass(frozen=True)
class LocatedFinding:
    """A finding, with the position of its row in the file."""

    where: str
    finding: Finding

    def __str__(self) -> str:
        field = self.finding.field
        column = f", {column_label(self.finding.table, field)}" if field else ""
        return f"{self.where}{column}: {self.finding.message}"


@dataclass
class ImportPlan:
    document: Document
    #: The release of the check.
    config_version: int
    content_hash: str
    existing: Contents
    placed: MatchedRows
    findings: list[LocatedFinding] = field(default_factory=list)
    #: Errors of the rows that are left out with `rest`.
    left_out: list[LocatedFinding] = field(default_factory=list)
    #: What the file is based on, if the configuration has changed since.
    base: MergeBase | None = None
    #: True when the file names a base that is not known here, and nobody chose to overwrite what is here.
    is_foreign: bool = False
    #: The content of the file, if it is not that of the configuration after the import.
    merged: Contents | None = None
    #: Open conversations that could not go on.
    stranded: list[Stranded] = field(default_factory=list)

    @property
    def errors(self) -> list[LocatedFinding]:
        """What prevents the import: errors of rows, and refused parts of the file."""
        return [located for located in self.findings if located.finding.is_error]

    @property
    def is_refused(self) -> bool:
        return bool(self.errors)

    @property
    def is_seen(self) -> bool:
        """False when the user agreed to the changes of another configuration, so that nothing is written."""
        return self.document.seen in (None, self.content_hash)

    @property
    def brings_all(self) -> bool:
        """True when the import takes over a whole configuration as it was exported."""
        return self.document.is_whole_export and self.document.mode is ImportMode.REPLACE and not self.left_out

    @property
    def theirs(self) -> Contents:
        """The content of the file, with the numbers of this installation."""
        return self.merged or apply_rows(self.existing, self.placed.wanted)

    @property
    def differences(self) -> dict[str, list[RowDifference]]:
        """The changed rows, by table, in key order."""
        return compare_wanted(self.placed.wanted, self.existing)


def load_contents(config_version: int) -> dict[str, dict[Any, tree.Content]]:
    """All rows of a release by table and key; 0 is the empty configuration. Raises NoSuchRelease."""
    return read_contents(manifest_of(config_version))


def load_current_contents() -> dict[str, dict[Any, tree.Content]]:
    """All rows of the configuration in force, or of the open draft."""
    copy = find_working_copy()
    return read_contents(copy.manifest, copy.blobs) if copy else load_contents(get_released_head().config_version)


def place_rows(document: Document) -> MatchedRows:
    """Where a document would put its rows in the configuration in force, without any check of them."""
    existing = load_current_contents()
    return match_rows(document, existing, fresh_ids(document, existing, get_highest_id))


def plan_import(document: Document, *, rest: bool = False, progress: Progress = ignore_progress) -> ImportPlan:
    """The effect of importing a document on the configuration in force. Changes nothing.

    `rest`: rows with errors are left out, and the others are checked without them.
    """
    now, content_hash, existing = get_released_head(), get_content_hash(), load_current_contents()
    progress("read", document.count, document.count)
    is_based = document.base is not None and document.base.content != content_hash
    base, merged = find_base(document) if is_based else None, None
    problems: list[Finding] = []
    new_id = fresh_ids(document, existing, get_highest_id)
    if base and document.merges:
        placed, problems, merged = merge_rows(document, existing, base, new_id)
    else:
        placed = match_rows(document, existing, new_id, base)
    is_foreign = is_based and base is None and not document.overwrites
    plan = ImportPlan(
        document, now.config_version, content_hash, existing, placed, base=base, is_foreign=is_foreign, merged=merged
    )
    unread = [
        LocatedFinding(note.where, Finding("STATEMENT_REFUSED", Severity.ERROR, "", None, None, note.text))
        for note in document.notes
        if note.refused
    ]
    unread += starmap(LocatedFinding, placed.refused)
    unread += [LocatedFinding(_locate_finding(plan, problem), problem) for problem in problems]
    (plan.left_out if rest else plan.findings).extend(unread)
    _check_plan(plan, progress)
    while rest and plan.errors and _drop_faulty_rows(plan):
        _check_plan(plan, progress)
    plan.stranded = find_stranded_conversations(plan.placed.wanted)
    return plan


def get_highest_id(table: str) -> int:
    """The highest id that any row of a table ever had, because a new row must not get another row's history.

    The new rows of drafts have theirs already.
    """
    model: Any = control_plane()[table]
    highest = model.history.model.objects.aggregate(highest=models.Max(key_of(table)))["highest"]
    if not isinstance(model._meta.pk, models.AutoField):
        return highest if isinstance(highest, int) else 0
    drafts: Any = apps.get_model("config_admin", "CeDraftEdit")
    number = Cast("row_pk", models.BigIntegerField())
    in_drafts = drafts.objects.filter(table_name=table, before__isnull=True).aggregate(highest=models.Max(number))[
        "highest"
    ]
    return max(highest or 0, in_drafts or 0)


def _check_plan(plan: ImportPlan, progress: Progress) -> None:
    """Run the save checks on the changed rows, in the resulting configuration."""
    wanted = plan.placed.wanted
    count = sum(row is not None for table in wanted.values() for row in table.values())
    done = 0

    def count_judged() -> None:
        nonlocal done
        done += 1
        if done % _NEWS == 0 or done == count:
            progress("judged", done, count)

    errors = [*_find_removed_answers(plan)]
    errors += check_restored_rows(wanted, count_judged)
    bad = {(each.table, each.row) for each in errors if each.is_error}
    errors += _find_limit_problems(wanted, bad)
    if plan.is_foreign:
        errors += find_taken_back(wanted, plan.existing)
    elif plan.base and not (plan.document.merges or plan.document.overwrites):
        errors += find_lost_changes(wanted, plan.existing, plan.base)
    errors += plan.document.judge(plan) if plan.document.judge else ()
    plan.findings += [LocatedFinding(_locate_finding(plan, each), each) for each in errors]


def _locate_finding(plan: ImportPlan, finding: Finding) -> str:
    """The place of the row of a finding in the file. A row that is not in the file has its name instead."""
    if not finding.table:
        return "The file"
    return (
        plan.placed.origins.get((finding.table, finding.row))
        or f"{row_name(finding.table, finding.row)}, not in the file"
    )


def _find_limit_problems(wanted: Mapping[str, Mapping[Any, Any]], bad: set[tuple[str, Any]]) -> list[Finding]:
    """What the columns refuse, of rows that passed the checks."""
    return [
        Finding("OUT_OF_RANGE", Severity.ERROR, table, pk, name, message)
        for table, contents in wanted.items()
        for pk, row in contents.items()
        if row is not None and (table, pk) not in bad
        for name, column in kept_columns(table).items()
        if not column.is_relation and (message := find_limit_problem(column, row[name]))
    ]


def _find_removed_answers(plan: ImportPlan) -> list[Finding]:
    """A warning for each state of an intent that goes on whose last answer the import removes or switches off."""
    table, get_scope = rows.Response.table, itemgetter("intent_code", "state_code")
    answers, wanted = plan.existing[table], plan.placed.wanted.get(table, {})
    remaining = {get_scope(row) for row in {**answers, **wanted}.values() if row and row["enabled"]}
    intents = plan.placed.wanted.get(rows.Intent.table, {})
    removed = {
        get_scope(answers[pk]): pk
        for pk in wanted
        if pk in answers and answers[pk]["enabled"] and intents.get(answers[pk]["intent_code"], True)
    }
    return [
        Finding(
            "LAST_ANSWER_REMOVED",
            Severity.WARNING,
            table,
            pk,
            None,
            f"After the import, no answer is left for intent {intent}, state {state}.",
        )
        for (intent, state), pk in removed.items()
        if (intent, state) not in remaining
    ]


def _drop_faulty_rows(plan: ImportPlan) -> bool:
    """Leave out the rows with errors. Returns False if there were none."""
    wanted, errors = plan.placed.wanted, plan.errors
    out = {(located.finding.table, located.finding.row) for located in errors}
    if not any(pk in wanted.get(table, {}) for table, pk in out):
        return False
    for table, pk in out:
        wanted.get(table, {}).pop(pk, None)
    plan.placed.wanted = {table: contents for table, contents in wanted.items() if contents}
    plan.left_out += errors
    plan.findings.clear()
    return True
