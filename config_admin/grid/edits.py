"""Check many edits of one table together, and save them as one release or not at all."""

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from django.db import DatabaseError, models
from django.utils import timezone

from config_admin.editing.fields import Unread
from config_admin.editing.optimistic_lock import digest_of
from config_admin.grid.cells import value_of
from config_admin.releases.active import snapshots
from config_admin.releases.blobs import canonical, hash_of
from config_admin.releases.change_set import change_set, get_content_hash, lock_content
from config_admin.releases.changes import Author
from config_admin.releases.content import as_json, contents
from config_admin.releases.models import CeRelease, Origin
from config_admin.releases.restore_checks import compile_rows, overlay_rows
from config_admin.releases.restore_rows import RowsBelongTogether, restore_rows
from config_admin.releases.row_history import find_last_version, find_last_versions
from config_admin.releases.tree import Content, has_same_text
from config_admin.transfer.import_plan import get_highest_id
from config_admin.transfer.values import find_limit_problem, get_default
from config_admin.validation.common import find_fallbacks, report_last_fallback
from config_admin.validation.draft import Draft
from config_admin.validation.findings import Finding, Severity
from config_admin.validation.installation import describe_installation
from config_admin.validation.save_checks import check_delete, check_row
from config_admin.validation.stored_columns import control_plane, kept_columns, key_of
from config_admin.validation.world import World
from convengine.engine.turn import rows
from convengine.engine.turn.rows import Row
from convengine.engine.turn.snapshot import Snapshot
from convengine.server.interfaces.older_templates import Change, convert_row
from convengine.server.interfaces.release_history import RowVersion

#: Why a user may not have such a row, or blank.
Forbidden = Callable[[Row], str]


@dataclass(frozen=True)
class Edit:
    """An edit of a row: the digest of the seen content, and texts by column."""

    seen: str = ""
    texts: Mapping[str, str] = field(default_factory=dict)
    #: True for a row that is not stored yet. Its key among the edits is only a name.
    is_new: bool = False
    is_deleted: bool = False


@dataclass
class CheckedEdits:
    """The checked edits."""

    #: The configuration of the check.
    content_hash: str
    #: Rows that changed since they were seen, with their present content (null when deleted) and the change.
    met: dict[Any, tuple[Content | None, RowVersion]] = field(default_factory=dict)
    #: Errors, and warnings that the stored rows do not have already.
    findings: list[Finding] = field(default_factory=list)
    #: The resulting rows, without unchanged ones. None for a deleted one.
    wanted: dict[Any, Content | None] = field(default_factory=dict)
    #: The names of new rows among the edits, by key.
    names: dict[Any, Any] = field(default_factory=dict)
    #: Converted older template forms, by row.
    conversions: dict[Any, list[Change]] = field(default_factory=dict)

    def is_held(self, confirmed: Collection[str]) -> bool:
        """True when the edits may not be saved: because of errors, or because warnings need a confirmation."""
        return bool(self.met) or any(
            finding.is_error or get_finding_key(finding) not in confirmed for finding in self.findings
        )


def get_finding_key(finding: Finding) -> str:
    """The key of a finding, for confirming warnings."""
    return hash_of(canonical([str(finding.row), finding.code, finding.field, finding.message]))[:12]


def check_edits(table: str, edits: Mapping[Any, Edit], find_refusal: Forbidden) -> CheckedEdits:
    """The effect of the edits on the configuration in force. Changes nothing.

    If rows were changed meanwhile, only these are reported: the user must choose first.
    """
    verdict = CheckedEdits(get_content_hash())
    edits = _assign_keys(table, edits, verdict)
    stored = contents(table, list(edits))
    met = [
        pk for pk, edit in edits.items() if not edit.is_new and (pk not in stored or digest_of(stored[pk]) != edit.seen)
    ]
    if met:
        last = find_last_versions((table, pk) for pk in met)
        verdict.met = {pk: (stored.get(pk), last.get((table, str(pk))) or find_last_version(table, pk)) for pk in met}
        return verdict
    if not verdict.findings:
        _EditCheck(table, verdict, snapshots.current(), describe_installation(), find_refusal).judge(edits, stored)
    return verdict


