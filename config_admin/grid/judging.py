"""Many edits of one table, judged together: what somebody else did meanwhile, what is wrong, and what they make."""

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from config_admin.admin.editing.fields import Unread
from config_admin.admin.saving.stale import Intruder, digest_of, last_changes
from config_admin.grid.cells import value_of
from config_admin.releases.blobs import canonical, hash_of
from config_admin.releases.change_set import released
from config_admin.releases.content import contents, control_plane, kept_columns
from config_admin.releases.tree import Content, same
from config_admin.snapshot.active import snapshots
from config_admin.transfer.values import invalid
from config_admin.validation.checks.response import fallbacks, last_fallback_message
from config_admin.validation.draft import Draft, overlaid
from config_admin.validation.findings import Finding, Severity
from config_admin.validation.installation import installed
from config_admin.validation.older_forms import Change, in_jinja
from config_admin.validation.restoring import compiled
from config_admin.validation.run import check_row
from config_admin.validation.world import World
from convengine.domain import rows
from convengine.domain.rows import Row
from convengine.domain.snapshot import Snapshot

#: Why somebody may not have such a row; blank when nothing forbids it.
Forbidden = Callable[[Row], str]


@dataclass(frozen=True)
class Edit:
    """What somebody did to a row: the digest of the content that they had before their eyes, and texts by column."""

    seen: str
    texts: Mapping[str, str]


@dataclass
class Verdict:
    """The edits as they were judged."""

    #: The configuration that they were judged in.
    content_hash: str
    #: Rows that are not as they were seen, with what they are now, null when they are gone, and who did that.
    met: dict[Any, tuple[Content | None, Intruder]] = field(default_factory=dict)
    #: Errors, and warnings that the stored rows do not have already.
    findings: list[Finding] = field(default_factory=list)
    #: The rows to be, without those that stay as they are.
    wanted: dict[Any, Content] = field(default_factory=dict)
    #: What was said in older template forms, by row.
    conversions: dict[Any, list[Change]] = field(default_factory=dict)

    def is_held(self, confirmed: Collection[str]) -> bool:
        """True when the edits may not be saved: not at all, or not before somebody has seen the warnings."""
        return bool(self.met) or any(one.is_error or key_of(one) not in confirmed for one in self.findings)


def key_of(finding: Finding) -> str:
    """What tells a finding from others, for whoever sends back which warnings were seen."""
    return hash_of(canonical([str(finding.row), finding.code, finding.field, finding.message]))[:12]


def judge(table: str, edits: Mapping[Any, Edit], forbidden: Forbidden) -> Verdict:
    """What the edits would do to the configuration in force. Changes nothing.

    Rows that were changed meanwhile are told first, and nothing else then: what becomes of them is to be chosen.
    """
    now = released()
    stored = contents(table, list(edits))
    verdict = Verdict(now.content_hash)
    met = [pk for pk, edit in edits.items() if pk not in stored or digest_of(stored[pk]) != edit.seen]
    if met:
        changed = last_changes(control_plane()[table], met)
        verdict.met = {pk: (stored.get(pk), changed.get(pk, Intruder("somebody", "", None))) for pk in met}
        return verdict
    _Judge(table, verdict, snapshots.current(), installed(), forbidden).judge(edits, stored)
    return verdict


class _Judge:
    """One table's edits on their way."""

    def __init__(self, table: str, verdict: Verdict, snapshot: Snapshot, world: World, forbidden: Forbidden) -> None:
        self.table, self.verdict, self.snapshot, self.world, self.forbidden = table, verdict, snapshot, world, forbidden
        #: What was typed and cannot be read, by row and column.
        self.unread: dict[Any, dict[str, Unread]] = {}

    def judge(self, edits: Mapping[Any, Edit], stored: Mapping[Any, Content]) -> None:
        wanted = {pk: self._edited(pk, edit, stored[pk]) for pk, edit in edits.items()}
        wanted = {pk: row for pk, row in wanted.items() if pk in self.unread or not same(row, stored[pk])}
        chunk = compiled(self.table, wanted)
        # What cannot be read is looked at by its row's own checks; to others the row says what it said before.
        after = overlaid(self.snapshot, {row.pk: row for row in chunk.rows})
        drafts = {row.pk: self._typed(row) for row in chunk.rows}
        found = self.verdict.findings
        for pk, draft in drafts.items():
            of_row = [*self._unreadable(draft, chunk.unreadable.get(pk, {})), *self._of_row(draft, after)]
            if not any(one.is_error for one in of_row):
                of_row += self._out_of_bounds(pk, wanted[pk])
            found += of_row
        found += self._fallback(drafts, after)
        self.verdict.wanted = {pk: self._in_jinja(pk, drafts[pk], row) for pk, row in wanted.items()}

    def _edited(self, pk: Any, edit: Edit, before: Content) -> Content:
        after = dict(before)
        for name, text in edit.texts.items():
            value = value_of(self.table, name, text)
            if isinstance(value, Unread):
                self.unread.setdefault(pk, {})[name] = value
            else:
                after[name] = value
        return after

    def _typed(self, row: Row) -> Row:
        """The row with what was typed, so that the checks say what is wrong with that."""
        typed: dict[str, Any] = {name: str(text) for name, text in self.unread.get(row.pk, {}).items()}
        return replace(row, **typed)

    def _of_row(self, draft: Row, after: Snapshot) -> list[Finding]:
        stored = self.snapshot.row(type(draft), draft.pk)
        if message := self.forbidden(draft) or (self.forbidden(stored) if stored else ""):
            return [Finding("FORBIDDEN", Severity.ERROR, self.table, draft.pk, None, message)]
        found = check_row(draft, after, self.world)
        if any(not one.is_error for one in found):
            known = check_row(stored, self.snapshot, self.world) if stored else []
            found = [one for one in found if one.is_error or one not in known]
        told = {one.field for one in found if one.is_error}
        for name, text in self.unread.get(draft.pk, {}).items():
            if name not in told:
                found.append(self._error("SHAPE_INVALID", draft.pk, name, " ".join(text.problem.messages)))
        return found

    def _unreadable(self, draft: Row, stored: Mapping[str, str]) -> Iterator[Finding]:
        for name, value in stored.items():
            if name not in self.unread.get(draft.pk, {}):
                message = f"It holds {value[:80]!r}, which it cannot hold. Type it anew."
                yield self._error("SHAPE_INVALID", draft.pk, name, message)

    def _out_of_bounds(self, pk: Any, content: Content) -> Iterator[Finding]:
        for name, column in kept_columns(self.table).items():
            if not column.is_relation and (message := invalid(column, content[name])):
                yield self._error("OUT_OF_RANGE", pk, name, message)

    def _fallback(self, drafts: Mapping[Any, Row], after: Snapshot) -> Iterator[Finding]:
        """The last answers for UNKNOWN / UNKNOWN do not leave together either."""
        if self.table == rows.Response.table and not fallbacks(after):
            for row in fallbacks(self.snapshot):
                if row.pk in drafts:
                    yield last_fallback_message(Draft(row, self.snapshot, self.world))

    def _in_jinja(self, pk: Any, draft: Row, content: Content) -> Content:
        values, changes = in_jinja(self.table, draft)
        if changes:
            self.verdict.conversions[pk] = changes
        return {**content, **values}

    def _error(self, code: str, pk: Any, name: str, message: str) -> Finding:
        return Finding(code, Severity.ERROR, self.table, pk, name, message)