def _assign_keys(table: str, edits: Mapping[Any, Edit], verdict: CheckedEdits) -> dict[Any, Edit]:
    """The edits by the keys that the rows will have. A name that is missing or taken is a finding."""
    key = kept_columns(table)[key_of(table)]
    model: Any = control_plane()[table]
    by_key = {pk: edit for pk, edit in edits.items() if not edit.is_new}
    is_numbered = isinstance(key, models.AutoField)
    last = get_highest_id(table) if is_numbered else 0
    if is_numbered:
        last = max(last, model.objects.aggregate(last=models.Max(key.attname))["last"] or 0)
    for name, edit in edits.items():
        if not edit.is_new:
            continue
        last += 1
        pk = last if is_numbered else value_of(table, key.attname, edit.texts.get(key.attname, ""))
        if problem := "" if is_numbered else _find_key_problem(model, pk, by_key):
            verdict.findings.append(Finding("DUPLICATE", Severity.ERROR, table, name, key.attname, problem))
        else:
            by_key[pk], verdict.names[pk] = edit, name
    return by_key


def _find_key_problem(model: Any, pk: Any, taken: Collection[Any]) -> str:
    """Why a typed key cannot be that of a new row; else blank."""
    if isinstance(pk, Unread):
        return " ".join(pk.problem.messages)
    if not pk:
        return "Enter a name. It identifies the row and cannot be changed later."
    if pk in taken or model.objects.filter(pk=pk).exists():
        return f"{pk} exists already. Choose another name."
    return ""


class _EditCheck:
    """The edits of one table during the check."""

    def __init__(
        self, table: str, verdict: CheckedEdits, snapshot: Snapshot, world: World, find_refusal: Forbidden
    ) -> None:
        self.table, self.verdict, self.snapshot, self.world, self.find_refusal = (
            table,
            verdict,
            snapshot,
            world,
            find_refusal,
        )
        #: Unreadable typed texts, by row and column.
        self.unread: dict[Any, dict[str, Unread]] = {}

    def judge(self, edits: Mapping[Any, Edit], stored: Mapping[Any, Content]) -> None:
        """Check all edits together, and note findings, conversions and the resulting rows in the verdict."""
        deleted = [pk for pk, edit in edits.items() if edit.is_deleted]
        wanted = {
            pk: self._apply_edit(pk, edit, self._make_content(pk) if edit.is_new else stored[pk])
            for pk, edit in edits.items()
            if not edit.is_deleted
        }
        wanted = {pk: row for pk, row in wanted.items() if pk in self.unread or not has_same_text(row, stored.get(pk))}
        chunk = compile_rows(self.table, wanted)
        # Unreadable values are checked by their row's own checks; for other checks the row keeps its earlier values.
        changed: dict[Any, Content | None] = {**wanted, **dict.fromkeys(deleted)}
        after = overlay_rows(self.snapshot, {self.table: changed}, {self.table: chunk})
        drafts = {row.pk: self._restore_typed_texts(row) for row in chunk.rows}
        findings = self.verdict.findings
        for pk, draft in drafts.items():
            of_row = [*self._unreadable(draft, chunk.unreadable.get(pk, {})), *self._of_row(draft, after)]
            if not any(finding.is_error for finding in of_row):
                of_row += self._out_of_bounds(pk, wanted[pk])
            findings += of_row
        findings += [finding for pk in deleted for finding in self._check_deletion(pk, after)]
        findings += self._fallback({*drafts, *deleted} - {each.row for each in findings}, after)
        converted = {pk: self._in_jinja(pk, drafts[pk], row) for pk, row in wanted.items()}
        self.verdict.wanted = {**changed, **converted}

    def _make_content(self, pk: Any) -> Content:
        """A new row with the defaults of its columns."""
        content = {name: get_default(column) for name, column in kept_columns(self.table).items()}
        return {**content, "created_at": as_json(timezone.now()), key_of(self.table): pk}

    def _check_deletion(self, pk: Any, after: Snapshot) -> list[Finding]:
        row = self.snapshot.row(rows.ROW_TYPE_OF[self.table], pk)
        if row is None:
            return []
        if message := self.find_refusal(row):
            return [Finding("FORBIDDEN", Severity.ERROR, self.table, pk, None, message)]
        return check_delete(row, after)

    def _apply_edit(self, pk: Any, edit: Edit, before: Content) -> Content:
        after = dict(before)
        for name, text in edit.texts.items():
            value = value_of(self.table, name, text)
            if isinstance(value, Unread):
                self.unread.setdefault(pk, {})[name] = value
            else:
                after[name] = value
        return after

    def _restore_typed_texts(self, row: Row) -> Row:
        """The row with the typed texts, so that the checks can report them."""
        typed: dict[str, Any] = {name: str(text) for name, text in self.unread.get(row.pk, {}).items()}
        return replace(row, **typed)

    def _of_row(self, draft: Row, after: Snapshot) -> list[Finding]:
        stored = self.snapshot.row(type(draft), draft.pk)
        if message := self.find_refusal(draft) or (self.find_refusal(stored) if stored else ""):
            return [Finding("FORBIDDEN", Severity.ERROR, self.table, draft.pk, None, message)]
        findings = check_row(draft, after, self.world)
        if any(not finding.is_error for finding in findings):
            known = check_row(stored, self.snapshot, self.world) if stored else []
            findings = [finding for finding in findings if finding.is_error or finding not in known]
        reported = {finding.field for finding in findings if finding.is_error}
        for name, text in self.unread.get(draft.pk, {}).items():
            if name not in reported:
                findings.append(self._error("SHAPE_INVALID", draft.pk, name, " ".join(text.problem.messages)))
        return findings

    def _unreadable(self, draft: Row, stored: Mapping[str, str]) -> Iterator[Finding]:
        for name, value in stored.items():
            if name not in self.unread.get(draft.pk, {}):
                message = f"The stored value {value[:80]!r} is not valid. Enter it again."
                yield self._error("SHAPE_INVALID", draft.pk, name, message)

    def _out_of_bounds(self, pk: Any, content: Content) -> Iterator[Finding]:
        for name, column in kept_columns(self.table).items():
            if not column.is_relation and (message := find_limit_problem(column, content[name])):
                yield self._error("OUT_OF_RANGE", pk, name, message)

    def _fallback(self, changed: Collection[Any], after: Snapshot) -> Iterator[Finding]:
        """The last answers for UNKNOWN / UNKNOWN may not be removed together either."""
        if self.table == rows.Response.table and not find_fallbacks(after):
            for row in find_fallbacks(self.snapshot):
                if row.pk in changed:
                    yield report_last_fallback(Draft(row, self.snapshot, self.world))

    def _in_jinja(self, pk: Any, draft: Row, content: Content) -> Content:
        values, changes = convert_row(self.table, vars(draft))
        if changes:
            self.verdict.conversions[pk] = changes
        return {**content, **values}

    def _error(self, code: str, pk: Any, name: str, message: str) -> Finding:
        return Finding(code, Severity.ERROR, self.table, pk, name, message)


class SavingFailed(ValueError):
    """Nothing was saved: the database refused a row that passed all checks."""


@dataclass(frozen=True)
class SaveResult:
    """Checked edits, saved unless something prevented it."""

    verdict: CheckedEdits
    is_held: bool
    #: None when they were not saved, and when nothing changed.
    release: CeRelease | None = None


def save_edits(
    table: str,
    edits: Mapping[Any, Edit],
    find_refusal: Forbidden,
    *,
    author: Author,
    reason: str,
    confirmed: Collection[str] = (),
) -> SaveResult:
    """Save the edits of a table as one release. `confirmed`: keys of the confirmed warnings.

    Raises SavingFailed; then nothing is changed.
    """
    verdict = check_edits(table, edits, find_refusal)
    if verdict.is_held(confirmed) or not verdict.wanted:
        return SaveResult(verdict, verdict.is_held(confirmed))
    try:
        with change_set(Origin.ADMIN, author, reason) as change:
            # From here on nobody else can make a release. If somebody made one since the check, check again.
            if lock_content() != verdict.content_hash:
                verdict = check_edits(table, edits, find_refusal)
                if verdict.is_held(confirmed):
                    return SaveResult(verdict, True)
            restore_rows({table: verdict.wanted}, checked=False)
    except (DatabaseError, RowsBelongTogether) as error:
        raise SavingFailed(f"Nothing was saved. The database rejected the rows: {error}") from error
    return SaveResult(verdict, False, change.release)
